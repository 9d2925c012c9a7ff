package ascend

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// result is a candidate at its best batch, for answers of two tokens.
func result(label string, o figures.Outcome) search.Result {
	return search.Result{Score: o.Throughput, Label: label, OK: true, Best: o, MostQPS: o, Load: formulas.Load{Output: 2}}
}

// prefill is a phase with a rate of requests per second.
func prefill(label string, qps float64) search.Result {
	return result(label, figures.Outcome{Concurrency: 1, Batch: 1, Figures: figures.Figures{Times: figures.Times{TTFT: units.Seconds(1 / qps)}}})
}

// decode is a phase with a rate of requests per second, for answers of two
// tokens: one comes from prefill.
func decode(label string, qps float64, batch int) search.Result {
	return result(label, figures.Outcome{Concurrency: batch, Batch: batch, Figures: figures.Figures{Times: figures.Times{TPOT: units.Seconds(float64(batch) / qps)}}})
}

func pointers(results []search.Result) []*search.Result {
	out := make([]*search.Result, len(results))
	for i := range results {
		out[i] = &results[i]
	}
	return out
}

// names lists the pairs as "P/D".
func names(pairs []Pair) []string {
	var out []string
	for _, p := range pairs {
		out = append(out, p.P.Label+"/"+p.D.Label)
	}
	return out
}

// TestPairsCollapse: of pairs whose balanced rate is the same to two decimals
// the best stays, and what no phase could carry is not there.
func TestPairsCollapse(t *testing.T) {
	p := []search.Result{prefill("p", 400)}
	d := []search.Result{decode("a", 100, 8), decode("b", 100.004, 8), decode("c", 100.001, 8), decode("slower", 99, 8)}
	got := Pairs(pointers(p), pointers(d))
	if want, have := []string{"p/b", "p/slower"}, names(got); !slices.Equal(want, have) {
		t.Fatalf("want %v, got %v", want, have)
	}
	if got := got[0]; math.Abs(got.Balanced-100.004) > 1e-9 || math.Abs(got.Ratio-0.25001) > 1e-9 {
		t.Errorf("want 100.004 requests/s at 0.25001, got %g at %g", got.Balanced, got.Ratio)
	}
	d[1].Best.TPOT = 0 // a row without a time
	if have := names(Pairs(pointers(p), pointers(d))); have[0] != "p/c" {
		t.Errorf("a row without a time is paired: %v", have)
	}
}

// TestPairsTie: prefill binds all pairs alike, so the fastest decode is first,
// in whatever order the rows come.
func TestPairsTie(t *testing.T) {
	d := []search.Result{decode("slow", 1, 8), decode("fast", 2, 32), decode("middle", 1.5, 16)}
	p := []search.Result{prefill("p", 0.5)}
	for range d {
		got := Pairs(pointers(p), pointers(d))
		if len(got) != 1 || got[0].D.Label != "fast" || got[0].Decode.Batch != 32 || got[0].DecodeQPS != 2 {
			t.Errorf("want only fast, got %v", names(got))
		}
		d = append(d[1:], d[0])
	}
}

// TestPairsAnswerOfOneToken: the one token of such answers comes from prefill.
// Decode is then counted as for two, so that its rate is finite.
func TestPairsAnswerOfOneToken(t *testing.T) {
	p, d := []search.Result{prefill("p", 400)}, []search.Result{decode("d", 100, 8)}
	for _, output := range []int{1, 2} {
		p[0].Load.Output = output
		if got := Pairs(pointers(p), pointers(d)); math.Abs(got[0].DecodeQPS-100) > 1e-9 {
			t.Errorf("%d tokens: want 100 requests/s, got %g", output, got[0].DecodeQPS)
		}
	}
}

// TestBestFilter: the rows of the vendor's web interface, through its limits.
func TestBestFilter(t *testing.T) {
	rows := []struct {
		throughput, ttft, tpot float64
		label                  string
	}{
		{500, 100, 20, "TP1"},
		{800, 120, 30, "TP1"},
		{1500, 200, 50, "TP2"},
		{1200, 180, 35, "TP2"},
		{900, 500, 10, "TP4"},
		{700, math.Inf(1), 12, "TP8"},
	}
	for _, c := range []struct {
		limits workload.Limits
		want   []string
	}{
		{workload.Limits{TPOT: millis(40), TTFT: millis(300)}, []string{"TP2 1200", "TP1 800"}},
		{workload.Limits{}, []string{"TP2 1500", "TP4 900", "TP1 800", "TP8 700"}},
		{workload.Limits{TPOT: millis(35), TTFT: millis(180)}, []string{"TP2 1200", "TP1 800"}}, // exactly at a limit keeps it
		{workload.Limits{TPOT: millis(1)}, nil},
	} {
		var results []search.Result
		for _, r := range rows {
			x := result(r.label, figures.Outcome{Figures: figures.Figures{Times: figures.Times{TTFT: millis(r.ttft), TPOT: millis(r.tpot)}, Throughput: r.throughput}})
			x.OK = verdict(&x.Best, c.limits) == search.Fits
			results = append(results, x)
		}
		var got []string
		for _, r := range search.Best(results, search.ByLabel) {
			got = append(got, fmt.Sprintf("%s %.0f", r.Label, r.Best.Throughput))
		}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.limits, d)
		}
	}
}

// TestNear: the candidate that is over its limits by the smallest factor, not
// by the fewest milliseconds; what does not fit in memory is out.
func TestNear(t *testing.T) {
	near := func(label string, ttft, tpot float64) search.Result {
		return search.Result{Label: label, Binds: search.OverTPOT, First: figures.Outcome{Concurrency: 1, Figures: figures.Figures{Times: figures.Times{TTFT: millis(ttft), TPOT: millis(tpot)}}}}
	}
	full := near("full", 1, 1)
	full.First.OOM = figures.Decode
	illegal := near("illegal", 1, 1)
	illegal.Binds = search.IllegalShape
	results := []search.Result{full, illegal, near("c", 900, 100), near("b", 2000, 60), near("a", 2000, 60)}
	l := search.Judge{Limits: workload.Limits{TTFT: millis(1000), TPOT: millis(20)}}
	if n := search.Near(results, &l); n == nil || n.Label != "a" || n.First.TTFT != millis(2000) || n.First.TPOT != millis(60) {
		t.Errorf("want a, got %+v", n)
	}
	if n := search.Near(results, &search.Judge{Limits: workload.Limits{TTFT: millis(500)}}); n == nil || n.Label != "c" {
		t.Errorf("TTFT alone: want c, got %+v", n)
	}
	six, five := near("six times the TTFT", 600, 20), near("five times the TPOT", 100, 100)
	if n := search.Near([]search.Result{six, five}, &search.Judge{Limits: workload.Limits{TTFT: millis(100), TPOT: millis(20)}}); n == nil || n.Label != five.Label {
		t.Errorf("want the smaller factor, got %+v", n)
	}
	if n := search.Near([]search.Result{full, illegal, {}}, &l); n != nil {
		t.Errorf("want none, got %s", n.Label)
	}
}

// anyRows draws phases with distinct labels and few distinct numbers, so that
// ties of every kind occur.
func anyRows(t *rapid.T, name string) []search.Result {
	few := rapid.IntRange(1, 3)
	out := make([]search.Result, rapid.IntRange(1, 5).Draw(t, name))
	for i := range out {
		out[i] = result(fmt.Sprintf("%s%d", name, i), figures.Outcome{Concurrency: few.Draw(t, "concurrency"), Batch: few.Draw(t, "batch"), Figures: figures.Figures{Times: figures.Times{TTFT: units.Seconds(few.Draw(t, "TTFT")), TPOT: units.Seconds(few.Draw(t, "TPOT"))}, Throughput: float64(few.Draw(t, "throughput"))}})
	}
	return out
}

// TestTotalOrder: comparing pairs is a total order, and neither it nor the order
// of rows depends on the order of the input.
func TestTotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, d := anyRows(t, "p"), anyRows(t, "d")
		var all []Pair
		for i := range p {
			for k := range d {
				all = append(all, Pair{formulas.Match(p[i].Best, d[k].Best, &p[i].Load), &p[i], &d[k]})
			}
		}
		pair := rapid.SampledFrom(all)
		a, b, c := pair.Draw(t, "a"), pair.Draw(t, "b"), pair.Draw(t, "c")
		if x, y := comparePairs(a, b), comparePairs(b, a); x != -y || (x == 0) != (a == b) {
			t.Fatalf("a to b is %d, b to a %d", x, y)
		}
		if comparePairs(a, b) < 0 && comparePairs(b, c) < 0 && comparePairs(a, c) >= 0 {
			t.Fatal("a before b before c, but not a before c")
		}
		shuffled := func(rows []search.Result) []*search.Result { return rapid.Permutation(pointers(rows)).Draw(t, "order") }
		want := names(Pairs(pointers(p), pointers(d)))
		if got := names(Pairs(shuffled(p), shuffled(d))); !slices.Equal(want, got) {
			t.Fatalf("pairs: want %v, got %v", want, got)
		}
		labels := func(rows []search.Result) (out []string) {
			for _, r := range search.Best(rows, search.ByLabel) {
				out = append(out, r.Label)
			}
			return out
		}
		if want, got := labels(p), labels(rapid.Permutation(p).Draw(t, "results")); !slices.Equal(want, got) {
			t.Fatalf("rows: want %v, got %v", want, got)
		}
		for i := range p {
			p[i].OK, p[i].First = false, p[i].Best
		}
		l := &search.Judge{Limits: workload.Limits{TTFT: 1, TPOT: 1}}
		if want, got := search.Near(p, l).Label, search.Near(rapid.Permutation(p).Draw(t, "near"), l).Label; want != got {
			t.Fatalf("nearest: want %s, got %s", want, got)
		}
	})
}

// TestBestOrder: rows come by throughput, each label once, with its best.
func TestBestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) search.Result {
			r := result(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "label"),
				figures.Outcome{Figures: figures.Figures{Throughput: float64(rapid.IntRange(1, 5).Draw(t, "throughput"))}})
			r.OK = rapid.Bool().Draw(t, "ok")
			return r
		}), 0, 8).Draw(t, "results")
		most := map[string]float64{}
		for _, r := range results {
			if r.OK {
				most[r.Label] = max(most[r.Label], r.Best.Throughput)
			}
		}
		rows := search.Best(results, search.ByLabel)
		if len(rows) != len(most) {
			t.Fatalf("want %d rows, got %d", len(most), len(rows))
		}
		for _, r := range rows {
			if r.Best.Throughput != most[r.Label] {
				t.Fatalf("%s: want %g, got %g", r.Label, most[r.Label], r.Best.Throughput)
			}
		}
		if !slices.IsSortedFunc(rows, func(a, b *search.Result) int {
			return cmp.Or(cmp.Compare(b.Best.Throughput, a.Best.Throughput), strings.Compare(a.Label, b.Label))
		}) {
			t.Fatal("not in order")
		}
	})
}
