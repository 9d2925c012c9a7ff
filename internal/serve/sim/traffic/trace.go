package traffic

import (
	"errors"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// Trace replays recorded traffic: requests in order of arrival, as
// [workload.ReadTrace] reads them.
type Trace struct {
	Requests []workload.Request
	// BlockTokens is how many prompt tokens an entry of Blocks stands for.
	BlockTokens int
	// Speed divides the times between arrivals; 0 means 1.
	Speed float64
	// Warmup is how many of the first requests are served but not counted.
	Warmup int
}

// Check implements [Client].
func (t *Trace) Check() error {
	if len(t.Requests) == 0 || len(t.Requests) > maxRequests {
		return fmt.Errorf("a trace must have between 1 and %d requests, got %d", maxRequests, len(t.Requests))
	}
	if !(t.Speed >= 0 && t.Speed <= 1e9) {
		return fmt.Errorf("speed must be positive, got %g", t.Speed)
	}
	contents := uint32(0)
	last := units.Seconds(0)
	for i := range t.Requests {
		q := &t.Requests[i]
		if !(q.Arrival >= last) || !server.Sound(q.Arrival) {
			return fmt.Errorf("request %d arrives before the previous one, which arrives at %v", i+1, last)
		}
		last = q.Arrival
		if err := checkRequest(q, &contents); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	if contents > 0 && t.BlockTokens < 1 {
		return errors.New("a trace with blocks must give the tokens of a block")
	}
	return checkWarmup(t.Warmup)
}

// checkRequest looks at one request; contents is how many have been seen.
func checkRequest(q *workload.Request, contents *uint32) error {
	if q.Input < 1 || q.Output < 1 || q.Input > maxTokens || q.Output > maxTokens {
		return fmt.Errorf("lengths must be between 1 and %d tokens, got %d and %d", maxTokens, q.Input, q.Output)
	}
	for _, b := range q.Blocks {
		if b > *contents {
			return fmt.Errorf("block %d: contents must be numbered in order of appearance, the next is %d", b, *contents)
		}
		*contents = max(*contents, b+1)
	}
	return nil
}

func (t *Trace) load(uint64) load {
	l := load{requests: make([]server.Request, len(t.Requests)), warmup: t.Warmup}
	if t.BlockTokens > 0 {
		l.contents, l.blockTokens = make([][]uint32, len(t.Requests)), t.BlockTokens
	}
	speed := t.Speed
	if speed == 0 {
		speed = 1
	}
	for i := range t.Requests {
		q := &t.Requests[i]
		l.requests[i] = server.Request{Arrived: q.Arrival / units.Seconds(speed), Input: q.Input, Output: q.Output}
		if l.contents != nil {
			l.contents[i] = q.Blocks
		}
	}
	return l
}

// endless implements [Client]: a trace has an end.
func (t *Trace) endless(seed uint64) load { return t.load(seed) }

// coarsen makes the blocks of contents no smaller than those of a cache: of
// several small ones the last stands for all. It reports whether one size is a
// multiple of the other.
func (l *load) coarsen(tokens int) bool {
	if l.blockTokens%tokens == 0 {
		return true
	}
	if tokens%l.blockTokens != 0 {
		return false
	}
	n := tokens / l.blockTokens
	for i, small := range l.contents {
		l.contents[i] = everyNth(small, n)
	}
	if r := l.replay; r != nil {
		r.coarse = make([][]uint32, len(r.requests))
		for i := range r.coarse {
			r.coarse[i] = everyNth(r.requests[i].Blocks, n)
		}
	}
	l.blockTokens = tokens
	return true
}

// everyNth are the last of every n blocks.
func everyNth(small []uint32, n int) []uint32 {
	large := make([]uint32, 0, len(small)/n)
	for j := n - 1; j < len(small); j += n {
		large = append(large, small[j])
	}
	return large
}
