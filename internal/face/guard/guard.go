// Package guard decides which requests a server of this program accepts: it checks the host
// name of a request, its origin, its token and its size.
//
// In: an [http.Handler] and a [Guard]. Out: a handler that refuses the rest, with errors in
// the format of RFC 9457. It does not look at the request itself. Start at [Guard.Handler].
package guard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Guard is what a server requires of requests.
type Guard struct {
	// Loopback says that the server listens on this machine only. Then the host name of a
	// request must be local: a foreign page may resolve its own name to this machine.
	Loopback bool
	// Token, if not "", is required with every request.
	Token string
	// Body is the largest request in bytes.
	Body int64
}

// Loopback reports whether an address to listen on, "HOST:PORT", is this machine's own.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && own(host)
}

// own reports whether a host is this machine, by a name that no other machine can have.
func own(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// Handler passes on the requests that the guard accepts.
func (g *Guard) Handler(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + g.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		switch {
		case g.Loopback && !own(hostname(r.Host)):
			Refuse(w, http.StatusForbidden, "this server answers requests for localhost only")
		case !sameOrigin(r):
			Refuse(w, http.StatusForbidden, "pages of other origins may not use this server")
		case g.Token != "" && subtle.ConstantTimeCompare(want[:], got[:]) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			Refuse(w, http.StatusUnauthorized, "a bearer token is needed: the header \"Authorization: Bearer TOKEN\"")
		case r.ContentLength > g.Body:
			Refuse(w, http.StatusRequestEntityTooLarge, "the request is too large")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, g.Body)
			next.ServeHTTP(w, r)
		}
	})
}

// userKey is the key of the user in the context of a request.
type userKey struct{}

// User is the user of a request that the guard accepted; "" if it does not know users.
func User(r *http.Request) string {
	name, _ := r.Context().Value(userKey{}).(string)
	return name
}

// hostname is a host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// sameOrigin reports whether a request comes from no page or from a page of this server. A
// link on another page may lead here, since that page does not see the response.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		followed := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		return site == "" || site == "same-origin" || site == "none" || followed
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// Problem is an error in the format of RFC 9457, with the fields of the request it concerns.
type Problem struct {
	Type   string   `json:"type"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail"`
	Fields []string `json:"fields,omitempty"`
	// Errors lists the mistakes one by one; nil if the request has none.
	Errors any `json:"errors,omitempty"`
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, status int, detail string, fields ...string) {
	Write(w, Problem{Status: status, Detail: detail, Fields: fields})
}

// Write answers with an error that has at least a status and a detail.
func Write(w http.ResponseWriter, p Problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // fails only if the client is gone
}
