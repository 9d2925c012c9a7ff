package mcp

import (
	"maps"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionHeader names the session of a request over HTTP.
const sessionHeader = "Mcp-Session-Id"

// usage is when sessions over HTTP were last used.
type usage struct {
	now  func() time.Time
	mu   sync.Mutex
	last map[string]time.Time
	busy map[string]int
}

func newUsage(now func() time.Time) *usage {
	return &usage{now: now, last: map[string]time.Time{}, busy: map[string]int{}}
}

// begin notes a request of a session; the function that it returns notes its end.
func (u *usage) begin(id string) (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.busy[id]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.last[id] = u.now()
		if u.busy[id]--; u.busy[id] == 0 {
			delete(u.busy, id)
		}
	}
}

// grace is how long a session that was just opened or used is not ended for another.
const grace = time.Minute

// idlest is the session that was silent for the longest, "" if all were used within the grace. Those that are gone are
// forgotten.
func (u *usage) idlest(open []string, now time.Time) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	out, oldest := "", now.Add(-grace)
	for _, id := range open {
		if _, seen := u.last[id]; !seen { // opened, and not used since
			u.last[id] = now
		}
		if u.busy[id] == 0 && u.last[id].Before(oldest) {
			out, oldest = id, u.last[id]
		}
	}
	maps.DeleteFunc(u.last, func(id string, _ time.Time) bool { return !slices.Contains(open, id) })
	return out
}

// room reports whether another session may be opened. If there are as many as there may be, the one that was silent for the
// longest ends: clients that vanish must not keep others out.
func (s *Server) room() bool {
	all := map[string]*sdk.ServerSession{}
	for x := range s.server.Sessions() {
		all[x.ID()] = x
	}
	idlest := s.use.idlest(slices.Collect(maps.Keys(all)), s.use.now())
	if len(all) < s.most {
		return true
	}
	return idlest != "" && all[idlest].Close() == nil
}
