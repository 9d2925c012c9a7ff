package statistics

import (
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Steady asks for the figures of a load that lasts, instead of those of a benchmark with a beginning and an end. Requests
// come without end. Clients of a closed loop start one after the other over about the time that a request takes. The
// warm-up is simulated and dropped (see [warm]); a window follows, and all figures are of the window. It ends when the sampling
// error of the judged times is small enough.
//
// The number and the length of a client's requests in time do not matter, nor do its warm-up and spread. A trace has an end:
// all of its requests count, and its rates are those until the last one arrives.
type Steady struct {
	// Percentile of the times that is judged; 0 is their mean.
	Percentile float64
	// Error is the largest sampling error, a relative standard error; 0 means [DefaultSampling].
	Error float64
	// Requests is how many may end before the run does, steady or not; 0 means [DefaultSteadyRequests], and for closed loops
	// at least so many for each client that the rule can be met.
	Requests int
	// Sessions asks for figures of whole sessions: the window lasts as long as those under way take.
	Sessions bool
	// Misses, if not nil, reports whether times miss a limit. The run ends as soon as it is clear whether the judged times do; with
	// Figures, only if they do: those that do not are wanted precisely. A closed loop of plain requests has precise rates all the same:
	// only TTFT, a small part of the time of a request, may be less precise where the limits leave no doubt, and in the warm-up the
	// run ends only where TPOT misses one.
	Misses  func(figures.Times) bool
	Figures bool
}

const (
	// MaxRequests bounds a simulation: some gigabytes.
	MaxRequests = 1 << 24
	// DefaultSampling is the sampling error at which a run ends: a quarter of the error of the best predictions.
	DefaultSampling = 0.02
	// DefaultSteadyRequests bounds a run: about a tenth of a second.
	DefaultSteadyRequests = 50_000
	// controlledRequests bounds a run with [ControlVariates]: near capacity its mean times are more precise than those of 50,000 requests without,
	// percentiles about as precise.
	controlledRequests = 15_000
	// requestsPerClient of a closed loop may end: the warm-up and the window take some ten.
	requestsPerClient = 32
	// sessionsPerClient may end: one passes in the window at least.
	sessionsPerClient = 4
)

// Ending is why a steady run ended.
type Ending string

// The endings. Only Precise and Decided have figures of a steady state.
const (
	Precise    Ending = "precise"    // sampling errors are small enough
	Decided    Ending = "decided"    // it is clear which limits are met
	Overloaded Ending = "overloaded" // requests come faster than they are served
	Bounded    Ending = "bounded"    // too many requests without a small enough error
	Replayed   Ending = "replayed"   // the trace has ended
)

// Sampling is how a steady run went.
type Sampling struct {
	Ended  Ending
	Warmup int // requests that ended before the window
	// Relative standard errors of the judged percentile or mean; 0 where nothing is known.
	figures.Sampling
	SLORatio float64 `json:",omitempty"`
	// DecidedByLimits says that limits had a say in when it ended.
	DecidedByLimits bool `json:"-"`
}

// Steady reports whether the figures are of a steady state.
func (s *Sampling) Steady() bool { return s.Ended == Precise || s.Ended == Decided }

// Check reports what is wrong with a rule; nil is none.
func (r *Steady) Check() error {
	switch {
	case r == nil:
		return nil
	case !(r.Percentile >= 0 && r.Percentile < 100):
		return fmt.Errorf("steady: percentile must be at least 0 and below 100, got %g", r.Percentile)
	case !(r.Error >= 0) || r.Requests < 0 || r.Requests > MaxRequests:
		return fmt.Errorf("steady: error and requests must not be negative, nor requests above %d", MaxRequests)
	}
	return nil
}

// bound is how many requests of a load may end.
func (r *Steady) bound(l *Load, controlled bool) int {
	if r.Requests > 0 {
		return r.Requests
	}
	if controlled {
		return controlledRequests
	}
	each := requestsPerClient
	if l.Sessions {
		each = int(math.Ceil(sessionsPerClient * l.Turns))
	}
	return max(DefaultSteadyRequests, each*l.Clients)
}
