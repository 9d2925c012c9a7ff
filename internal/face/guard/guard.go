// Package guard decides which requests a server of this program accepts: it checks the host
// name of a request, its origin, its user, how much that client asks, and its size.
//
// In: an [http.Handler] and a [Guard]. Out: a handler that refuses the rest, with errors in
// the format of RFC 9457. It does not look at the request itself. Start at [Guard.Handler].
package guard

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Guard is what a server requires of requests.
type Guard struct {
	// Loopback says that the server listens on this machine only. Then the host name of a
	// request must be local: a foreign page may resolve its own name to this machine. Where
	// users are known it is not looked at: such a page has no token.
	Loopback bool
	// Token, if not "", is required with every request; Users are tokens by the names of users.
	// A request has one as "Authorization: Bearer TOKEN", or as the password of basic
	// authentication, for which browsers ask, with the user's name.
	Token string
	Users map[string]string
	// Proxies are the addresses of reverse proxies that are trusted, UserHeader is the header in which
	// they name the user of a request; "" = none.
	Proxies    []netip.Prefix
	UserHeader string
	// Open are paths that need neither a user nor patience: probes of the server's health. Inner are
	// those that trusted proxies and this machine may ask without a user: its metrics.
	Open, Inner []string
	// Limits are those of each client.
	Limits Limits
	// Body is the largest request in bytes.
	Body int64
	// Now is the clock; nil = that of the system.
	Now func() time.Time

	clients  clients
	failures failures
}

// now is the time by the guard's clock.
func (g *Guard) now() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

// Restricted says that requests need a token or a user.
func (g *Guard) Restricted() bool { return g.Token != "" || len(g.Users) > 0 || g.UserHeader != "" }

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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(g.Open, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		user, known := g.user(r)
		peer, trusted := g.peer(r)
		switch {
		case g.Loopback && !g.Restricted() && !own(hostname(r.Host)):
			Refuse(w, http.StatusForbidden, "this server answers requests for localhost only")
		case !sameOrigin(r, g.host(r, trusted)):
			Refuse(w, http.StatusForbidden, "pages of other origins may not use this server")
		case !known && (!slices.Contains(g.Inner, r.URL.Path) || !trusted && !peer.IsLoopback()):
			g.refuseUser(w, r, trusted)
		case r.ContentLength > g.Body:
			Refuse(w, http.StatusRequestEntityTooLarge, "the request is too large")
		default:
			end, wait := g.clients.enter(&g.Limits, Client(user, r, trusted))
			if end == nil {
				w.Header().Set("Retry-After", strconv.Itoa(wait))
				Refuse(w, http.StatusTooManyRequests, "too many requests from this client; try again later")
				return
			}
			defer end()
			r = r.WithContext(context.WithValue(r.Context(), userKey{}, user))
			r.Body = http.MaxBytesReader(w, r.Body, g.Body)
			next.ServeHTTP(w, r)
		}
	})
}

// refuseUser says how a request names its user. A client that presents wrong tokens again and again has to wait; valid ones
// are always accepted, so that nobody locks out others who share an address.
func (g *Guard) refuseUser(w http.ResponseWriter, r *http.Request, trusted bool) {
	if token, _, _ := tokenOf(r); token != "" {
		if wait := g.failures.add(Client("", r, trusted), g.now()); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			Refuse(w, http.StatusTooManyRequests, "too many wrong tokens from this client; try again later")
			return
		}
	}
	switch {
	case len(g.Users) > 0 || g.Token != "":
		w.Header().Add("WWW-Authenticate", "Bearer")
		if g.Inner != nil { // a server with a page
			w.Header().Add("WWW-Authenticate", `Basic realm="Plimsoll", charset="UTF-8"`)
		}
		Refuse(w, http.StatusUnauthorized, "a token is needed: the header \"Authorization: Bearer TOKEN\"")
	default:
		Refuse(w, http.StatusUnauthorized, "a user is needed: requests come through the reverse proxy, which names the user in "+g.UserHeader)
	}
}

// user is the user of a request, "" if users have no names; known says that the request may come in.
func (g *Guard) user(r *http.Request) (name string, known bool) {
	if !g.Restricted() {
		return "", true
	}
	if g.UserHeader != "" {
		if _, trusted := g.peer(r); trusted {
			if name := r.Header.Get(g.UserHeader); name != "" {
				return name, true
			}
		}
	}
	token, given, basic := tokenOf(r)
	if token == "" {
		return "", false
	}
	same := func(want string) bool { // takes the same time for every wrong token
		a, b := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(token))
		return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
	}
	known = same(g.Token)
	for n, want := range g.Users {
		if same(want) && (!basic || given == n) {
			name, known = n, true
		}
	}
	return name, known
}

// peer is the address that a request comes from, and whether it is that of a trusted proxy.
func (g *Guard) peer(r *http.Request) (netip.Addr, bool) {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	ip := at.Addr().Unmap()
	return ip, slices.ContainsFunc(g.Proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// host is the name by which a client asked for this server; a trusted proxy may say.
func (g *Guard) host(r *http.Request, trusted bool) string {
	if name := r.Header.Get("X-Forwarded-Host"); trusted && name != "" {
		return name
	}
	return r.Host
}

// Client names the client of a request: its user, or its address; behind a trusted proxy the one the proxy names last.
func Client(user string, r *http.Request, trusted bool) string {
	if user != "" {
		return "user " + user
	}
	if all := r.Header.Values("X-Forwarded-For"); trusted && len(all) > 0 {
		parts := strings.Split(all[len(all)-1], ",")
		return strings.TrimSpace(parts[len(parts)-1])
	}
	return hostname(r.RemoteAddr)
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
func sameOrigin(r *http.Request, host string) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		followed := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		return site == "" || site == "same-origin" || site == "none" || followed
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// Problem is an error in the format of RFC 9457, with the fields of the request it concerns.
type Problem struct {
	Type   string   `json:"type"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail"`
	Fields []string `json:"fields,omitempty"`
	// Errors lists each error of the request; nil if the request has none.
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
