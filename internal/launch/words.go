package launch

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// commands are the commands of a shell script in the order of the text, each a list of
// words without quotes, assignments and redirections. Variables stay as they are written.
// Here-documents that are scripts, as for ssh, are searched too.
func commands(script string) ([][]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	var out [][]string
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			var words []string
			for _, w := range n.Args {
				if text := wordText(w.Parts); text != "$@" { // the script's own arguments are unknown
					words = append(words, text)
				}
			}
			if len(words) > 0 {
				out = append(out, words)
			}
		case *syntax.Redirect:
			if n.Hdoc != nil {
				if inner, err := commands(wordText(n.Hdoc.Parts)); err == nil { // other documents are data
					out = append(out, inner...)
				}
			}
		}
		return true
	})
	return out, nil
}

// wordText is the text of a word without its quotes.
func wordText(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar { // $'…' has escapes
				if plain, _, err := expand.Format(nil, text, nil); err == nil {
					text = plain
				}
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(unescape(lit.Value, "\"\\$`\n"))
				} else {
					b.WriteString(wordText([]syntax.WordPart{inner}))
				}
			}
		default: // an expansion, as it is written
			// Printing a node into a builder cannot fail.
			_ = syntax.NewPrinter().Print(&b, &syntax.Word{Parts: []syntax.WordPart{p}})
		}
	}
	return b.String()
}

// unescape removes backslashes: before any character, or only before some as between
// double quotes. A line goes on after one at its end.
func unescape(text, only string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '\\' || i+1 == len(text) || only != "" && !strings.Contains(only, text[i+1:i+2]) {
			b.WriteByte(c)
			continue
		}
		if i++; text[i] != '\n' {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
