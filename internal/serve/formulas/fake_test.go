package formulas

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// call is a step the engine was asked for; Packed steps are kept apart.
type call struct {
	phase                figures.Phase
	requests, query, seq int
}

// clock is the time of a step in milliseconds.
type clock func(requests, query, seq int) float64

// fake is an engine whose times are given. It notes what it is asked for.
type fake struct {
	prefill, decode clock
	packed          []float64              // ms of each packed step, in turn
	bounds          []step.Bounds          // of each packed step, in turn
	left            func(call) float64     // memory that remains; nil = always 1
	calls           []call                 // of Prefill and Decode
	packs           [][]workload.Piece     // of Packed
	full            func(index int) bool   // whether a packed step does not fit
	bound           func(call) step.Bounds // nil = none
	cached          units.Bytes            // of a token
}

var _ Engine = (*fake)(nil)

func (f *fake) Prefill(requests, query, seq int) Step {
	return f.step(call{figures.Prefill, requests, query, seq}, f.prefill)
}

func (f *fake) Decode(requests, query, seq int) Step {
	return f.step(call{figures.Decode, requests, query, seq}, f.decode)
}

func (f *fake) Cached(requests, seq int) units.Bytes { return units.Bytes(requests*seq) * f.cached }

func (f *fake) step(c call, time clock) Step {
	f.calls = append(f.calls, c)
	// Weights are never zero: an outcome without weights has seen no step.
	s := Step{Time: ms(time(c.requests, c.query, c.seq)), Use: memory.Use{Weights: 1, Available: 1}}
	if f.left != nil {
		s.Use.Available = units.Bytes(f.left(c))
	}
	if f.bound != nil {
		s.Bound = f.bound(c)
	}
	return s
}

func (f *fake) Packed(pieces []workload.Piece) Step {
	i := len(f.packs)
	f.packs = append(f.packs, pieces)
	s := Step{Time: ms(f.packed[i]), Use: memory.Use{Weights: 1, Available: 1}}
	if f.full != nil && f.full(i) {
		s.Use.Available = -1
	}
	if f.bounds != nil {
		s.Bound = f.bounds[i]
	}
	return s
}

// always is a clock that stands still.
func always(x float64) clock { return func(int, int, int) float64 { return x } }

func ms(x float64) units.Seconds { return units.Seconds(x) * units.Millisecond }

// plain fills what a load without parallelism and speculation leaves open.
func plain(l Load) Load {
	for _, p := range []*int{&l.DP, &l.PP, &l.DecodeQuery} {
		if *p == 0 {
			*p = 1
		}
	}
	if l.Fold == 0 {
		l.Fold = 1
	}
	if l.Accounting == "" {
		l.Accounting = Steady
	}
	return l
}

// rounding is how far two ways to the same number may differ.
const rounding = 1e-9

// same fails the test if got differs from want by more than rounding, or by
// more than half a unit of the digits that a vector was printed with.
func same(t rapid.TB, what string, want, got, unit float64) {
	t.Helper()
	if !(math.Abs(got-want) <= math.Max(rounding*math.Abs(want), unit/2)) {
		t.Errorf("%s: want %.12g, got %.12g", what, want, got)
	}
}

// numbers are what a vector says of an outcome: milliseconds and tokens/s.
type numbers struct{ ttft, tpot, throughput float64 }

// check compares with a vector, which has 5 to 10 digits.
func (want numbers) check(t *testing.T, got *figures.Outcome) {
	t.Helper()
	const digits = 1e-5
	if got.OOM != "" {
		t.Errorf("does not fit in %s", got.OOM)
	}
	same(t, "TTFT", want.ttft, got.TTFT.Ms(), digits)
	same(t, "TPOT", want.tpot, got.TPOT.Ms(), digits)
	same(t, "tokens/s", want.throughput, got.Throughput, 10*digits)
}
