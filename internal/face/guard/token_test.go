package guard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
)

// TestCheckToken: tokens that can be guessed, or that no header can hold, are refused; the message does not have the token.
func TestCheckToken(t *testing.T) {
	for token, want := range map[string]string{
		"":                    "must have at least 16 characters, got 0",
		"secret":              "must have at least 16 characters, got 6",
		"ääääääääääääääää":    "",
		"0123456789abcdef":    "",
		"0123456789 abcdef":   "must not have spaces or control characters",
		"0123456789\nabcdef0": "must not have spaces or control characters",
	} {
		if err := guard.CheckToken(token); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %q", token, err, want)
		}
	}
}

// TestExposed: an address that others can reach needs a token or users; what is no address is not exposed.
func TestExposed(t *testing.T) {
	open, token, header := guard.Guard{}, guard.Guard{Token: "x"}, guard.Guard{UserHeader: "x"}
	for addr, want := range map[string]bool{":80": true, "0.0.0.0:80": true, "example.com:80": true, "[::]:80": true, "127.0.0.1:80": false, "localhost:80": false, "nonsense": false} {
		if open.Exposed(addr) != want || token.Exposed(addr) || header.Exposed(addr) {
			t.Errorf("%s: exposed %v, with a token %v, with users %v", addr, open.Exposed(addr), token.Exposed(addr), header.Exposed(addr))
		}
	}
}

// TestFailures: after five wrong tokens each further one doubles the time that a client has to wait. Clients with valid tokens never
// wait, even at the same address, nor do those at others or without a token.
func TestFailures(t *testing.T) {
	const token = "ann-0123456789abcdef"
	now := time.Unix(0, 0)
	g := &guard.Guard{Token: token, Body: 1, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Now: func() time.Time { return now }}
	h := g.Handler(who())
	ask := func(from, token, forwarded string) (status int, wait string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
		r.RemoteAddr = from
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if forwarded != "" {
			r.Header.Set("X-Forwarded-For", forwarded)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Header().Get("Retry-After")
	}
	const here, proxy = "192.0.2.1:9", "10.0.0.1:9"
	got := []string{}
	try := func(from, token, forwarded string) {
		status, wait := ask(from, token, forwarded)
		got = append(got, strings.TrimSpace(fmt.Sprint(status, " ", wait)))
	}
	want := func(list ...string) {
		t.Helper()
		if g, w := strings.Join(got, ", "), strings.Join(list, ", "); g != w {
			t.Errorf("got %s; want %s", g, w)
		}
		got = nil
	}
	for range 6 {
		try(here, "wrong", "")
	}
	want("401", "401", "401", "401", "401", "429 1")
	now = now.Add(400 * time.Millisecond)
	try(here, "wrong", "") // too early: not counted
	now = now.Add(600 * time.Millisecond)
	try(here, "wrong", "")
	want("429 1", "429 2")
	try(here, token, "")
	try(here, "", "")
	try("192.0.2.2:9", "wrong", "")
	want("200", "401", "401")
	for range 20 {
		now = now.Add(10 * time.Minute / 2)
		try(here, "wrong", "")
	}
	if got[19] != "429 300" {
		t.Errorf("the longest time: %v", got)
	}
	got = nil
	now = now.Add(time.Hour)
	try(here, "wrong", "") // forgotten
	want("401")

	// Behind a trusted proxy clients are those that it names; elsewhere nobody chooses a name.
	for range 6 {
		try(proxy, "wrong", "203.0.113.1")
	}
	try(proxy, "wrong", "203.0.113.2")
	want("401", "401", "401", "401", "401", "429 1", "401")
	for i := range 6 {
		try("198.51.100.1:9", "wrong", fmt.Sprint("203.0.113.", i))
	}
	want("401", "401", "401", "401", "401", "429 1")
	// Who has one IPv6 address has its whole network.
	for i := range 6 {
		try(fmt.Sprintf("[2001:db8::%x]:9", i+1), "wrong", "")
	}
	try("[2001:db8:1::1]:9", "wrong", "")
	want("401", "401", "401", "401", "401", "429 1", "401")
}

// TestFailuresBounded: however many clients fail, a bounded number is remembered.
func TestFailuresBounded(t *testing.T) {
	if n := guard.RememberedFailures(100_000); n > 1<<14 || n < 1<<13 {
		t.Errorf("%d clients are remembered", n)
	}
}
