package web

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

//go:embed templates/report.md
var markdown embed.FS

// Markdown writes a plan as a short text: answer, contenders, changes, workload and data.
func Markdown(w io.Writer, p *document.Plan) error {
	v, err := newView(p)
	if err != nil {
		return err
	}
	words := functions()
	words["text"], words["code"] = text, code
	t, err := template.New("report.md").Funcs(words).ParseFS(markdown, "templates/report.md")
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
