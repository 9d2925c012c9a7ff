package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestClients: clients end when the time is over; what they wait for then is counted, and not as an answer.
func TestClients(t *testing.T) {
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"answers at once": {func(http.ResponseWriter, *http.Request) {}, "by status map[200:3], 0 failed or past a minute, 0 still waiting"},
		"never answers": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // a server sees that a client is gone once it has read its request
			<-r.Context().Done()
		}, "by status map[], 0 failed or past a minute, 3 still waiting"},
	} {
		s := httptest.NewServer(c.serve)
		var out strings.Builder
		err := run(&options{url: s.URL, ask: "drag", clients: 3, seconds: 0.9, again: 0.8}, &out)
		s.Close()
		if err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v %s", name, err, out.String())
		}
	}
}
