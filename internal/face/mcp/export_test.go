package mcp

import (
	"time"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Usage is when sessions were used.
type Usage = usage

// NewUsage is of no session.
func NewUsage() *Usage { return newUsage(time.Now) }

// Idlest is the session that would be ended for another.
func (u *usage) Idlest(open []string, now time.Time) string { return u.idlest(open, now) }

// Begin notes a request.
func (u *usage) Begin(id string) func() { return u.begin(id) }

// Open is the number of open sessions.
func (s *Server) Open() int {
	n := 0
	for range s.server.Sessions() {
		n++
	}
	return n
}

// Counter counts reports.
type Counter struct{ counter }

// Add counts one.
func (c *Counter) Add(p session.Progress) (at, of float64) { return c.add(p) }
