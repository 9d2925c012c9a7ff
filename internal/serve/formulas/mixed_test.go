package formulas

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct{ ready, waiting, query, budget, prefill, decode int }{
		{512, 1, 4000, 4000, 1, 512},
		{700, 1, 4000, 4000, 0, 700},
		{600, 1, 4000, 4000, 1, 600}, // the slack is just enough
		{601, 1, 4000, 4000, 0, 601},
		{0, 10, 1024, 8192, 9, 0},
		{10_000, 10, 1024, 8192, 1, 8192}, // decode has no slack
		{100, 3, 500, 1000, 2, 100},
		{7, 0, 1000, 1000, 0, 7}, // nothing waits
		{5, 3, 0, 1000, 0, 5},
	} {
		p, d := decide(c.ready, c.waiting, c.query, c.budget)
		if p != c.prefill || d != c.decode {
			t.Errorf("%+v: got (%d, %d)", c, p, d)
		}
	}
}

// TestSlack: the budget with its slack is a product of floats, rounded down;
// 100 · 1.15 is a little less than 115.
func TestSlack(t *testing.T) {
	for budget, want := range map[int]int{
		3: 3, 4: 4, 7: 8, 100: 114, 200: 229,
		3500: 4024, 4000: 4600, 4096: 4710, 8192: 9420, 14000: 16099,
	} {
		if p, _ := decide(0, math.MaxInt, 1, budget); p != want {
			t.Errorf("budget %d: want %d, got %d", budget, want, p)
		}
	}
}

// naive is the mixed scheduler as the vendor's reading describes it, one
// request and one step at a time, in milliseconds.
type naive struct {
	steps      []string // "prefill,decode" requests
	ttft, tpot float64
	makespan   float64
}

func simulate(e *fake, l *Load, requests int) naive {
	type request struct {
		chunk, left int
		first       float64
	}
	budget := l.Budget * l.DP
	chunks := workload.Chunks(workload.Effective(l.Input, l.HitRate), l.Budget)
	waiting, ready := make([]request, requests), []request{}
	var out naive
	for finished := 0; finished < requests; {
		query, leading := budget, 0
		if len(waiting) > 0 {
			query = chunks[waiting[0].chunk].Query
			for leading < len(waiting) && waiting[leading].chunk == waiting[0].chunk {
				leading++
			}
		}
		decode := min(len(ready), budget)
		prefill := min(leading, max(0, int(float64(budget)*1.15)-decode)/query)
		out.steps = append(out.steps, fmt.Sprintf("%d,%d", prefill, decode))

		time := 0.0
		if prefill > 0 {
			time = e.prefill(prefill, query, chunks[waiting[0].chunk].Seq)
		}
		if decode > 0 {
			time = max(time, e.decode(decode, l.DecodeQuery, l.DecodeSeq())/l.Fold)
		}
		out.makespan += time
		now := out.makespan

		taken := waiting[:prefill]
		waiting = waiting[prefill:]
		var fresh []request
		for _, r := range taken {
			r.chunk++
			switch {
			case r.chunk < len(chunks):
				waiting = append(waiting, r)
				continue
			case l.Output == 1:
				finished++
			default:
				fresh = append(fresh, request{left: l.Output - 1, first: now})
			}
			out.ttft += now / float64(requests)
		}
		going := ready[:decode]
		ready = append(ready[decode:], fresh...)
		for _, r := range going {
			if r.left--; r.left > 0 {
				ready = append(ready, r)
				continue
			}
			finished++
			out.tpot += (now - r.first) / float64(l.Output-1) / float64(requests)
		}
	}
	return out
}

// TestMixed: prompts longer than the budget.
func TestMixed(t *testing.T) {
	for _, c := range []struct {
		name            string
		load            Load
		batch           int
		prefill, decode clock
		want            numbers
		steps           string // prefill,decode of each; "" = not known
		count           int    // of steps; 0 = not known
	}{
		{
			name: "two chunks",
			load: Load{Input: 5, Output: 2, Budget: 3}, batch: 2,
			prefill: always(1), decode: always(1),
			want: numbers{3.5, 1, 800}, steps: "1,0 1,0 1,0 1,1 0,1", count: 5,
		},
		{
			// The vendor's test gives the steps; two ranks lead to the same ones.
			name: "prefill apart from decode",
			load: Load{Input: 5, Output: 3, Budget: 3, DP: 2}, batch: 1,
			prefill: func(_, q, _ int) float64 { return map[int]float64{3: 10, 2: 20}[q] }, decode: always(5),
			want: numbers{30, 5, 150}, steps: "2,0 2,0 0,2 0,2", count: 4,
		},
		{
			name: "three chunks",
			load: Load{Input: 10, Output: 3, Budget: 4}, batch: 2,
			prefill: always(1), decode: always(1),
			want: numbers{5, 1, 857.142857}, count: 7,
		},
		{
			name: "two ranks",
			load: Load{Input: 10, Output: 4, Budget: 4, DP: 2}, batch: 4,
			prefill: always(1), decode: always(1),
			want:  numbers{9.875, 1, 2133.3333},
			steps: "2,0 2,0 2,0 2,0 2,0 2,0 2,0 2,0 4,0 2,4 1,6 1,7 0,4 0,2 0,1", count: 15,
		},
		{
			name: "times that differ",
			load: Load{Input: 10, Output: 4, Budget: 4}, batch: 3,
			prefill: func(p, q, s int) float64 { return float64(q*p) + 0.1*float64(s) },
			decode:  func(d, _, _ int) float64 { return 2 + 0.5*float64(d) },
			want:    numbers{33.6, 3.2777778, 266.0753880},
		},
		{
			name: "long prompts",
			load: Load{Input: 9000, Output: 8, Budget: 4096}, batch: 6,
			prefill: func(p, q, _ int) float64 { return float64(p*q) / 100 },
			decode:  func(d, _, _ int) float64 { return 5 + float64(d) },
			want:    numbers{533.5866667, 10.7619048, 78.1860829}, count: 21,
		},
		{
			name: "one token",
			load: Load{Input: 5, Output: 1, Budget: 3}, batch: 2,
			prefill: always(1), decode: always(1),
			want: numbers{3.5, 0, 500}, steps: "1,0 1,0 1,0 1,0", count: 4,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := plain(c.load)
			e := fake{prefill: c.prefill, decode: c.decode}
			o := Aggregated(&e, &l, c.batch)
			c.want.check(t, &o)
			n := simulate(&e, &l, o.Concurrency)
			if got := strings.Join(n.steps, " "); c.steps != "" && got != c.steps {
				t.Errorf("steps: want %s, got %s", c.steps, got)
			}
			if c.count > 0 && len(n.steps) != c.count {
				t.Errorf("want %d steps, got %d", c.count, len(n.steps))
			}
			compareNaive(t, &n, &l, &o)
		})
	}
}

func compareNaive(t rapid.TB, n *naive, l *Load, o *figures.Outcome) {
	t.Helper()
	same(t, "TTFT", n.ttft, o.TTFT.Ms(), 0)
	same(t, "TPOT", n.tpot, o.TPOT.Ms(), 0)
	same(t, "makespan", n.makespan, o.Makespan.Ms(), 0)
	tokens, time := float64(l.Output*o.Concurrency), n.makespan
	if l.Accounting == Documented {
		time = n.ttft + n.tpot*float64(l.Output)
	}
	same(t, "tokens/s", 1000*tokens/time, o.Throughput, 0)
}

// TestMixedChunks: what the outcome says about the steps behind it.
func TestMixedChunks(t *testing.T) {
	l := plain(Load{Input: 10000, Output: 8, Budget: 4096})
	e := fake{prefill: always(4), decode: always(1)}
	o := Aggregated(&e, &l, 1)
	wantCalls(t, []call{
		{figures.Prefill, 1, 4096, 4096},
		{figures.Prefill, 1, 4096, 8192},
		{figures.Prefill, 1, 1808, 10000},
		{figures.Decode, 1, 1, 10005},
	}, e.calls) // equal steps are asked for once
	if o.Chunks != 3 || o.PrefillBatch != 1 || o.PrefillTime != ms(4) || o.DecodeTime != ms(1) {
		t.Errorf("%d chunks, %d requests, prefill %v, decode %v", o.Chunks, o.PrefillBatch, o.PrefillTime, o.DecodeTime)
	}
}

// TestMixedMemory: the simulation ends at the first step that does not fit.
func TestMixedMemory(t *testing.T) {
	for _, c := range []struct {
		phase figures.Phase
		calls int // until then
	}{{figures.Prefill, 2}, {figures.Decode, 3}} {
		l := plain(Load{Input: 5, Output: 3, Budget: 3, DP: 2})
		e := fake{prefill: always(1), decode: always(1)}
		e.left = func(x call) float64 {
			if x.phase == c.phase && x.seq >= 5 {
				return -2
			}
			return 3
		}
		o := Aggregated(&e, &l, 1)
		if o.OOM != c.phase || o.Throughput != 0 || o.Use.Available != -2 || len(e.calls) != c.calls {
			t.Errorf("%s: want no room after %d steps, got %q with %v left after %d",
				c.phase, c.calls, o.OOM, o.Use.Available, len(e.calls))
		}
	}
}

// chunked draws a load whose prompts are longer than the budget.
func chunked(t *rapid.T) (*fake, *Load, int) {
	l := plain(Load{
		Input:  rapid.IntRange(2, 60).Draw(t, "input"),
		Output: rapid.IntRange(1, 40).Draw(t, "output"), Fold: rapid.Float64Range(1, 3).Draw(t, "fold"),
		DP: rapid.IntRange(1, 3).Draw(t, "DP"), PP: rapid.IntRange(1, 2).Draw(t, "PP"),
		DecodeQuery: rapid.IntRange(1, 3).Draw(t, "decode query"),
		Accounting:  rapid.SampledFrom([]Accounting{Steady, Documented}).Draw(t, "accounting"),
	})
	l.Budget = rapid.IntRange(1, l.Input-1).Draw(t, "budget")
	e := &fake{prefill: anyClock(t, "prefill"), decode: anyClock(t, "decode")}
	return e, &l, rapid.IntRange(1, 60).Draw(t, "batch")
}

// TestMixedStepByStep: groups of requests and jumps over equal steps give what
// single requests and single steps give.
func TestMixedStepByStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, l, batch := chunked(t)
		o := Aggregated(e, l, batch)
		n := simulate(e, l, o.Concurrency)
		compareNaive(t, &n, l, &o)
	})
}

// TestMixedLaws: no request is lost, the clock goes on, and no answer comes
// sooner than its own steps take.
func TestMixedLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, l, batch := chunked(t)
		all := l.concurrency(batch)
		chunks := workload.Chunks(l.Input, l.Budget)
		m := newMixer(e, l, figures.Outcome{Concurrency: all}, chunks)
		for m.finished < all {
			was := m.clock
			if !m.step() {
				t.Fatalf("a step does not fit: %s", m.out.OOM)
			}
			if m.clock <= was {
				t.Fatalf("the clock goes from %v to %v", was, m.clock)
			}
			if now := m.todo + m.done + m.ready.total + m.finished; now != all {
				t.Fatalf("%d requests of %d", now, all)
			}
		}
		o := m.result()
		if o.TTFT > o.Makespan*(1+rounding) {
			t.Errorf("TTFT %v, makespan %v", o.TTFT, o.Makespan)
		}
		// The clocks grow with the requests, so that one request is the fastest
		// step there is; every request takes a step per chunk and per token.
		prefill := units.Seconds(0)
		for _, c := range chunks {
			prefill += ms(e.prefill(1, c.Query, c.Seq))
		}
		token := ms(e.decode(1, l.DecodeQuery, l.DecodeSeq()) / l.Fold)
		if o.TTFT < prefill*(1-rounding) {
			t.Errorf("TTFT %v, one request alone takes %v", o.TTFT, prefill)
		}
		if l.Output > 1 && o.TPOT < token*(1-rounding) {
			t.Errorf("TPOT %v, one request alone takes %v", o.TPOT, token)
		}
		// And a step decodes no more than the budget.
		steps := units.Seconds(math.Ceil(float64(all*(l.Output-1)) / float64(l.Budget*l.DP)))
		if least := max(prefill+token*units.Seconds(l.Output-1), token*steps); o.Makespan < least*(1-rounding) {
			t.Errorf("makespan %v, want %v or more", o.Makespan, least)
		}
	})
}

// TestMixedEvents: equal steps are run at once, however many tokens an answer has.
func TestMixedEvents(t *testing.T) {
	for _, c := range []struct {
		name     string
		load     Load
		requests int
		most     int // events
	}{
		{"decode lets no prompt in", Load{Input: 3500, Output: 1_000_000, Budget: 900}, 900, 3000},
		{"many chunks", Load{Input: 100_000, Output: 2, Budget: 64}, 1, 1600},
		{"many requests", Load{Input: 100_000, Output: 2, Budget: 64}, 64, 3300},
		{"several ranks", Load{Input: 2000, Output: 100, Budget: 700, DP: 4}, 2800, 2000},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := plain(c.load)
			e := &fake{prefill: always(1), decode: always(1)}
			m := newMixer(e, &l, figures.Outcome{Concurrency: c.requests}, workload.Chunks(l.Input, l.Budget))
			events := 0
			for ; m.finished < c.requests && events <= c.most; events++ {
				m.step()
			}
			if m.finished != c.requests {
				t.Errorf("%d of %d requests have ended after %d events", m.finished, c.requests, events)
			}
		})
	}
}

// TestMixedCache: all requests of a batch hold their cache, also those that wait.
func TestMixedCache(t *testing.T) {
	l := plain(Load{Input: 100, Output: 20, Budget: 60})
	e := &fake{prefill: always(1), decode: always(1), cached: 2}
	e.left = func(call) float64 { return 100_000 }
	o := Aggregated(e, &l, 40)
	if want := units.Bytes(40 * 111 * 2); o.OOM != "" || o.Use.KV != want || o.Use.Available != 100_000-want {
		t.Errorf("want %v of cache, got %v and %v left (%s)", want, o.Use.KV, o.Use.Available, o.OOM)
	}
	if o = Aggregated(e, &l, 451); o.OOM == "" || len(e.calls) > 100 {
		t.Errorf("451 requests take %v of cache: want no room, and at once", o.Use.KV)
	}
	// A phase that only computes prompts holds them between two chunks.
	if o = PrefillOnly(e, &l, 40); o.Use.KV != 40*100*2 {
		t.Errorf("prefill: %v of cache", o.Use.KV)
	}
	l.Budget = 100
	if o = PrefillOnly(e, &l, 40); o.Use.KV != 0 { // the fake's steps hold none of their own
		t.Errorf("prefill in one chunk: %v of cache", o.Use.KV)
	}
}

// anyQueue is a queue of requests one by one.
type anyQueue []int

func (q *anyQueue) serve(n, tokens int) (ended int) {
	going := (*q)[:n:n]
	*q = (*q)[n:]
	for _, left := range going {
		if left -= tokens; left > 0 {
			*q = append(*q, left)
		} else {
			ended++
		}
	}
	return ended
}

// TestQueue: cohorts are served as single requests are.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want anyQueue
		for range rapid.IntRange(1, 400).Draw(t, "moves") {
			n, left := rapid.IntRange(0, 3).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "left")
			var ended, wantEnded int
			switch move := rapid.IntRange(0, 3).Draw(t, "move"); {
			case move == 0 && !q.mixed && left < q.longest():
				continue // would not be in order
			case move == 0:
				q.push(cohort{n, left}, true)
				for range n {
					want = append(anyQueue{left}, want...)
				}
			case move == 1:
				q.mixed = true
				q.push(cohort{n, left}, false)
				for range n {
					want = append(want, left)
				}
			case q.total == 0:
			case move == 2:
				tokens := rapid.IntRange(1, slices.Min(want)).Draw(t, "tokens")
				if got := q.shortest(); got != slices.Min(want) {
					t.Fatalf("want %d tokens to go, got %d", slices.Min(want), got)
				}
				ended, wantEnded = q.all(tokens), want.serve(len(want), tokens)
			default:
				n := rapid.IntRange(1, q.total).Draw(t, "served")
				ended, wantEnded = q.some(n), want.serve(n, 1)
			}
			if ended != wantEnded || q.total != len(want) {
				t.Fatalf("want %d ended and %d left, got %d and %d", wantEnded, len(want), ended, q.total)
			}
			var got anyQueue
			for i := range q.size {
				for range q.at(i).n {
					got = append(got, q.at(i).left-q.age)
				}
			}
			if !slices.Equal(want, got) {
				t.Fatalf("want %v, got %v", want, got)
			}
		}
	})
}

// longest is the tokens to go of the first cohort, the most where all are in order.
func (q *queue) longest() int {
	if q.size == 0 {
		return 0
	}
	return q.at(0).left - q.age
}
