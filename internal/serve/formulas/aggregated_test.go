package formulas

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

func wantCalls(t *testing.T, want, got []call) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(call{})); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
}

// TestWaves: prompts that fit a step. Vectors of the vendor's tests and guide.
func TestWaves(t *testing.T) {
	perRequest := func(x float64) clock { return func(n, _, _ int) float64 { return x * float64(n) } }
	for _, c := range []struct {
		name    string
		load    Load
		batch   int
		prefill clock
		decode  float64
		want    numbers
		wave    int // requests
		calls   []call
	}{
		{
			// The vendor's test decodes three requests although five are in flight;
			// here there is one number, and the decode time is the same.
			name: "two waves and a rest",
			load: Load{Input: 10, Output: 5, Budget: 20}, batch: 5,
			prefill: func(n, _, _ int) float64 { return map[int]float64{2: 10, 1: 4}[n] }, decode: 2,
			want: numbers{16.8, 5.36, 932.8358209}, wave: 2,
			calls: []call{{figures.Prefill, 2, 10, 10}, {figures.Prefill, 1, 10, 10}, {figures.Decode, 5, 1, 13}},
		},
		{
			name: "one wave over ranks",
			load: Load{Input: 10, Output: 5, Budget: 20, DP: 4}, batch: 2,
			prefill: always(10), decode: 2,
			want: numbers{10, 4, 2000}, wave: 8,
			calls: []call{{figures.Prefill, 8, 10, 10}, {figures.Decode, 8, 1, 13}},
		},
		{
			name: "three waves",
			load: Load{Input: 2048, Output: 128, Budget: 8192, DP: 3}, batch: 12,
			prefill: always(100), decode: 10,
			want: numbers{200, 11.5625, 3113.5135}, wave: 12,
			calls: []call{{figures.Prefill, 12, 2048, 2048}, {figures.Decode, 36, 1, 2048 + 64 + 1}},
		},
		{
			name: "sixteen waves",
			load: Load{Input: 3500, Output: 1500, Budget: 14000, DP: 2}, batch: 64,
			prefill: perRequest(50), decode: 20,
			want: numbers{3400, 22.26667, 5748.50299}, wave: 8,
			calls: []call{{figures.Prefill, 8, 3500, 3500}, {figures.Decode, 128, 1, 3500 + 750 + 1}},
		},
		{
			name: "cache and stages",
			load: Load{Input: 1000, HitRate: 0.25, Output: 100, Budget: 4000, DP: 4, PP: 2}, batch: 10,
			prefill: perRequest(5), decode: 8,
			want: numbers{250.375, 10.50375, 7616.32750}, wave: 21,
			calls: []call{{figures.Prefill, 21, 750, 750}, {figures.Prefill, 17, 750, 750}, {figures.Decode, 80, 1, 1051}},
		},
		{
			name: "only a rest",
			load: Load{Input: 10, Output: 5, Budget: 100}, batch: 3,
			prefill: always(6), decode: 2,
			want: numbers{6, 3.2, 937.5}, wave: 3,
			calls: []call{{figures.Prefill, 3, 10, 10}, {figures.Decode, 3, 1, 13}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := plain(c.load)
			e := fake{prefill: c.prefill, decode: always(c.decode)}
			o := Aggregated(&e, &l, c.batch)
			c.want.check(t, &o)
			wantCalls(t, c.calls, e.calls)
			if o.PrefillBatch != c.wave || o.Chunks != 1 || o.Batch != c.batch || o.Concurrency != c.batch*l.DP*l.PP {
				t.Errorf("batch %d, concurrency %d, %d per wave (want %d), %d chunks", o.Batch, o.Concurrency, o.PrefillBatch, c.wave, o.Chunks)
			}
		})
	}
}

// TestWaveMemory: the fullest step counts; after one that does not fit nothing
// is evaluated.
func TestWaveMemory(t *testing.T) {
	for _, c := range []struct {
		name                string
		full, rest, decode  float64 // memory left
		wantOOM             figures.Phase
		wantLeft, wantSteps int
	}{
		{"the rest is fullest", 8, 6, 7, "", 6, 3},
		{"exactly full", 0, 0, 0, "", 0, 3},
		{"full wave", -1, 6, 7, figures.Prefill, -1, 1},
		{"rest", 8, -2, 7, figures.Prefill, -2, 2},
		{"decode", 8, 6, -3, figures.Decode, -3, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := plain(Load{Input: 10, Output: 5, Budget: 20})
			e := fake{prefill: always(10), decode: always(2)}
			e.left = func(x call) float64 {
				switch {
				case x.phase == figures.Decode:
					return c.decode
				case x.requests == 2:
					return c.full
				}
				return c.rest
			}
			o := Aggregated(&e, &l, 5)
			if o.OOM != c.wantOOM || o.Use.Available != units.Bytes(c.wantLeft) || len(e.calls) != c.wantSteps {
				t.Errorf("want %q with %d left after %d steps, got %q with %g after %d",
					c.wantOOM, c.wantLeft, c.wantSteps, o.OOM, float64(o.Use.Available), len(e.calls))
			}
			if c.wantOOM != "" && (o.Throughput != 0 || o.TPOT != 0) {
				t.Errorf("a step that does not fit yields %g tokens/s", o.Throughput)
			}
		})
	}
}

// TestDistribution: prompts of 50 and 150 tokens, two each, in steps of 200.
func TestDistribution(t *testing.T) {
	l := plain(Load{
		Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 100, Weight: 1}, {Min: 100, Max: 200, Weight: 1}}},
		Output:       5, Budget: 200,
	})
	e := fake{packed: []float64{10, 10}, decode: always(2)}
	o := Aggregated(&e, &l, 4)
	numbers{15, 5, 800}.check(t, &o)
	want := [][]workload.Piece{
		{{Requests: 2, Query: 50, Seq: 50, Last: true}, {Requests: 1, Query: 100, Seq: 100}},
		{{Requests: 1, Query: 50, Seq: 150, Last: true}, {Requests: 1, Query: 150, Seq: 150, Last: true}},
	}
	if d := cmp.Diff(want, e.packs); d != "" {
		t.Errorf("packed steps (-want +got):\n%s", d)
	}
	wantCalls(t, []call{{figures.Decode, 4, 1, 100 + 2 + 1}}, e.calls)
	if o.Chunks != 2 || o.PrefillBatch != 4 {
		t.Errorf("%d chunks of %d requests", o.Chunks, o.PrefillBatch)
	}
	e = fake{packed: []float64{10, 10}, decode: always(2), full: func(i int) bool { return i == 0 }}
	if o = Aggregated(&e, &l, 4); o.OOM != figures.Prefill || len(e.packs) != 1 {
		t.Errorf("want to stop at the first step, got %q after %d", o.OOM, len(e.packs))
	}
	e = fake{decode: always(2), left: func(call) float64 { return -1 }}
	if o = Aggregated(&e, &l, 4); o.OOM != figures.Decode || o.Use.Available != -1 || len(e.packs) != 0 {
		t.Errorf("want no prompt packed where decode does not fit, got %q after %d", o.OOM, len(e.packs))
	}
}

// TestBoundsWeighByTime: 10 ms of a quarter each and 30 ms of memory.
func TestBoundsWeighByTime(t *testing.T) {
	l := plain(Load{
		Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 200, Weight: 1}}},
		Output:       5, Budget: 100,
	})
	quarter := ms(2.5)
	e := fake{
		packed: []float64{10, 30}, decode: always(2),
		bounds: []step.Bounds{{Memory: quarter, Comm: quarter, Cube: quarter, Vector: quarter}, {Memory: ms(30)}},
	}
	o := Aggregated(&e, &l, 2)
	b := o.PrefillBound.Times(100 / o.PrefillTime)
	same(t, "memory", 81.25, float64(b.Memory), 0)
	for _, x := range []units.Seconds{b.Comm, b.Cube, b.Vector} {
		same(t, "others", 6.25, float64(x), 0)
	}
}

// TestBounds: what bounds the steps behind a row. Requests stand for time.
func TestBounds(t *testing.T) {
	e := fake{prefill: always(1), decode: always(1)}
	e.bound = func(c call) step.Bounds { return step.Bounds{Memory: units.Seconds(c.requests)} }
	load := func(budget int) *Load {
		l := plain(Load{Input: 10, Output: 5, Budget: budget})
		return &l
	}
	for _, c := range []struct {
		name            string
		outcome         figures.Outcome
		prefill, decode units.Seconds
	}{
		{"full wave", Aggregated(&e, load(20), 5), 2, 5},
		{"only a rest", Aggregated(&e, load(100), 5), 5, 5},
		{"first chunk and first of the slowest", Aggregated(&e, load(7), 5), 1, 2},
		{"sum over waves", PrefillOnly(&e, load(20), 5), 2 + 2 + 1, 0},
		{"sum over chunks", PrefillOnly(&e, load(7), 5), 5 + 2 + 2 + 1, 0},
		{"decode", DecodeOnly(&e, load(20), 5), 0, 5},
	} {
		if p, d := c.outcome.PrefillBound.Memory, c.outcome.DecodeBound.Memory; p != c.prefill || d != c.decode {
			t.Errorf("%s: want %g and %g, got %g and %g", c.name, float64(c.prefill), float64(c.decode), float64(p), float64(d))
		}
	}
}

// TestDocumentedAccounting: the tables printed in the Ascend guide, from a time
// when its program still computed what the guide writes. TTFT and TPOT have two
// decimals, so they only say in which interval the throughput lies.
func TestDocumentedAccounting(t *testing.T) {
	const half = 0.005
	for _, c := range []struct {
		throughput, ttft, tpot float64
		concurrency            int
	}{
		{2888.45, 16032.05, 49.90, 175},
		{2013.49, 22512.86, 49.56, 130},
		{1140.23, 25817.73, 49.44, 76},
		{549.89, 14214.54, 48.72, 32},
	} {
		l := Load{Output: 1500, Accounting: Documented}
		at := func(shift float64) float64 {
			return l.throughput(&figures.Outcome{Concurrency: c.concurrency, Figures: figures.Figures{Times: figures.Times{TTFT: ms(c.ttft + shift), TPOT: ms(c.tpot + shift)}}})
		}
		if low, high := at(half), at(-half); c.throughput < low-half || c.throughput > high+half {
			t.Errorf("want %.2f, got between %.2f and %.2f", c.throughput, low, high)
		}
	}
}

// anyClock draws times that grow with every argument.
func anyClock(t *rapid.T, name string) clock {
	coefficient := func(most float64) float64 { return rapid.Float64Range(0, most).Draw(t, name) }
	fixed, perRequest := rapid.Float64Range(0.1, 10).Draw(t, name), coefficient(2)
	perToken, perContext := coefficient(0.1), coefficient(0.01)
	return func(n, q, s int) float64 {
		return fixed + float64(n)*(perRequest+perToken*float64(q)+perContext*float64(s))
	}
}

// TestWavesOneByOne: the formula for waves is what running them gives.
func TestWavesOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := plain(Load{
			Input: rapid.IntRange(1, 100).Draw(t, "input"), HitRate: rapid.Float64Range(0, 0.99).Draw(t, "hit rate"),
			Output: rapid.IntRange(1, 50).Draw(t, "output"), Fold: rapid.Float64Range(1, 3).Draw(t, "fold"),
			DP: rapid.IntRange(1, 4).Draw(t, "DP"), PP: rapid.IntRange(1, 3).Draw(t, "PP"),
		})
		l.Budget = l.Input * rapid.IntRange(1, 6).Draw(t, "prompts")
		e := fake{prefill: anyClock(t, "prefill"), decode: anyClock(t, "decode")}
		batch := rapid.IntRange(1, 60).Draw(t, "batch")
		o := Aggregated(&e, &l, batch)

		query := workload.Effective(l.Input, l.HitRate)
		wave := l.Budget * l.DP / query
		now, sum := 0.0, 0.0
		for left := o.Concurrency; left > 0; {
			n := min(wave, left)
			now += e.prefill(n, query, query)
			sum += float64(n) * now
			left -= n
		}
		ttft := sum / float64(o.Concurrency)
		tpot := ttft/float64(l.Output) + e.decode(o.Concurrency, 1, l.DecodeSeq())/l.Fold
		same(t, "TTFT", ttft, o.TTFT.Ms(), 0)
		same(t, "TPOT", tpot, o.TPOT.Ms(), 0)
		same(t, "makespan", now, o.Makespan.Ms(), 0)
		same(t, "steady", 1000*float64(o.Concurrency)/tpot, o.Throughput, 0)

		l.Accounting = Documented
		d := Aggregated(&e, &l, batch)
		same(t, "TTFT", o.TTFT.Ms(), d.TTFT.Ms(), 0)
		same(t, "TPOT", o.TPOT.Ms(), d.TPOT.Ms(), 0)
		same(t, "documented", 1000*float64(l.Output*o.Concurrency)/(ttft+tpot*float64(l.Output)), d.Throughput, 0)
	})
}

// TestPackedOneByOne: every request of a distribution ends once, when its last
// piece is done, after the steps before it.
func TestPackedOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d workload.Distribution
		for i := range rapid.IntRange(1, 4).Draw(t, "bins") {
			d.Bins = append(d.Bins, workload.Bin{Min: 50 * i, Max: 50 * (i + 1), Weight: rapid.Float64Range(0.1, 1).Draw(t, "weight")})
		}
		l := plain(Load{
			Distribution: &d, Output: 5, Budget: rapid.IntRange(10, 400).Draw(t, "budget"),
			HitRate: rapid.Float64Range(0, 0.9).Draw(t, "hit rate"), DP: rapid.IntRange(1, 3).Draw(t, "DP"),
			ServingCost: ms(rapid.Float64Range(0, 5).Draw(t, "cost")),
		})
		batch := rapid.IntRange(1, 30).Draw(t, "batch")
		e := fake{packed: slices.Repeat([]float64{rapid.Float64Range(0.1, 9).Draw(t, "time")}, 1000)}
		o := PrefillOnly(&e, &l, batch)

		// Token by token: request i ends in the step of its last token.
		computed, sum, prompts := 0, 0.0, 0
		for _, r := range d.Deal(batch, l.HitRate) {
			for range r.Samples {
				computed += r.Query
				prompts += r.Tokens
				sum += l.ServingCost.Ms() + e.packed[0]*float64((computed+l.Budget-1)/l.Budget)
			}
		}
		steps := (computed + l.Budget - 1) / l.Budget
		makespan := l.ServingCost.Ms() + e.packed[0]*float64(steps)
		same(t, "TTFT", sum/float64(batch), o.TTFT.Ms(), 0)
		same(t, "makespan", makespan, o.Makespan.Ms(), 0)
		same(t, "tokens/s", 1000*float64(prompts*l.DP)/makespan, o.Throughput, 0)
		if o.Chunks != steps || o.Concurrency != batch*l.DP {
			t.Errorf("%d requests in %d steps, want %d in %d", o.Concurrency, o.Chunks, batch*l.DP, steps)
		}
	})
}
