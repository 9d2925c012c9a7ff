package web

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	plain "text/template"

	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

//go:embed templates
var templates embed.FS

// Report writes a plan as one HTML file. It needs no network and is readable without scripts, which make its charts
// interactive.
func Report(w io.Writer, p *plan.Response) error {
	v, err := newView(p)
	if err != nil {
		return err
	}
	style, err := assets.ReadFile("assets/style.css")
	script, unread := assets.ReadFile("assets/report.js")
	t, broken := pages()
	if err := errors.Join(err, unread, broken); err != nil {
		return fmt.Errorf("reading the parts of a report: %w", err)
	}
	v.Style, v.Script = template.CSS(style), template.JS(script) // ours
	return t.Execute(w, v)
}

// pages are the templates of a report.
//
//nolint:gochecknoglobals // read once per process
var pages = sync.OnceValues(func() (*template.Template, error) {
	return template.New("report.html").Funcs(functions()).ParseFS(templates, "templates/*.html")
})

// Markdown writes a plan as a short text: answer, contenders, changes, workload and data.
func Markdown(w io.Writer, p *plan.Response) error {
	v, err := newView(p)
	if err != nil {
		return err
	}
	words := functions()
	words["text"], words["code"] = text, code
	t, err := plain.New("report.md").Funcs(words).ParseFS(templates, "templates/report.md")
	if err != nil {
		return fmt.Errorf("reading the template of a report: %w", err)
	}
	return t.Execute(w, v)
}

// text escapes text of the plan for Markdown.
func text(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "|", `\|`).Replace(s)
}

// code writes a command as a code block.
func code(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "sh\n" + s + "\n" + fence
}
