package server

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// apiServer works on one request at a time before the scheduler can see it.
type apiServer struct {
	free units.Seconds // when it has done what it has
}

// accept takes a prompt of so many tokens, and returns when it is done; at once if it takes no time.
func (a *apiServer) accept(e *Engine, now units.Seconds, p *plan, busy bool, tokens int) (done units.Seconds, atOnce bool) {
	service := e.APIFixed + e.APIPerToken*units.Seconds(tokens)
	if service == 0 {
		return now, true
	}
	a.free = max(a.free, written(e, now, p, busy)) + service
	return a.free, false
}

// written is when the server has sent the tokens of the last step, if not before now.
func written(e *Engine, now units.Seconds, p *plan, busy bool) units.Seconds {
	if e.APIPerOutput == 0 || !busy || p.decodes == 0 {
		return now
	}
	step := (p.end - p.start) / units.Seconds(p.steps)
	began := p.start + step*units.Seconds(math.Floor(float64((now-p.start)/step)))
	return max(now, began+min(step, e.APIPerOutput*units.Seconds(p.decodes)))
}
