// Package web shows a plan as pages: a self-contained HTML report, its short form in Markdown, and the interactive page of
// a server.
//
// In: a [plan.Response]. Out: bytes for a writer, and the handler of the page and its files. It computes no figure and
// uses neither files nor sockets. A chart is described once (chart.go) and shown three times: as SVG (svg.go), as a table
// (tables.go), and by the script of the page, from the same description as JSON. Start at [Report].
//
// The scripts and styles in assets are made from src by "make web".
package web
