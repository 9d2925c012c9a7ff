//go:build !js

package web

import (
	"fmt"
	"html"
	"io/fs"
	"strings"
)

// Playground is the page without a server: its files but for the engine (engine.bin, gzipped WebAssembly) and Go's support for it
// (wasm_exec.js), by their names. The version is shown in records.
func Playground(version string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, name := range []string{"index.html", "page.js", "playground.js", "style.css", "worker.js", "zh.json"} {
		data, err := fs.ReadFile(assets, "assets/"+name)
		if err != nil {
			return nil, err
		}
		out[name] = data
	}
	page := string(out["index.html"])
	for _, edit := range [][2]string{
		{"script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"},
		{"<title>", `<meta name="plimsoll-version" content="` + html.EscapeString(version) + "\">\n<title>"},
		{`<script src="page.js">`, "<script src=\"playground.js\"></script>\n<script src=\"page.js\">"},
	} {
		if strings.Count(page, edit[0]) != 1 {
			return nil, fmt.Errorf("web: the page has no %s", edit[0])
		}
		page = strings.Replace(page, edit[0], edit[1], 1)
	}
	out["index.html"] = []byte(page)
	return out, nil
}
