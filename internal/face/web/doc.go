// Package web shows a plan as pages: a report in one file that needs no network, its short form in Markdown, and the page
// of a running server, where the plan changes as one drags.
//
// In: a [document.Plan]. Out: bytes for a writer, and the handler of the page and its files. It computes no figure and
// knows neither files nor sockets. A chart is described once (chart.go) and shown three times: as SVG (svg.go), as a table
// (tables.go), and by the script of the page, from the same description as JSON. Start at [Report].
//
// The scripts and styles in assets are made from src by "make web".
package web
