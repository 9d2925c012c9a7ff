package guard_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
)

// who answers with the user of a request.
func who() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("user " + guard.User(r))) })
}

// TestUsers: users are known by a token, by basic authentication with it, or by the header of a trusted proxy; nobody else is.
func TestUsers(t *testing.T) {
	const ann, bob = "ann-0123456789abcdef", "bob-0123456789abcdef"
	proxy := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	tokens := guard.Guard{Users: map[string]string{"ann": ann, "bob": bob}, Loopback: true, Body: 1, Inner: []string{"/metrics"}, Open: []string{"/healthz"}}
	single := guard.Guard{Token: ann, Body: 1}
	header := guard.Guard{UserHeader: "X-User", Proxies: proxy, Body: 1, Inner: []string{"/metrics"}}
	for name, c := range map[string]struct {
		guard  *guard.Guard
		from   string
		path   string
		change func(*http.Request)
		status int
		want   string
	}{
		"bearer":               {guard: &tokens, change: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+bob) }, status: 200, want: "user bob"},
		"bearer, small":        {guard: &tokens, change: func(r *http.Request) { r.Header.Set("Authorization", "bearer  "+bob) }, status: 200, want: "user bob"},
		"another scheme":       {guard: &tokens, change: func(r *http.Request) { r.Header.Set("Authorization", "Token "+bob) }, status: 401},
		"basic":                {guard: &tokens, change: func(r *http.Request) { r.SetBasicAuth("ann", ann) }, status: 200, want: "user ann"},
		"another's name":       {guard: &tokens, change: func(r *http.Request) { r.SetBasicAuth("bob", ann) }, status: 401},
		"wrong token":          {guard: &tokens, change: func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, status: 401},
		"empty token":          {guard: &tokens, change: func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, status: 401},
		"no token":             {guard: &tokens, status: 401},
		"a token is no header": {guard: &tokens, from: "10.1.2.3:9", change: func(r *http.Request) { r.Header.Set("X-User", "eve") }, status: 401},
		"health":               {guard: &tokens, path: "/healthz", status: 200, want: "user "},
		"metrics from far":     {guard: &tokens, path: "/metrics", status: 401},
		"metrics from here":    {guard: &tokens, from: "127.0.0.1:9", path: "/metrics", status: 200, want: "user "},
		"single":               {guard: &single, change: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+ann) }, status: 200, want: "user "},
		"single, basic":        {guard: &single, change: func(r *http.Request) { r.SetBasicAuth("anybody", ann) }, status: 200, want: "user "},
		"proxy":                {guard: &header, from: "10.1.2.3:9", change: func(r *http.Request) { r.Header.Set("X-User", "eve") }, status: 200, want: "user eve"},
		"proxy without a user": {guard: &header, from: "10.1.2.3:9", status: 401},
		"forged":               {guard: &header, from: "192.0.2.1:9", change: func(r *http.Request) { r.Header.Set("X-User", "eve") }, status: 401},
		"metrics by the proxy": {guard: &header, from: "10.1.2.3:9", path: "/metrics", status: 200, want: "user "},
		"page behind the proxy": {guard: &header, from: "10.1.2.3:9", change: func(r *http.Request) {
			r.Header.Set("X-User", "eve")
			r.Header.Set("X-Forwarded-Host", "plan.example.com")
			r.Header.Set("Origin", "https://plan.example.com")
		}, status: 200, want: "user eve"},
		"foreign page behind the proxy": {guard: &header, from: "10.1.2.3:9", change: func(r *http.Request) {
			r.Header.Set("X-User", "eve")
			r.Header.Set("Origin", "https://evil.example")
		}, status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			path := c.path
			if path == "" {
				path = "/api/plan"
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://plan.example.com"+path, nil)
			if c.from == "" {
				c.from = "192.0.2.1:9"
			}
			r.RemoteAddr = c.from
			if c.change != nil {
				c.change(r)
			}
			w := httptest.NewRecorder()
			if c.guard.Handler(who()).ServeHTTP(w, r); w.Code != c.status || c.want != "" && w.Body.String() != c.want {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, c.status, c.want)
			}
		})
	}
}

// TestLimits: a client that asks too fast or too much in parallel is refused with the time to wait; others are not.
func TestLimits(t *testing.T) {
	ask := func(h http.Handler, from string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	slow := guard.Guard{Body: 1, Limits: guard.Limits{Rate: 0.001}}
	h := slow.Handler(who())
	for i, want := range []int{200, 429, 429} { // a burst of one
		if w := ask(h, "192.0.2.1:9"); w.Code != want || want == 429 && w.Header().Get("Retry-After") != "1000" {
			t.Errorf("request %d: %d %v", i, w.Code, w.Header())
		}
	}
	if w := ask(h, "192.0.2.2:9"); w.Code != 200 {
		t.Errorf("another client: %d", w.Code)
	}
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	narrow := guard.Guard{Body: 1, Limits: guard.Limits{Concurrent: 2}}
	h = narrow.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave }))
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() { ask(h, "192.0.2.1:9") })
		<-entered
	}
	if w := ask(h, "192.0.2.1:9"); w.Code != 429 {
		t.Errorf("a third in parallel: %d", w.Code)
	}
	close(leave)
	wait.Wait()
	if w := ask(h, "192.0.2.1:9"); w.Code != 200 {
		t.Errorf("after them: %d", w.Code)
	}
}
