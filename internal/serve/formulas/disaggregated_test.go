package formulas

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

func TestPrefillOnly(t *testing.T) {
	l := plain(Load{Input: 10, Budget: 4, DP: 4, ServingCost: ms(2)})
	e := fake{prefill: always(1)}
	o := PrefillOnly(&e, &l, 1)
	numbers{5, 0, 8000}.check(t, &o)
	wantCalls(t, []call{{figures.Prefill, 4, 4, 4}, {figures.Prefill, 4, 4, 8}, {figures.Prefill, 4, 2, 10}}, e.calls)
	if o.Chunks != 3 {
		t.Errorf("want 3 chunks, got %d", o.Chunks)
	}
}

// TestPrefillOnlyCountsCachedTokens: throughput is of prompts as sent.
func TestPrefillOnlyCountsCachedTokens(t *testing.T) {
	l := plain(Load{Input: 100, HitRate: 0.5, Budget: 400})
	e := fake{prefill: always(10)}
	o := PrefillOnly(&e, &l, 2)
	numbers{10, 0, 20_000}.check(t, &o)
	wantCalls(t, []call{{figures.Prefill, 2, 50, 50}}, e.calls)
}

func TestPrefillOnlyDistribution(t *testing.T) {
	l := plain(Load{
		Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 500, Weight: 3}, {Min: 500, Max: 1500, Weight: 2}}},
		Budget:       1500, DP: 4, ServingCost: ms(7),
	})
	e := fake{packed: []float64{10, 20}}
	o := PrefillOnly(&e, &l, 5)
	numbers{25, 0, 11_000 / 0.037}.check(t, &o)
	want := [][]workload.Piece{
		{{Requests: 3, Query: 250, Seq: 250, Last: true}, {Requests: 1, Query: 750, Seq: 750}},
		{{Requests: 1, Query: 250, Seq: 1000, Last: true}, {Requests: 1, Query: 1000, Seq: 1000, Last: true}},
	}
	if d := cmp.Diff(want, e.packs); d != "" {
		t.Errorf("packed steps (-want +got):\n%s", d)
	}
	e = fake{packed: []float64{10, 20}, full: func(i int) bool { return i == 1 }}
	if o = PrefillOnly(&e, &l, 5); o.OOM != figures.Prefill || o.Throughput != 0 {
		t.Errorf("want no throughput where a step does not fit, got %q and %g", o.OOM, o.Throughput)
	}
}

func TestDecodeOnly(t *testing.T) {
	for _, c := range []struct {
		name        string
		time        float64
		load        Load
		want        numbers
		concurrency int
	}{
		{"cost", 2, Load{Input: 10, Output: 4, ServingCost: ms(3)}, numbers{0, 5, 600}, 3},
		{"MTP 2", 9, Load{Input: 10, Output: 4, DecodeQuery: 3, Fold: 1.8}, numbers{0, 5, 600}, 3},
		// The cost of a step is shared by the tokens it yields, like its time.
		{"both", 9, Load{Input: 10, Output: 4, DecodeQuery: 2, Fold: 2, ServingCost: ms(1)}, numbers{0, 5, 600}, 3},
		{"ranks and stages", 6, Load{Input: 10, Output: 4, DP: 4, PP: 2}, numbers{0, 6, 4000}, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := plain(c.load)
			e := fake{decode: always(c.time)}
			o := DecodeOnly(&e, &l, 3)
			c.want.check(t, &o)
			wantCalls(t, []call{{figures.Decode, c.concurrency, l.DecodeQuery, 12 + l.DecodeQuery}}, e.calls)
		})
	}
}

// TestPhaseMemory: a phase that does not fit has no throughput.
func TestPhaseMemory(t *testing.T) {
	l := plain(Load{Input: 10, Output: 4, Budget: 4})
	e := fake{prefill: always(1), decode: always(1)}
	e.left = func(c call) float64 { return 9 - float64(c.seq) }
	p, d := PrefillOnly(&e, &l, 2), DecodeOnly(&e, &l, 2)
	if p.OOM != figures.Prefill || p.Throughput != 0 || p.Use.Available != -1 {
		t.Errorf("prefill: %q, %g tokens/s, %v left", p.OOM, p.Throughput, p.Use.Available)
	}
	if d.OOM != figures.Decode || d.Throughput != 0 || d.Use.Available != -4 {
		t.Errorf("decode: %q, %g tokens/s, %v left", d.OOM, d.Throughput, d.Use.Available)
	}
}

func TestQPS(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome figures.Outcome
		output  int
		want    float64
	}{
		{"prefill", figures.Outcome{Concurrency: 22, Figures: figures.Figures{Times: figures.Times{TTFT: ms(110)}}}, 4, 200},
		{"decode", figures.Outcome{Concurrency: 5, Figures: figures.Figures{Times: figures.Times{TPOT: ms(2.5)}}}, 4, 500},
		{"another prefill", figures.Outcome{Concurrency: 10, Figures: figures.Figures{Times: figures.Times{TTFT: ms(50)}}}, 4, 200},
		{"both times", figures.Outcome{Concurrency: 10, Figures: figures.Figures{Times: figures.Times{TTFT: ms(50), TPOT: ms(5)}}}, 4, 0},
		{"no time", figures.Outcome{Concurrency: 10}, 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, "QPS", c.want, (&Load{Output: c.output}).QPS(&c.outcome), 0)
		})
	}
}

// TestPrefillOneByOne: the formula over equal waves is what running them gives.
func TestPrefillOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := plain(Load{
			Input: rapid.IntRange(1, 100).Draw(t, "input"), HitRate: rapid.Float64Range(0, 0.99).Draw(t, "hit rate"),
			Budget: rapid.IntRange(1, 300).Draw(t, "budget"), ServingCost: ms(rapid.Float64Range(0, 20).Draw(t, "cost")),
			DP: rapid.IntRange(1, 4).Draw(t, "DP"), PP: rapid.IntRange(1, 3).Draw(t, "PP"),
		})
		e := fake{prefill: anyClock(t, "prefill")}
		o := PrefillOnly(&e, &l, rapid.IntRange(1, 60).Draw(t, "batch"))

		now, sum, chunks := l.ServingCost.Ms(), 0.0, 0
		length := workload.Effective(l.Input, l.HitRate)
		for done := 0; done < length; chunks++ {
			query := min(l.Budget, length-done)
			done += query
			for left := o.Concurrency; left > 0; {
				n := min(max(1, l.Budget*l.DP/query), left)
				left -= n
				now += e.prefill(n, query, done)
				if done == length {
					sum += float64(n) * now
				}
			}
		}
		same(t, "TTFT", sum/float64(o.Concurrency), o.TTFT.Ms(), 0)
		same(t, "makespan", now, o.Makespan.Ms(), 0)
		same(t, "sustained", o.Throughput/float64(l.Input), Sustained(&o), 0)
		same(t, "tokens/s", 1000*float64(l.Input*o.Concurrency)/now, o.Throughput, 0)
		if o.Chunks != chunks {
			t.Errorf("want %d chunks, got %d", chunks, o.Chunks)
		}
	})
}
