//go:build !js

package web

import (
	"io/fs"
	"net/http"
)

// Page serves the page of a server and its files. The page uses the API below api/: models, devices and engines, plan,
// report and files. Its answer is the output of [Report].
func Page() http.Handler {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("web: " + err.Error()) // the folder is embedded
	}
	serve := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this is a page: use GET", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		serve.ServeHTTP(w, r)
	})
}
