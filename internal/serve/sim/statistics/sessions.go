package statistics

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Sessions is the sessions that ended, as a result has them.
type Sessions struct {
	Count int
	Turns float64 // mean
	Rate  float64 // per second
	// Latency is from the first request to the last answer, Working the same without the time between an answer and
	// the next request.
	Latency, Working Summary
}

// SessionTally collects the sessions that ended.
type SessionTally struct {
	latency, working []units.Seconds
	turns            int
}

// Add counts a session of so many turns, during which its client thought for some time.
func (t *SessionTally) Add(turns int, latency, thought units.Seconds) {
	t.latency, t.working = append(t.latency, latency), append(t.working, latency-thought)
	t.turns += turns
}

// Restart forgets the sessions so far.
func (t *SessionTally) Restart() {
	t.latency, t.working, t.turns = t.latency[:0], t.working[:0], 0
}

// Report sums up over a time.
func (t *SessionTally) Report(over units.Seconds, percentile float64) *Sessions {
	out := &Sessions{Count: len(t.latency)}
	if out.Count == 0 || over <= 0 {
		return out
	}
	out.Turns = float64(t.turns) / float64(out.Count)
	out.Rate = float64(out.Count) / float64(over)
	out.Latency, out.Working = summarize(t.latency, percentile), summarize(t.working, percentile)
	return out
}
