package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// Text is words of a file, with the line they begin on. Marks of comments and fences of code are blanks in it, so that a phrase
// is found across lines and lines can be counted.
type Text struct {
	Line  int
	Words string
}

// find returns the phrases in a text.
func (t Text) find(path string, phrases []Phrase) []Finding {
	var out []Finding
	for _, p := range phrases {
		for _, at := range p.pattern.FindAllStringIndex(t.Words, -1) {
			words := strings.Join(strings.Fields(t.Words[at[0]:at[1]]), " ")
			out = append(out, Finding{path, t.Line + strings.Count(t.Words[:at[0]], "\n"), words, p.use})
		}
	}
	return out
}

// goTexts are the comments of a Go file and its strings of several words; those of one are names and values.
func goTexts(path string, source []byte) ([]Text, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []Text
	add := func(n ast.Node, blank *regexp.Regexp) {
		from, to := files.Position(n.Pos()), files.Position(n.End())
		words := blank.ReplaceAllStringFunc(string(source[from.Offset:to.Offset]), func(s string) string { return strings.Repeat(" ", len(s)) })
		out = append(out, Text{from.Line, words})
	}
	comment, escape := regexp.MustCompile(`(?m)^\s*//|/\*|\*/`), regexp.MustCompile(`\\n|\\t`)
	for _, c := range f.Comments {
		add(c, comment)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && strings.Contains(s.Value, " ") {
			add(s, escape)
		}
		return true
	})
	return out, nil
}

// whole is a file of texts.
func whole(_ string, source []byte) ([]Text, error) { return []Text{{1, string(source)}}, nil }

// page is a page of Markdown without its code blocks.
func page(_ string, source []byte) ([]Text, error) {
	lines := bytes.Split(source, []byte("\n"))
	fenced := false
	for i, line := range lines {
		fence := bytes.HasPrefix(bytes.TrimSpace(line), []byte("```"))
		if fence || fenced || bytes.HasPrefix(line, []byte("    ")) {
			lines[i] = nil
		}
		fenced = fenced != fence
	}
	return []Text{{1, string(bytes.Join(lines, []byte("\n")))}}, nil
}
