package search_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/soak"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// sizing is a question for the fewest devices that carry a rate.
type sizing struct {
	question

	rate       float64
	low        float64 // shortest length as a share of the longest
	variation  float64 // of the times between requests
	percentile float64
	together   bool
}

func drawSizing(t *rapid.T) sizing {
	s := sizing{
		question: drawQuestion(t), rate: rapid.Float64Range(1, 500).Draw(t, "rate"), variation: 1, low: rapid.SampledFrom([]float64{0.2, 0.6, 1}).Draw(t, "low"),
		percentile: rapid.SampledFrom([]float64{0, 50, 90, 95}).Draw(t, "percentile"),
	}
	s.devices, s.tp = 0, s.tp[:min(2, len(s.tp))]
	return s
}

// sized is the evaluator of the question, and its space.
func (q *sizing) sized() (*search.Sized, *search.Workers) {
	s, w := q.search()
	lengths := func(n int) traffic.Lengths { return traffic.Lengths{Tokens: n, Low: q.low} }
	q.output -= q.output % 5 // means are whole
	q.output = max(10, q.output)
	s.Bench.Open = func(rate float64) traffic.Client {
		c := traffic.OpenLoop{Rate: rate, Requests: 200, Input: lengths(q.input), Output: lengths(q.output)}
		if q.variation != 1 {
			c.Process, c.Variation = traffic.Gamma, q.variation
		}
		return c
	}
	s.Bench.Output = int(math.Round(float64(q.output) * (1 + q.low) / 2))
	s.Bench.Input = int(math.Round(float64(q.input) * (1 + q.low) / 2))
	s.Bench.Varied, s.Bench.Percentile, s.Judge.Percentile = q.low != 1, q.percentile, q.percentile
	if q.together {
		s.Judge.Together, s.Bench.Together = true, q.limits
	}
	w.Packing.MaxDevices = 8
	return &search.Sized{Simulated: s, Rate: q.rate, MaxDevices: 1 << 15}, w
}

// fewest is the answer, nil if there is none.
func (q *sizing) fewest(t *rapid.T) *search.Result {
	e, w := q.sized()
	x := search.Search{Evaluator: e, Group: search.ByLayout, Rows: 1, Workers: 2}
	results, err := x.Run(t.Context(), w.Branches(t.Context(), e.Simulated, e))
	if err != nil {
		t.Fatal(err)
	}
	all := search.Best(results, func(r *search.Result) any { return search.ByLayout(&r.Candidate) })
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// needs is how many devices are needed; infinitely many where none meet the limits.
func (q *sizing) needs(t *rapid.T) float64 {
	if r := q.fewest(t); r != nil {
		return float64(r.Candidate.Devices())
	}
	return math.Inf(1)
}

// byChance is how much more of a rate a deployment may be found to carry by chance: the sampling errors of two trials.
const byChance = 1.05

// TestHarderNeedsMore: the devices that are needed do not fall from p50 to p90, p95 and p99, with the rate, with burstiness or with
// tighter limits, nor if requests are to meet all limits at once; but for what chance explains.
func TestHarderNeedsMore(t *testing.T) {
	t.Parallel()
	soak.Few(t, 60, func(t *rapid.T) {
		easy := drawSizing(t)
		what := rapid.SampledFrom([]string{"percentile", "rate", "burstiness", "limits", "together"}).Draw(t, "harder")
		hard := easy
		switch what {
		case "percentile":
			all := []float64{50, 90, 95, 99}
			i := rapid.IntRange(0, len(all)-2).Draw(t, "from")
			easy.percentile, hard.percentile = all[i], all[rapid.IntRange(i+1, len(all)-1).Draw(t, "to")]
		case "rate":
			hard.rate *= rapid.Float64Range(1, 4).Draw(t, "more")
		case "burstiness":
			easy.variation = rapid.Float64Range(0.5, 2).Draw(t, "variation")
			hard.variation = easy.variation * rapid.Float64Range(1.2, 2).Draw(t, "burstier")
		case "limits":
			f := units.Seconds(rapid.Float64Range(0.4, 1).Draw(t, "tighter"))
			hard.limits = workload.Limits{TTFT: f * easy.limits.TTFT, TPOT: f * easy.limits.TPOT, Latency: f * easy.limits.Latency}
		case "together":
			easy.percentile = max(50, easy.percentile)
			hard.percentile, hard.together = easy.percentile, true
		}
		easy.rate /= byChance
		if a, b := easy.needs(t), hard.needs(t); b < a {
			t.Fatalf("%g devices, with more %s %g", a, what, b)
		}
	})
}

// TestPercentileOfMeans: a deployment found for the mean that meets the limits at p95 is an answer for p95, so that no more devices are
// needed, nor fewer; but for what chance explains.
func TestPercentileOfMeans(t *testing.T) {
	t.Parallel()
	soak.Few(t, 30, func(t *rapid.T) {
		mean := drawSizing(t)
		mean.percentile = 0
		found := mean.fewest(t)
		if found == nil {
			return
		}
		p95 := mean
		p95.percentile = 95
		e, _ := p95.sized()
		unit, copies := found.Candidate.Unit(), found.Candidate.Copies
		r, err := e.Bench.Run(t.Context(), unit, search.Load{Rate: p95.rate / float64(copies)}, found.Best.Batch, search.Aim{})
		if err != nil {
			t.Fatal(err)
		}
		devices := float64(found.Candidate.Devices())
		if n := p95.needs(t); n < devices {
			mean.rate /= byChance
			if least := mean.needs(t); n < least {
				t.Fatalf("%g devices for p95, %g for the mean", n, least)
			}
		}
		p95.rate /= byChance
		if n := p95.needs(t); n > devices && mean.limits.Meets(r.TTFT, r.TPOT, r.Latency) && !r.Overloaded {
			t.Fatalf("%g devices for p95, but %g found for the mean meet its limits", n, devices)
		}
	})
}

// TestTwice: twice the rate needs at most twice the devices, and on twice the copies of a unit has the same times.
func TestTwice(t *testing.T) {
	t.Parallel()
	soak.Few(t, 40, func(t *rapid.T) {
		once := drawSizing(t)
		twice := once
		twice.rate *= 2
		a, b := once.fewest(t), twice.fewest(t)
		if a == nil {
			return
		}
		if b == nil || b.Candidate.Devices() > 2*a.Candidate.Devices() {
			t.Fatalf("%+v, twice the rate %+v", a.Candidate, b)
		}
		if c := b.Candidate; c.Unit() == a.Candidate.Unit() && c.Copies == 2*a.Candidate.Copies {
			x, y := &a.Best, &b.Best
			if x.TTFT != y.TTFT || x.TPOT != y.TPOT || x.Latency != y.Latency || math.Abs(2*x.Throughput-y.Throughput) > 1e-9*y.Throughput {
				t.Fatalf("%+v, twice the rate %+v", x, y)
			}
		}
	})
}

// TestGoodputOfOneLimit: a share of requests within one limit is that percentile of its time.
func TestGoodputOfOneLimit(t *testing.T) {
	t.Parallel()
	soak.Few(t, 40, func(t *rapid.T) {
		q := drawSizing(t)
		q.percentile = max(50, q.percentile)
		one := rapid.SampledFrom([]workload.Limits{{TTFT: q.limits.TTFT}, {TPOT: q.limits.TPOT}, {Latency: q.limits.Latency}}).Draw(t, "limit")
		q.limits = one
		each := q.fewest(t)
		q.together = true
		all := q.fewest(t)
		if (each == nil) != (all == nil) || each != nil && (each.Candidate != all.Candidate || each.Best.TTFT != all.Best.TTFT || each.Best.TPOT != all.Best.TPOT) {
			t.Fatalf("%+v, together %+v", each, all)
		}
	})
}
