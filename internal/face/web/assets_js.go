package web

import "embed"

// What reports are made of: the page around the playground has the other files.
//
//go:embed assets/report.js assets/style.css
var assets embed.FS
