package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/web"
)

func TestPage(t *testing.T) {
	for _, x := range []struct {
		method, path string
		status       int
		kind         string
	}{
		{http.MethodGet, "/", http.StatusOK, "text/html"},
		{http.MethodGet, "/?model=a&system=b", http.StatusOK, "text/html"},
		{http.MethodHead, "/", http.StatusOK, "text/html"},
		{http.MethodGet, "/page.js", http.StatusOK, "text/javascript"},
		{http.MethodGet, "/style.css", http.StatusOK, "text/css"},
		{http.MethodGet, "/nothing", http.StatusNotFound, "text/plain"},
		{http.MethodGet, "/../page.go", http.StatusNotFound, "text/plain"},
		{http.MethodPost, "/", http.StatusMethodNotAllowed, "text/plain"},
	} {
		w := httptest.NewRecorder()
		web.Page().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), x.method, x.path, nil))
		if got := w.Header().Get("Content-Type"); w.Code != x.status || !strings.HasPrefix(got, x.kind) {
			t.Errorf("%s %s: want %d %s, got %d %s", x.method, x.path, x.status, x.kind, w.Code, got)
		}
	}
}

// The page stands on its own files: it names no other address.
func TestPageStandsAlone(t *testing.T) {
	w := httptest.NewRecorder()
	web.Page().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	html := w.Body.String()
	wellFormed(t, html)
	if strings.Contains(html, "://") {
		t.Error("the page names an address")
	}
	if !strings.Contains(html, "default-src 'none'") {
		t.Error("the page has no policy")
	}
}
