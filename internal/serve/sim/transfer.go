package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// outbox is the links of a prefill replica, over which the caches of prompts go to decode replicas.
type outbox struct {
	free []units.Seconds // when each link has carried what it has
}

// send takes the link that is free first, and returns when a cache of so many tokens has left here.
func (o *outbox) send(now units.Seconds, link *Link, tokens int) units.Seconds {
	at := 0
	for i := range o.free {
		if o.free[i] < o.free[at] {
			at = i
		}
	}
	o.free[at] = max(now, o.free[at]) + link.Carries(tokens)
	return o.free[at]
}
