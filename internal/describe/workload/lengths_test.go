package workload

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// weighted has bins of 100 tokens with the given weights.
func weighted(weights ...float64) *Distribution {
	const width = 100
	d := &Distribution{}
	for i, w := range weights {
		d.Bins = append(d.Bins, Bin{i * width, (i + 1) * width, w})
	}
	return d
}

// TestDeal: vectors of the optimizer's own tests, and recomputed ones.
func TestDeal(t *testing.T) {
	type want struct{ tokens, samples int }
	for name, c := range map[string]struct {
		d    *Distribution
		n    int
		want []want
	}{
		"5:3:2 of 7": {weighted(.5, .3, .2), 7, []want{{50, 4}, {150, 2}, {250, 1}}},
		"3:1 of 8":   {weighted(3, 1), 8, []want{{50, 6}, {150, 2}}},
		// 2.4, 0.8, 0.8: both leftovers go to the larger fractions.
		"6:2:2 of 4": {weighted(.6, .2, .2), 4, []want{{50, 2}, {150, 1}, {250, 1}}},
		// Equal fractions: the longer prompt wins, the empty row goes.
		"1:1 of 1":  {weighted(1, 1), 1, []want{{150, 1}}},
		"1:1 of 0":  {weighted(1, 1), 0, nil},
		"builtin 2": {Builtin(), 2, []want{{250, 1}, {3250, 1}}},
		"builtin 8": {
			Builtin(), 8,
			[]want{{250, 2}, {750, 1}, {1750, 1}, {2250, 1}, {2750, 1}, {3250, 1}, {11000, 1}},
		},
	} {
		var got []want
		for _, r := range c.d.Deal(c.n, 0) {
			got = append(got, want{r.Tokens, r.Samples})
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(want{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestDealTokens(t *testing.T) {
	for n, want := range map[int]int{8: 22250, 100: 407250} {
		got := 0
		for _, r := range Builtin().Deal(n, 0) {
			got += r.Tokens * r.Samples
		}
		if got != want {
			t.Errorf("%d requests of the built-in distribution have %d tokens, want %d", n, got, want)
		}
	}
}

// TestMean: the optimizer's automatic budgets are 4, 2 and 1 times this mean.
func TestMean(t *testing.T) {
	two := &Distribution{Bins: []Bin{{0, 500, .6}, {500, 1500, .4}}}
	uneven := &Distribution{Bins: []Bin{{0, 100, 3}, {100, 300, 1}}}
	for _, c := range []struct {
		d       *Distribution
		hitRate float64
		want    int
	}{
		{two, 0, 550},
		{two, .5, 275},
		{uneven, 0, 87},
		{Builtin(), 0, 4230},
		{Builtin(), .5, 2115},
		{Builtin(), .3, 2961},
		{&Distribution{Bins: []Bin{{0, 1, 1}}}, 0, 1},
	} {
		if got := c.d.MeanEffective(c.hitRate); got != c.want {
			t.Errorf("%d bins, hit rate %g: mean %d, want %d", len(c.d.Bins), c.hitRate, got, c.want)
		}
	}
}

func TestEffective(t *testing.T) {
	for _, c := range []struct {
		tokens  int
		hitRate float64
		want    int
	}{{10, 0, 10}, {10, .5, 5}, {11, .5, 6}, {10, 1, 1}, {0, 0, 1}, {1000, .25, 750}} {
		if got := Effective(c.tokens, c.hitRate); got != c.want {
			t.Errorf("Effective(%d, %g) = %d, want %d", c.tokens, c.hitRate, got, c.want)
		}
	}
}

// anyDistribution draws bins with gaps, in any order.
func anyDistribution(t *rapid.T) *Distribution {
	d := &Distribution{}
	end := 0
	for range rapid.IntRange(1, 40).Draw(t, "bins") {
		low := end + rapid.IntRange(0, 100).Draw(t, "gap")
		end = low + rapid.IntRange(1, 10000).Draw(t, "width")
		d.Bins = append(d.Bins, Bin{low, end, rapid.Float64Range(1e-6, 1e6).Draw(t, "weight")})
	}
	d.Bins = rapid.Permutation(d.Bins).Draw(t, "order")
	return d
}

// TestDealLaws: all requests are dealt, each bin has its share to within one,
// rows keep the order of the bins, and the same question has the same answer.
func TestDealLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDistribution(t)
		n := rapid.IntRange(0, 100_000).Draw(t, "n")
		hitRate := rapid.Float64Range(0, 1).Draw(t, "hit rate")
		dealt := d.Deal(n, hitRate)
		if diff := cmp.Diff(dealt, d.Deal(n, hitRate)); diff != "" {
			t.Fatalf("a second deal differs\n%s", diff)
		}
		sum, next := 0, 0
		for _, row := range d.Rows(hitRate) {
			samples := 0
			// The midpoints of bins that do not overlap differ.
			if next < len(dealt) && dealt[next].Tokens == row.Tokens {
				samples = dealt[next].Samples
				row.Samples = samples
				if dealt[next] != row || samples < 1 {
					t.Errorf("row %+v, want %+v with samples", dealt[next], row)
				}
				next++
			}
			if share := row.Ratio * float64(n); math.Abs(share-float64(samples)) > 1+1e-9 {
				t.Errorf("%d requests for a share of %g", samples, share)
			}
			sum += samples
		}
		if sum != n || next != len(dealt) {
			t.Errorf("dealt %d of %d requests, %d of %d rows in order", sum, n, next, len(dealt))
		}
	})
}

// TestRowLaws: ratios add up to one, and scaling all weights changes nothing
// but the last bits.
func TestRowLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDistribution(t)
		sum := 0.0
		for i, r := range d.Rows(0) {
			sum += r.Ratio
			if b := d.Bins[i]; r.Tokens < b.Min || r.Tokens >= b.Max || r.Query != max(1, r.Tokens) {
				t.Errorf("row %+v of bin %+v", r, b)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("ratios add up to %g", sum)
		}
		if with, without := d.MeanEffective(.5), d.MeanEffective(0); with > without {
			t.Errorf("mean %d with a prefix cache, %d without", with, without)
		}
	})
}

func ExampleDistribution_Deal() {
	for _, r := range Builtin().Deal(4, 0) {
		fmt.Println(r.Samples, "×", r.Tokens)
	}
	// Output:
	// 1 × 250
	// 1 × 2250
	// 1 × 2750
	// 1 × 3250
}
