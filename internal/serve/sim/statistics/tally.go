package statistics

import (
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Outcome is a request that has ended, as its client saw it.
type Outcome struct {
	Arrived, Done units.Seconds // on the clock of the simulation
	figures.Times
	Input, Output  int  // tokens
	Cached, Hosted int  // prompt tokens found in the prefix cache or the host tier; of these, in the host tier
	Good           bool // within all limits
	// HasSLORatio says that it has a largest ratio of a time to its limit, such as 0.8 for a TTFT of 1.6 s under a limit of 2 s.
	HasSLORatio bool
}

// Tally collects the requests that count, in the order in which they ended.
type Tally struct {
	ttft, tpot, latency         []units.Seconds
	sloRatio                    []units.Seconds // of limits, without a unit
	input, output, cached, good int
	hosted                      int
	from, to                    units.Seconds
	timeInSystem                units.Seconds   // by all requests, in the simulation
	scratch                     []units.Seconds // to find percentiles in

	waits   []queueWaits // in the queues beside the deployment; none without them
	control arrivalEffect
}

// each finds something of each time.
func (t *Tally) each(of func([]units.Seconds) units.Seconds) figures.Times {
	return figures.Times{TTFT: of(t.ttft), TPOT: of(t.tpot), Latency: of(t.latency), SLORatio: of(t.sloRatio)}
}

// spareTallies are those of steady simulations that have ended.
//
//nolint:gochecknoglobals // memory alone
var spareTallies sync.Pool

// NewTally makes room for so many requests.
func NewTally(n int) *Tally {
	values := make([]units.Seconds, 3*n)
	return &Tally{ttft: values[:0:n], tpot: values[n : n : 2*n], latency: values[2*n : 2*n : 3*n]}
}

// restart forgets all but the room.
func (t *Tally) restart() {
	*t = Tally{ttft: t.ttft[:0], tpot: t.tpot[:0], latency: t.latency[:0], sloRatio: t.sloRatio[:0], scratch: t.scratch, waits: t.waits[:0]}
}

// Add counts a request.
func (t *Tally) Add(o *Outcome) {
	if len(t.ttft) == 0 {
		t.from = o.Arrived
	}
	t.from, t.to = min(t.from, o.Arrived), max(t.to, o.Done)
	t.ttft = append(t.ttft, o.TTFT)
	t.latency = append(t.latency, o.Latency)
	if o.Output > 1 {
		t.tpot = append(t.tpot, o.TPOT)
	}
	if o.HasSLORatio {
		t.sloRatio = append(t.sloRatio, o.SLORatio)
	}
	t.input += o.Input
	t.output += o.Output
	t.cached += o.Cached
	t.hosted += o.Hosted
	t.timeInSystem += o.Done - o.Arrived
	if o.Good {
		t.good++
	}
}

// Span is the time from the first arrival to the last end.
func (t *Tally) Span() units.Seconds { return t.to - t.from }

// Report sums up the requests over a time; each stands for so many equal ones.
func (t *Tally) Report(res *Result, times int, percentile float64, over units.Seconds) {
	res.Counted = len(t.ttft)
	if res.Counted == 0 {
		return
	}
	res.TTFT, res.TPOT = t.summarize(t.ttft, times, percentile), t.summarize(t.tpot, times, percentile)
	res.Latency = t.summarize(t.latency, times, percentile)
	if len(t.sloRatio) > 0 {
		share, _ := t.share(t.sloRatio, percentile/100)
		res.SLORatio = float64(quantile.Repeated(t.sloRatio, times, share)[0])
	}
	res.GoodShare = float64(t.good) / float64(res.Counted)
	res.CachedShare = float64(t.cached) / float64(t.input)
	res.HostShare = float64(t.hosted) / float64(t.input)
	t.Rates(res, over)
}

// Rates are what was served over a time.
func (t *Tally) Rates(res *Result, over units.Seconds) {
	res.Duration = over
	seconds := float64(over)
	res.RequestRate = float64(len(t.ttft)) / seconds
	res.InputRate = float64(t.input) / seconds
	res.OutputRate = float64(t.output) / seconds
	res.GoodRate = float64(t.good) / seconds
}
