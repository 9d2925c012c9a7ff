package guard

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits are how much one client may ask; 0 = as much as it likes.
type Limits struct {
	Rate       float64 // requests per second, and twice as many at once
	Concurrent int     // requests in parallel, streams among them
}

// clients are those that asked lately.
type clients struct {
	mu   sync.Mutex
	byID map[string]*client
}

// client is what one client asked.
type client struct {
	rate    *rate.Limiter
	running int
	last    time.Time
}

// Clients that have asked nothing for so long are forgotten, and from so many on those that ask nothing.
const (
	forgetAfter = 10 * time.Minute
	mostClients = 1 << 14
)

// enter counts a request in; end counts it out. Without end the request is too much, and may be tried after so many seconds.
func (c *clients) enter(l *Limits, name string) (end func(), wait int) {
	if l.Rate == 0 && l.Concurrent == 0 {
		return func() {}, 0
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.byID[name]
	if x == nil {
		c.forget(now)
		limit := rate.Inf
		if l.Rate > 0 {
			limit = rate.Limit(l.Rate)
		}
		x = &client{rate: rate.NewLimiter(limit, int(math.Ceil(2*l.Rate)))}
		c.byID[name] = x
	}
	x.last = now
	if l.Concurrent > 0 && x.running >= l.Concurrent {
		return nil, 1
	}
	if !x.rate.AllowN(now, 1) {
		return nil, int(math.Ceil(1 / l.Rate))
	}
	x.running++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		x.running--
	}, 0
}

// forget drops clients that ask nothing.
func (c *clients) forget(now time.Time) {
	if c.byID == nil {
		c.byID = map[string]*client{}
	}
	for name, x := range c.byID {
		if x.running == 0 && (now.Sub(x.last) > forgetAfter || len(c.byID) >= mostClients) {
			delete(c.byID, name)
		}
	}
}
