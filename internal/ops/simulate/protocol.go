package simulate

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Protocol is how a load is applied and measured.
type Protocol string

// The protocols.
const (
	// Steady is a load that lasts: figures are of a window after the warm-up, long enough for a small sampling error.
	Steady Protocol = "steady"
	// Benchmark is a number of requests from the first, of which all clients send one at once, to the end of the last.
	Benchmark Protocol = "benchmark"
)

// Protocols lists the names of the protocols.
func Protocols() []string { return []string{string(Steady), string(Benchmark)} }

// Words lists the protocols.
func (Protocol) Words() []string { return Protocols() }

// usualProtocol is the protocol without a choice: a number of requests is that of a benchmark.
func (r *Request) usualProtocol() Protocol {
	if r.Requests > 0 && r.Trace == "" {
		return Benchmark
	}
	return Steady
}

func (p Protocol) check() error {
	if p == Steady || p == Benchmark {
		return nil
	}
	return field.Errorf("%s must be %s or %s, got %q", field.Name("protocol"), Steady, Benchmark, string(p))
}

// onSampling is a note on a steady run that did not reach a steady state.
func (r *Request) onSampling(s *statistics.Result) []string {
	x := s.Sampling
	switch {
	case x == nil || s.Counted == 0:
		return nil
	case x.Ended == statistics.Overloaded:
		return []string{fmt.Sprintf("overloaded: %.4g of the %.4g requests/s offered are served; the queue, TTFT and latency grow as long as the load lasts",
			s.RequestRate, s.Offered)}
	case x.Ended == statistics.Bounded:
		return []string{fmt.Sprintf("the simulation ended after %s with a sampling error above %g %%", units.Counted(s.Finished, "request"), 100*statistics.DefaultSampling)}
	}
	return nil
}
