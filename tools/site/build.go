package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// page is a document of the site.
type page struct {
	Source string // in the repository: docs/plan.md
	Path   string // in the site, as an HTML file
	Title  string
	Body   template.HTML
	parts  []part
	ids    map[string]bool
	links  []string // to files of the repository
}

// part is what a search finds: a heading and the text below it.
type part struct {
	Page  string `json:"p"`
	Title string `json:"t"`
	Head  string `json:"h"`
	ID    string `json:"i"`
	Text  string `json:"x"`
}

// group is pages that the navigation lists together.
type group struct {
	Title string
	Pages []*page
}

// build writes a version of the site, with the template, style and script of a folder, and returns the number of its pages.
func build(parts, root, out, name string) (int, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return 0, fmt.Errorf("a version is the name of a folder, got %q", name)
	}
	pages, err := read(root)
	if err != nil {
		return 0, err
	}
	files := map[string]bool{}
	for _, p := range pages {
		for _, l := range p.links {
			files[l] = true
		}
	}
	to := filepath.Join(out, name)
	beside := to + ".new"
	if err := errors.Join(os.RemoveAll(beside), os.MkdirAll(beside, 0o777)); err != nil {
		return 0, err
	}
	if err := write(parts, root, beside, name, pages, files); err != nil {
		return 0, errors.Join(err, os.RemoveAll(beside))
	}
	if err := errors.Join(os.RemoveAll(to), os.Rename(beside, to)); err != nil {
		return 0, err
	}
	return len(pages), versions(out, name)
}

// read reads the documents: those of the top, the docs and the skills.
func read(root string) ([]*page, error) {
	var sources []string
	for _, pattern := range []string{"*.md", "docs/*.md", "skills/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				return nil, err
			}
			sources = append(sources, filepath.ToSlash(rel))
		}
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s has no documents", root)
	}
	var out []*page
	var errs []error
	for _, source := range sources {
		data, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			return nil, err
		}
		p := &page{Source: source, Path: pathOf(source)}
		errs = append(errs, p.render(root, data, sources))
		out = append(out, p)
	}
	return out, errors.Join(append(errs, anchors(out))...)
}

// pathOf is where a document is in the site; a README is the page of its folder.
func pathOf(source string) string {
	dir, file := path.Split(source)
	if file == "README.md" {
		return dir + "index.html"
	}
	return dir + strings.TrimSuffix(file, ".md") + ".html"
}

// render turns a document into HTML, with links of the site.
func (p *page) render(root string, data []byte, sources []string) error {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))
	data = frontMatter(data)
	ids := &anchorNames{used: map[string]bool{}}
	doc := md.Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	p.ids = ids.used
	var errs []error
	at := part{Page: p.Path}
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, err := p.link(root, string(n.Destination), sources)
			n.Destination = []byte(to)
			errs = append(errs, err)
		case *ast.Image:
			to, err := p.link(root, string(n.Destination), sources)
			n.Destination = []byte(to)
			errs = append(errs, err)
		case *ast.Heading:
			p.add(at)
			id, _ := n.AttributeString("id")
			idText, _ := id.([]byte)
			at = part{Page: p.Path, Head: plain(n, data), ID: string(idText)}
			if p.Title == "" {
				p.Title = at.Head
			}
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			at.Text += string(n.Segment.Value(data)) + " "
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			lines := n.Lines()
			for i := range lines.Len() {
				s := lines.At(i)
				at.Text += string(s.Value(data))
			}
		}
		return ast.WalkContinue, nil
	})
	p.add(at)
	var b bytes.Buffer
	errs = append(errs, err, md.Renderer().Render(&b, data, doc))
	if p.Title == "" {
		p.Title = p.Source
	}
	p.Body = template.HTML(b.String())
	return errors.Join(errs...)
}

// add keeps a part for the search.
func (p *page) add(x part) {
	const most = 4000 // characters; lists of models are longer than a search needs
	x.Text = strings.Join(strings.Fields(x.Text), " ")
	if r := []rune(x.Text); len(r) > most {
		x.Text = string(r[:most])
	}
	if x.Head != "" || x.Text != "" {
		p.parts = append(p.parts, x)
	}
}

// frontMatter leaves out the settings at the head of a skill.
func frontMatter(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(data, []byte("---\n")); ok {
		if _, after, ok := bytes.Cut(rest, []byte("\n---\n")); ok {
			return after
		}
	}
	return data
}

// plain is the text of a node.
func plain(n ast.Node, data []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(data))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// link is a link of the site.
func (p *page) link(root, to string, sources []string) (string, error) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") || strings.HasPrefix(to, "#") {
		return to, nil
	}
	name, anchor, _ := strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	target := path.Join(path.Dir(p.Source), name)
	if target == ".." || strings.HasPrefix(target, "../") {
		return to, fmt.Errorf("%s: the link %s leaves the repository", p.Source, to)
	}
	info, err := os.Stat(filepath.Join(root, target))
	if err != nil {
		return to, fmt.Errorf("%s: the link %s leads nowhere", p.Source, to)
	}
	end := target
	switch {
	case slices.Contains(sources, target):
		end = pathOf(target)
	case info.IsDir():
		p.links, end = append(p.links, target), target+"/index.html"
	default:
		p.links = append(p.links, target)
	}
	rel, err := filepath.Rel(path.Dir(p.Path), end)
	return filepath.ToSlash(rel) + anchor, err
}

// anchorNames gives headings the names that code hosts give them, which links use.
type anchorNames struct{ used map[string]bool }

// Generate names a heading by its text.
func (a *anchorNames) Generate(value []byte, _ ast.NodeKind) []byte {
	title := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(string(value), "$1")
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
	free := name
	for n := 1; a.used[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	a.used[free] = true
	return []byte(free)
}

// Put keeps a name that a heading has.
func (a *anchorNames) Put(value []byte) { a.used[string(value)] = true }

// anchors reports links to headings that are not there.
func anchors(pages []*page) error {
	by := map[string]*page{}
	for _, p := range pages {
		by[p.Path] = p
	}
	href := regexp.MustCompile(`href="([^":]*)#([^"]+)"`)
	var errs []error
	for _, p := range pages {
		for _, m := range href.FindAllStringSubmatch(string(p.Body), -1) {
			target := p
			if m[1] != "" {
				target = by[path.Join(path.Dir(p.Path), m[1])]
			}
			if target != nil && !target.ids[m[2]] {
				errs = append(errs, fmt.Errorf("%s: no heading #%s in %s", p.Source, m[2], target.Source))
			}
		}
	}
	return errors.Join(errs...)
}

// write writes pages, what they link to, and the search.
func write(from, root, to, name string, pages []*page, files map[string]bool) error {
	t, err := template.ParseFiles(filepath.Join(from, "page.html"))
	if err != nil {
		return err
	}
	groups := navigation(root, pages)
	var parts []part
	for _, p := range pages {
		var b bytes.Buffer
		up := strings.Repeat("../", strings.Count(p.Path, "/"))
		if err := t.Execute(&b, map[string]any{"Page": p, "Groups": groups, "Up": up, "Version": name}); err != nil {
			return err
		}
		for i := range p.parts {
			p.parts[i].Title = p.Title
		}
		parts = append(parts, p.parts...)
		if err := put(filepath.Join(to, p.Path), b.Bytes()); err != nil {
			return err
		}
	}
	for f := range files {
		if err := take(root, to, f); err != nil {
			return err
		}
	}
	index, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	return errors.Join(put(filepath.Join(to, "search.js"), fmt.Appendf(nil, "window.plimsollIndex=%s;\n", index)), take(from, to, "site.css"), take(from, to, "site.js"))
}

// take copies a file of the repository, or the files of a folder with a list of them.
func take(root, to, name string) error {
	from := filepath.Join(root, name)
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(from)
		return errors.Join(err, put(filepath.Join(to, name), data))
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!doctype html><meta charset=utf-8><title>%[1]s</title><h1>%[1]s</h1><ul>\n", template.HTMLEscapeString(name))
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		if err := take(root, to, path.Join(name, e.Name())); err != nil {
			return err
		}
		fmt.Fprintf(&b, "<li><a href=\"%[1]s\">%[1]s</a>\n", template.HTMLEscapeString(e.Name()))
	}
	b.WriteString("</ul>\n")
	return put(filepath.Join(to, name, "index.html"), b.Bytes())
}

// put writes a file and the folders above it.
func put(name string, data []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, data, 0o666))
}

// navigation has the sections of docs/README.md, and the rest.
func navigation(root string, pages []*page) []group {
	out := []group{{Title: "Start"}}
	by, listed := map[string]*page{}, map[*page]bool{}
	for _, p := range pages {
		by[p.Source] = p
		if p.Source == "README.md" {
			out[0].Pages = append(out[0].Pages, p)
			listed[p] = true
		}
	}
	data, _ := os.ReadFile(filepath.Join(root, "docs/README.md")) // it was read as a page before, if it is there
	link := regexp.MustCompile(`\]\(([^)#\s]+\.md)`)
	for line := range strings.Lines(string(data)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			out = append(out, group{Title: strings.TrimSpace(title)})
		}
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			if p := by[path.Join("docs", m[1])]; p != nil && !listed[p] {
				listed[p] = true
				out[len(out)-1].Pages = append(out[len(out)-1].Pages, p)
			}
		}
	}
	rest := group{Title: "More"}
	for _, p := range pages {
		if !listed[p] {
			rest.Pages = append(rest.Pages, p)
		}
	}
	return append(out, rest)
}

// versions lists the versions of a site, the newest name last written first, and leads to it.
func versions(out, newest string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	names := []string{newest}
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(out, e.Name(), "search.js")); e.IsDir() && e.Name() != newest && !errors.Is(err, fs.ErrNotExist) {
			names = append(names, e.Name())
		}
	}
	data, err := json.Marshal(names)
	if err != nil {
		return err
	}
	lead := fmt.Sprintf("<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0; url=%[1]s/index.html\"><a href=\"%[1]s/index.html\">Plimsoll</a>\n", template.HTMLEscapeString(newest))
	return errors.Join(put(filepath.Join(out, "versions.js"), fmt.Appendf(nil, "window.plimsollVersions=%s;\n", data)), put(filepath.Join(out, "index.html"), []byte(lead)))
}
