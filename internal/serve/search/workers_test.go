package search_test

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// machine is a small cluster whose step times grow with the batch and shrink with the
// devices of a worker.
type machine struct{ fixed, each, token, lost float64 }

func drawMachine(t *rapid.T) machine {
	x := func(name string, low, high float64) float64 { return rapid.Float64Range(low, high).Draw(t, name) }
	return machine{x("fixed", 0.001, 0.02), x("each", 1e-6, 5e-4), x("token", 1e-7, 2e-5), x("lost", 0, 0.002)}
}

// pool is so many workers.
func (m machine) pool(l *parallel.Layout, n, batch int) sim.Pool {
	share := 1 / float64(l.TP)
	return sim.Pool{
		Replicas: n, Engine: server.Engine{MaxSequences: batch, TokenBudget: 2048, Blocks: 1 << 12, BlockTokens: 16},
		Stepper: server.StepFunc(func(b server.Batch) units.Seconds {
			lost := m.lost * float64(l.TP-1)
			return units.Seconds(m.fixed*share + lost + share*(m.each*float64(b.Decode)+m.token*float64(b.PrefillTokens)))
		}),
	}
}

func (m machine) bench(input, output int) *search.Bench {
	lengths := func(n int) traffic.Lengths { return traffic.Lengths{Tokens: n, Low: 1} }
	return &search.Bench{
		Input: input, Output: output, Seed: 1,
		Closed: func(n int) traffic.Client { return traffic.Benchmark(n, lengths(input), lengths(output)) },
		Open: func(rate float64) traffic.Client {
			return traffic.OpenLoop{Rate: rate, Requests: 200, Input: lengths(input), Output: lengths(output)}
		},
		Build: func(c search.Candidate, batch int) (search.Built, error) {
			n := max(1, c.Copies)
			if c.X == 0 {
				return search.Built{Config: sim.Config{Workers: m.pool(&c.Layout, n, batch)}}, nil
			}
			decode := m.pool(&c.Layout, n*c.Y, batch)
			return search.Built{Config: sim.Config{Workers: m.pool(&c.Prefill, n*c.X, 1), Decode: &decode}}, nil
		},
	}
}

// question is a search on a machine.
type question struct {
	machine       machine
	input, output int
	limits        workload.Limits
	devices       int
	tp            []int
	disaggregated bool
	bench         *search.Bench // of questions before; nil for none
}

func drawQuestion(t *rapid.T) question {
	q := question{
		machine: drawMachine(t), input: rapid.IntRange(10, 2000).Draw(t, "input"), output: rapid.IntRange(8, 40).Draw(t, "output"),
		devices: rapid.IntRange(2, 12).Draw(t, "devices"), disaggregated: rapid.Bool().Draw(t, "disaggregated"),
		tp: rapid.SliceOfNDistinct(rapid.SampledFrom([]int{1, 2, 4}), 1, 3, rapid.ID).Draw(t, "TP"),
	}
	limit := func(name string, low, high float64) units.Seconds {
		if rapid.IntRange(0, 2).Draw(t, name+" limited") == 0 {
			return 0
		}
		return units.Seconds(rapid.Float64Range(low, high).Draw(t, name))
	}
	q.limits = workload.Limits{TTFT: limit("TTFT", 0.01, 0.5), TPOT: limit("TPOT", 0.001, 0.05), Latency: limit("latency", 0.02, 2)}
	return q
}

// search is the question as a search: its evaluator and its space.
func (q *question) search() (*search.Simulated, *search.Workers) {
	s := &search.Simulated{
		Bench: cmp.Or(q.bench, q.machine.bench(q.input, q.output)), Judge: search.Judge{Limits: q.limits}, Devices: q.devices,
		Range: search.Range{Min: 1, Max: 16, Given: true}, Label: func(c *search.Candidate) string { return c.Label(false) },
	}
	w := &search.Workers{Packing: search.Packing{Devices: q.devices, MaxPrefill: 3, MaxDecode: 3}}
	for _, n := range q.tp {
		w.Decode = append(w.Decode, parallel.Layout{Devices: n, TP: n, DP: 1, PP: 1})
	}
	if q.disaggregated {
		w.Prefill = w.Decode
	}
	return s, w
}

// rows searches for some rows.
func (q *question) rows(t *rapid.T, n, workers int) []*search.Result {
	s, w := q.search()
	x := search.Search{Evaluator: s, Group: search.ByLayout, Near: true, Rows: n, Workers: workers}
	results, err := x.Run(t.Context(), w.Branches(t.Context(), s, s))
	if err != nil {
		t.Fatal(err)
	}
	return search.Waiting(results, func(r *search.Result) any { return search.ByLayout(&r.Candidate) })
}

// best is the most throughput.
func (q *question) best(t *rapid.T) float64 {
	if all := q.rows(t, 1, 1); len(all) > 0 {
		return all[0].Best.Throughput
	}
	return 0
}

// What a climb may give away: one per cent for fewer requests in flight, and what loads
// not tried could have brought. Requests that begin and end together make throughput
// ripple with the load, by more in the small deployments here than in real ones.
const (
	givenAway = 0.975
	rippled   = 1 - 1./8
)

// TestWorkersAgainstBruteForce: no deployment carries more than what is found, at any load
// up to the first that misses the limits, and no unit of a pair more than its bound. Larger ones may meet them again, where prompts
// keep the batch small; nobody would run them.
func TestWorkersAgainstBruteForce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		q.devices, q.tp = min(q.devices, 4), q.tp[:1]
		s, w := q.search()
		most := 0.0
		for _, b := range w.Branches(t.Context(), s, s) {
			all := []search.Branch{b}
			if b.Expand != nil {
				all = b.Expand()
			}
			for _, b := range all {
				c := b.Candidate
				for n := 1; n <= 16*c.UnitRanks(); n++ {
					x, err := s.Bench.Run(t.Context(), c, search.Load{Requests: n * c.Copies}, c.Batch(n), search.Aim{})
					if err != nil {
						t.Fatal(err)
					}
					if !q.limits.Meets(x.TTFT, x.TPOT, x.Latency) {
						break
					}
					if c.X > 0 && x.Throughput > b.Bound*(1+1e-9) {
						t.Fatalf("%+v carries %g with %d requests in flight, its bound is %g", c, x.Throughput, n, b.Bound)
					}
					most = max(most, x.Throughput)
				}
			}
		}
		got := q.best(t)
		if got < rippled*most {
			t.Fatalf("found %g, the best is %g", got, most)
		}
	})
}

// TestRowsOfWorkers: the rows shown change no row, nor do the workers that evaluate.
func TestRowsOfWorkers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		all := q.rows(t, 0, 1)
		for n := 1; n <= len(all); n++ {
			got := q.rows(t, n, 1+n%3)
			if len(got) < n {
				t.Fatalf("%d rows of %d", len(got), n)
			}
			for i := range n {
				a, b := got[i], all[i]
				if a.Candidate != b.Candidate || a.Best != b.Best || a.Binds != b.Binds {
					t.Fatalf("row %d of %d is %+v, of all %+v", i+1, n, a.Best, b.Best)
				}
			}
		}
	})
}

// TestOtherLimits: what was tried under other limits changes no row.
func TestOtherLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		fresh := q.rows(t, 0, 1)
		q.bench = q.machine.bench(q.input, q.output)
		limits := q.limits
		for _, f := range []units.Seconds{0.8, 1.25, 3} {
			q.limits = workload.Limits{TTFT: f * limits.TTFT, TPOT: f * limits.TPOT, Latency: f * limits.Latency}
			q.rows(t, 0, 1)
		}
		q.limits = limits
		for i, r := range q.rows(t, 0, 1) {
			if w := fresh[i]; r.Candidate != w.Candidate || r.Best != w.Best || r.Binds != w.Binds || !reflect.DeepEqual(r.Points, w.Points) {
				t.Fatalf("row %d is %+v after other questions, %+v without", i+1, r.Best, w.Best)
			}
		}
	})
}

// TestMoreNeverLoses: wider limits, more devices and more layouts never carry less, but
// for what a climb may give away.
func TestMoreNeverLoses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		before := q.best(t)
		what := rapid.SampledFrom([]string{"limits", "no limit", "devices", "layouts"}).Draw(t, "more")
		switch what {
		case "limits":
			f := units.Seconds(rapid.Float64Range(1, 3).Draw(t, "wider"))
			q.limits = workload.Limits{TTFT: f * q.limits.TTFT, TPOT: f * q.limits.TPOT, Latency: f * q.limits.Latency}
		case "no limit":
			q.limits.TTFT = 0
		case "devices":
			q.devices += rapid.IntRange(1, 4).Draw(t, "devices more")
		case "layouts":
			q.tp = []int{1, 2, 4}
		}
		if after := q.best(t); after < givenAway*before {
			t.Fatalf("%g, with more %s %g", before, what, after)
		}
	})
}

// sized searches for what carries the load of e, and fails if looking for one row finds another first one.
func (q *question) sized(t *rapid.T, e *search.Sized) []*search.Result {
	q.devices = 0
	s, w := q.search()
	w.Packing.MaxDevices = 8
	e.Simulated, e.MaxDevices = s, 1<<15
	rows := func(n int) []*search.Result {
		x := search.Search{Evaluator: e, Group: search.ByLayout, Rows: n, Workers: 2}
		results, err := x.Run(t.Context(), w.Branches(t.Context(), s, e))
		if err != nil {
			t.Fatal(err)
		}
		return search.Earliest(results, func(r *search.Result) any { return search.ByLayout(&r.Candidate) })
	}
	all, one := rows(0), rows(1)
	if len(all) > 0 && (one[0].Candidate != all[0].Candidate || one[0].Score != all[0].Score) {
		t.Fatalf("one row finds %+v, all %+v", one[0].Candidate, all[0].Candidate)
	}
	return all
}

// TestSized: what is found carries the rate within the limits, and no fewer devices of its
// unit would by the capacity of one copy.
func TestSized(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		e := &search.Sized{Rate: rapid.Float64Range(1, 500).Draw(t, "rate")}
		all := q.sized(t, e)
		if len(all) == 0 {
			return
		}
		best := all[0]
		fewest := math.MaxInt
		for _, r := range all {
			fewest = min(fewest, r.Candidate.Devices())
		}
		if best.Candidate.Devices() != fewest {
			t.Fatalf("%d devices, some need %d", best.Candidate.Devices(), fewest)
		}
		if carries := best.Best.Throughput / float64(q.output); carries < e.Rate*(1-1e-9) {
			t.Fatalf("%g requests/s for %g", carries, e.Rate)
		}
		if !q.limits.Meets(best.Best.TTFT, best.Best.TPOT, best.Best.Latency) {
			t.Fatalf("%+v misses %+v", best.Best, q.limits)
		}
	})
}

// TestSizedInFlight: what is found holds the requests in flight within the limits, and the number of rows
// does not change it.
func TestSizedInFlight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		e := &search.Sized{Requests: rapid.IntRange(1, 200).Draw(t, "requests")}
		all := q.sized(t, e)
		if len(all) == 0 {
			return
		}
		if best := &all[0].Best; !q.limits.Meets(best.TTFT, best.TPOT, best.Latency) || best.Concurrency != e.Requests {
			t.Fatalf("%+v misses %+v", best, q.limits)
		}
	})
}

// TestSweep: the trade-off goes from fast to much, whatever the limits.
func TestSweep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		s, w := q.search()
		points, err := w.Sweep(t.Context(), s, 2)
		if err != nil {
			t.Fatal(err)
		}
		fits := slices.ContainsFunc(q.tp, func(n int) bool { return n <= q.devices && (!q.disaggregated || 2*n <= q.devices) })
		if (len(points) > 0) != fits && !q.disaggregated {
			t.Fatalf("%d points", len(points))
		}
		for i := 1; i < len(points); i++ {
			if a, b := points[i-1].Points[0].Batch, points[i].Points[0].Batch; b < a {
				t.Fatalf("batches %d and %d", a, b)
			}
		}
	})
}
