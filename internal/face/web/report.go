package web

import (
	"embed"
	"fmt"
	"html/template"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

//go:embed templates
var templates embed.FS

//go:embed assets
var assets embed.FS

// Report writes a plan as one HTML file. It needs no network and is readable without scripts, which make its charts
// interactive.
func Report(w io.Writer, p *document.Plan) error {
	v, err := newView(p)
	if err != nil {
		return err
	}
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return fmt.Errorf("reading the styles of a report: %w", err)
	}
	script, err := assets.ReadFile("assets/report.js")
	if err != nil {
		return fmt.Errorf("reading the script of a report: %w", err)
	}
	v.Style, v.Script = template.CSS(style), template.JS(script) // ours
	t, err := template.New("report.html").Funcs(functions()).ParseFS(templates, "templates/*.html")
	if err != nil {
		return fmt.Errorf("reading the templates of a report: %w", err)
	}
	return t.Execute(w, v)
}
