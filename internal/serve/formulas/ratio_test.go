package formulas

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

func TestMatch(t *testing.T) {
	p, d := figures.Outcome{Concurrency: 10, Figures: figures.Figures{Times: figures.Times{TTFT: ms(100)}}}, figures.Outcome{Concurrency: 8, Figures: figures.Figures{Times: figures.Times{TPOT: ms(10)}}}
	for _, c := range []struct {
		output int
		decode float64
	}{{1024, 8 / (10.0 * 1023) * 1000}, {2, 800}, {1, 800}} {
		x := Match(p, d, &Load{Output: c.output})
		same(t, "prefill QPS", 100, x.PrefillQPS, 0)
		same(t, "decode QPS", c.decode, x.DecodeQPS, 0)
		same(t, "ratio", c.decode/100, x.Ratio, 0)
		same(t, "balanced", math.Min(100, c.decode), x.Balanced, 0)
	}
}

// TestMatchUnequal: most prompts of unequal length end long before the last, so
// that their mean time to first token says little of how many a phase sustains.
func TestMatchUnequal(t *testing.T) {
	p := figures.Outcome{Concurrency: 10, Figures: figures.Figures{Times: figures.Times{TTFT: ms(100)}}, Steps: figures.Steps{Makespan: ms(400)}}
	x := Match(p, figures.Outcome{Concurrency: 8, Figures: figures.Figures{Times: figures.Times{TPOT: ms(10)}}}, &Load{Output: 2, Distribution: &workload.Distribution{}})
	same(t, "prefill QPS", 25, x.PrefillQPS, 0)
	same(t, "ratio", 800.0/25, x.Ratio, 0)
}

// TestSplit: more devices carry more, and none is taken that carries nothing.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		p, d                    float64
		budget, prefill, decode int
		want                    Instances
	}{
		{86, 68.774, 27, 2, 4, Instances{4, 4}}, // of 24 devices
		{86, 68.774, 28, 2, 4, Instances{4, 5}},
		{86, 68.774, 64, 2, 4, Instances{9, 11}}, // 756.5; 10 and 11 carry no more
		{76, 68.774, 64, 2, 4, Instances{10, 11}},
		{4.55, 3.12, 64, 4, 8, Instances{4, 6}},
		{1, 1, 7, 4, 4, Instances{}},
		{1, 1, 8, 4, 4, Instances{1, 1}},
		{1, 1e9, 10, 1, 1, Instances{9, 1}},
		{1e9, 1, 10, 1, 1, Instances{1, 9}},
		{0.1, 0.3, 8, 1, 1, Instances{6, 2}}, // 3·0.1 is above 0.3 by rounding alone
	} {
		if got := Split(c.p, c.d, c.budget, c.prefill, c.decode); got != c.want {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
}

// TestSplitCarriesTheMost tries every pair: none inside the budget carries more,
// and none that carries as much takes fewer devices.
func TestSplitCarriesTheMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(rapid.Float64Range(0.01, 100), rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(1, 40).Draw(t, "eighths")) / 8 // with many ties
		}))
		p, d := rate.Draw(t, "prefill QPS"), rate.Draw(t, "decode QPS")
		budget := rapid.IntRange(0, 100).Draw(t, "budget")
		prefill, decode := rapid.IntRange(1, 12).Draw(t, "prefill"), rapid.IntRange(1, 12).Draw(t, "decode")
		got := Split(p, d, budget, prefill, decode)
		if used := got.Devices(prefill, decode); used > budget || (got == Instances{}) != (prefill+decode > budget) {
			t.Fatalf("%+v takes %d devices of %d", got, used, budget)
		}
		for n := 1; n <= budget; n++ {
			for k := 1; k*prefill+n*decode <= budget; k++ {
				i := Instances{k, n}
				most, qps := got.QPS(p, d), i.QPS(p, d)
				fewer := i.Devices(prefill, decode) < got.Devices(prefill, decode)
				if qps > most*(1+2*equalRates) || qps > most*(1-equalRates/2) && fewer {
					t.Fatalf("%+v carries %g, %+v carries %g", got, most, i, qps)
				}
			}
		}
	})
}

// off is how far a split is from the ratio.
func (i Instances) off(ratio float64) float64 {
	return math.Abs(float64(i.Prefill) - float64(i.Decode)*ratio)
}

// TestNearest: the vendor takes the first of the closest splits it looks at, we
// take the largest of all.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		ratio                   float64
		budget, prefill, decode int
		vendor, want            Instances
	}{
		{1, 8, 4, 2, Instances{1, 1}, Instances{1, 1}},
		{1.5, 16, 4, 2, Instances{3, 2}, Instances{3, 2}},
		{0.5, 16, 4, 2, Instances{1, 2}, Instances{2, 4}},
		{2.5, 32, 2, 4, Instances{5, 2}, Instances{5, 2}},
		{0.625, 32, 2, 4, Instances{2, 3}, Instances{3, 5}},
		{0.3, 64, 4, 4, Instances{3, 10}, Instances{3, 10}},
		{1.7, 64, 4, 8, Instances{5, 3}, Instances{5, 3}},
		// The vendor finds nothing where the closest whole number does not fit.
		{2, 16, 8, 8, Instances{}, Instances{1, 1}},
		// Half way between two whole numbers the larger is as close.
		{2.5, 4, 1, 1, Instances{2, 1}, Instances{3, 1}},
		{1, 7, 4, 4, Instances{}, Instances{}},
		{1e300, 10, 1, 1, Instances{}, Instances{9, 1}},
		{1e-300, 10, 1, 1, Instances{1, 1}, Instances{1, 9}},
	} {
		got := Nearest(c.ratio, c.budget, c.prefill, c.decode)
		if got != c.want {
			t.Errorf("ratio %g of %d devices, %d and %d each: want %+v, got %+v", c.ratio, c.budget, c.prefill, c.decode, c.want, got)
		}
		if c.vendor == (Instances{}) {
			continue
		}
		same(t, "distance", c.vendor.off(c.ratio), got.off(c.ratio), 0)
		if got.Prefill < c.vendor.Prefill || got.Decode < c.vendor.Decode {
			t.Errorf("ratio %g: the vendor has %+v, we %+v", c.ratio, c.vendor, got)
		}
	}
}

// TestNearestIsTheClosest: of all pairs of one or more instances each that fit the
// budget, Nearest returns the one for which |prefill − decode·ratio| is smallest;
// among those the one with the most decode instances; among those the one with
// the most prefill instances. The ratios are sixteenths, so that floats are
// exact; rounding in others is worth 1e-9 of an instance.
func TestNearestIsTheClosest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratio := float64(rapid.IntRange(0, 160).Draw(t, "sixteenths")) / 16
		budget := rapid.IntRange(0, 100).Draw(t, "budget")
		prefill, decode := rapid.IntRange(1, 12).Draw(t, "prefill"), rapid.IntRange(1, 12).Draw(t, "decode")
		var want Instances
		largest := Instances{} // in each kind apart, of all that are as close
		for d := 1; d <= budget; d++ {
			for p := 1; p*prefill+d*decode <= budget; p++ {
				i := Instances{p, d}
				switch {
				case want == Instances{} || i.off(ratio) < want.off(ratio):
					want, largest = i, i
				case i.off(ratio) == want.off(ratio):
					want = i // more decode instances, or as many and more prefill
					largest = Instances{max(largest.Prefill, p), max(largest.Decode, d)}
				}
			}
		}
		if got := Nearest(ratio, budget, prefill, decode); got != want {
			t.Errorf("want %+v, got %+v", want, got)
		}
		if want != largest { // so that it does not matter which is counted first
			t.Errorf("%+v is not the largest in both: %+v", want, largest)
		}
	})
}

// TestNearestAnyRatio: other ratios, to the rounding of floats.
func TestNearestAnyRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratio := rapid.Float64Range(0, 10).Draw(t, "ratio")
		budget := rapid.IntRange(2, 100).Draw(t, "budget")
		prefill, decode := rapid.IntRange(1, budget-1).Draw(t, "prefill"), rapid.IntRange(1, budget).Draw(t, "decode")
		got := Nearest(ratio, budget, prefill, decode)
		if got == (Instances{}) {
			if prefill+decode <= budget {
				t.Error("want one of each")
			}
			return
		}
		if used := got.Prefill*prefill + got.Decode*decode; used > budget {
			t.Errorf("%+v takes %d devices of %d", got, used, budget)
		}
		for d := 1; d <= budget; d++ {
			for p := 1; p*prefill+d*decode <= budget; p++ {
				if i := (Instances{p, d}); i.off(ratio) < got.off(ratio)-1e-8 {
					t.Errorf("%+v is closer than %+v", i, got)
				}
			}
		}
	})
}
