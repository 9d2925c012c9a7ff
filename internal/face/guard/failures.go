package guard

import (
	"net/netip"
	"sync"
	"time"
)

// failures are the clients that presented wrong tokens lately, in a younger and an older half; the older one is dropped when the younger
// is full.
type failures struct {
	mu        sync.Mutex
	now, then map[string]*failure
}

// failure is what is known of such a client.
type failure struct {
	count int
	last  time.Time
	until time.Time // until then its wrong tokens are refused as too many
}

// freeFailures is how many wrong tokens cost no time, maxLockout the longest time that the next ones cost.
const (
	freeFailures = 5
	maxLockout   = 5 * time.Minute
)

// add counts a wrong token of a client. The time to wait before the next, if not zero, doubles with every one. Those that come earlier
// are not counted.
func (f *failures) add(name string, now time.Time) (wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.of(network64(name))
	if now.Before(x.until) {
		return x.until.Sub(now)
	}
	if now.Sub(x.last) > forgetAfter {
		x.count = 0
	}
	x.count++
	x.last = now
	if over := x.count - freeFailures; over > 0 {
		wait = min(time.Second<<min(over-1, 30), maxLockout)
		x.until = now.Add(wait)
	}
	return wait
}

// of is what is known of a client, in the younger half.
func (f *failures) of(name string) *failure {
	if x := f.now[name]; x != nil {
		return x
	}
	x := f.then[name]
	if x == nil {
		x = &failure{}
	}
	if len(f.now) >= mostClients/2 || f.now == nil {
		f.now, f.then = map[string]*failure{}, f.now
	}
	f.now[name] = x
	return x
}

// network64 is the network of an IPv6 client, all of whose addresses it has; other names stay.
func network64(name string) string {
	const own = 64 // bits of the prefix
	ip, err := netip.ParseAddr(name)
	if err != nil || !ip.Unmap().Is6() {
		return name
	}
	p, err := ip.WithZone("").Prefix(own)
	if err != nil {
		return name
	}
	return p.String()
}
