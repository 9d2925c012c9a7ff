package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

// Page is a terminal of some columns: sentences are wrapped, and tables wrap or drop columns. Other writers get lines as long as
// they are, for files and for programs.
type Page struct {
	To      io.Writer
	Columns int

	line []byte // not yet ended
}

// Write writes text; lines that are too long are broken between words.
func (p *Page) Write(text []byte) (int, error) {
	p.line = append(p.line, text...)
	for {
		i := bytes.IndexByte(p.line, '\n')
		if i < 0 {
			return len(text), nil
		}
		line := string(p.line[:i])
		p.line = p.line[i+1:]
		if _, err := io.WriteString(p.To, strings.Join(p.broken(line), "\n")+"\n"); err != nil {
			return 0, err
		}
	}
}

// Close writes what has no end.
func (p *Page) Close() error {
	_, err := p.To.Write(p.line)
	p.line = nil
	return err
}

// broken are the lines of a line. Commands stay whole, so that they can be copied, and so do pictures.
func (p *Page) broken(line string) []string {
	text := strings.TrimLeft(line, " ")
	if utf8.RuneCountInString(line) <= p.Columns || strings.ContainsAny(line, "\x1b─│┤┼╭") {
		return []string{line}
	}
	for _, begin := range []string{"plimsoll ", "bash ", "+-", "| ", "**", "--"} {
		if strings.HasPrefix(text, begin) {
			return []string{line}
		}
	}
	indent := line[:len(line)-len(text)]
	hang := "  "
	if indent == "" {
		hang = ""
	}
	out := table.Wrap(text, p.Columns-len(indent)-len(hang))
	for i := range out {
		if i > 0 {
			out[i] = hang + out[i]
		}
		out[i] = indent + out[i]
	}
	return out
}

// columns are those of a page, 0 for another writer.
func columns(w io.Writer) int {
	if p, ok := w.(*Page); ok {
		return p.Columns
	}
	return 0
}

// put prints a table behind an indent, as wide as the page is.
func put(w io.Writer, t *table.Table, indent string) {
	lines, hidden := t.Fit(max(0, columns(w)-len(indent)))
	hide(w, indent+strings.ReplaceAll(lines, "\n", "\n"+indent), indent, hidden)
}

// hide prints the lines of a table, and which columns had no room.
func hide(w io.Writer, lines, indent string, hidden []string) {
	if p, ok := w.(*Page); ok {
		_, _ = p.To.Write(p.line)
		p.line = nil
		fmt.Fprintln(p.To, lines)
	} else {
		fmt.Fprintln(w, lines)
	}
	if len(hidden) > 0 {
		fmt.Fprintf(w, "%scolumns hidden: %s; widen the terminal (or set COLUMNS), or use --json\n", indent, strings.Join(hidden, ", "))
	}
}

// textWidth is the width of sentences: that of the page, up to planWidth.
func textWidth(w io.Writer) int {
	if n := columns(w); n > 0 {
		return min(n, planWidth)
	}
	return planWidth
}
