package search_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// book is an evaluator that looks scores up. Bounds are at or above them, and those below
// a floor are dropped.
type book struct {
	scores, bounds map[search.Candidate]float64 // no score is no outcome within the limits
}

func (b *book) Bound(c *search.Candidate) float64 { return b.bounds[*c] }

// Explore knows the score, or that it is below the target.
func (b *book) Explore(_ context.Context, c search.Candidate, target float64) (most, least float64) {
	score, ok := b.scores[c]
	switch {
	case b.bounds[c] < target || ok && score < target:
		return math.Nextafter(target, math.Inf(-1)), math.Inf(-1)
	case !ok:
		return math.Inf(-1), math.Inf(-1)
	}
	return math.Inf(1), score
}

func (b *book) Evaluate(_ context.Context, c search.Candidate, floor float64) search.Result {
	score, ok := b.scores[c]
	if b.bounds[c] < floor || ok && score < floor {
		most := b.bounds[c]
		if ok {
			most = score
		}
		return search.Result{Candidate: c, Dropped: true, Most: most, Has: math.Inf(-1)}
	}
	return search.Result{Candidate: c, Label: c.Label(false), OK: ok, Score: score, Best: figures.Outcome{Figures: figures.Figures{Throughput: score}}}
}

// drawBook draws candidates in a few groups.
func drawBook(t *rapid.T) (*book, []search.Candidate) {
	b := &book{map[search.Candidate]float64{}, map[search.Candidate]float64{}}
	var all []search.Candidate
	for range rapid.IntRange(0, 30).Draw(t, "candidates") {
		tp := rapid.IntRange(1, 6).Draw(t, "group")
		c := search.Candidate{Layout: parallel.Layout{Devices: tp, TP: tp}, Y: 1, Copies: len(all) + 1}
		score := float64(rapid.IntRange(1, 40).Draw(t, "score"))
		b.bounds[c] = score * rapid.Float64Range(1, 2).Draw(t, "loose")
		if rapid.IntRange(0, 4).Draw(t, "fits") > 0 {
			b.scores[c] = score
		}
		all = append(all, c)
	}
	return b, all
}

// rows are the scores of the best of each group, the highest first, and the candidates
// that have them.
func rows(results []search.Result) (scores []float64, all []search.Candidate) {
	for _, r := range search.Best(results, func(r *search.Result) any { return search.ByLayout(&r.Candidate) }) {
		scores, all = append(scores, r.Score), append(all, r.Candidate)
	}
	return scores, all
}

// TestRowsChangeNothing: the best rows are those of brute force, whatever their number
// and that of the workers, in branches of any shape.
func TestRowsChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, all := drawBook(t)
		best := map[any]float64{}
		for c, score := range b.scores {
			best[c.Layout] = max(best[c.Layout], score)
		}
		var want []float64
		for _, score := range best {
			want = append(want, score)
		}
		slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
		part := rapid.IntRange(1, 10).Draw(t, "branches")
		for n := range len(want) + 2 {
			var before []search.Candidate
			for _, workers := range []int{1, 3} {
				s := search.Search{Evaluator: b, Group: search.ByLayout, Rows: n, Workers: workers}
				results, err := s.Run(t.Context(), branches(b, all, part))
				if err != nil {
					t.Fatal(err)
				}
				got, which := rows(results)
				shown := len(want)
				if n > 0 {
					shown = min(n, shown)
				}
				if len(got) < shown || !slices.Equal(got[:shown], want[:shown]) {
					t.Fatalf("%d rows, %d workers: want %v, got %v", n, workers, want, got)
				}
				if workers > 1 && !slices.Equal(which, before) {
					t.Fatalf("%d workers find %v, one %v", workers, which, before)
				}
				before = which
			}
		}
	})
}

// branches puts candidates into branches of so many, as pairs of workers are.
func branches(b *book, all []search.Candidate, part int) []search.Branch {
	if part == 1 {
		return search.Candidates(context.Background(), b, all)
	}
	var out []search.Branch
	for some := range slices.Chunk(all, part) {
		bound := math.Inf(-1)
		for i := range some {
			bound = max(bound, b.Bound(&some[i]))
		}
		out = append(out, search.Branch{Bound: bound, Expand: func() []search.Branch { return search.Candidates(context.Background(), b, some) }})
	}
	return out
}

// TestLargerSpace: a space that holds another never has a worse best.
func TestLargerSpace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, all := drawBook(t)
		best := func(some []search.Candidate) float64 {
			s := search.Search{Evaluator: b, Rows: 1, Workers: 1}
			results, err := s.Run(t.Context(), search.Candidates(context.Background(), b, some))
			if err != nil {
				t.Fatal(err)
			}
			scores, _ := rows(results)
			return max(0, append(scores, 0)[0])
		}
		part := all[:rapid.IntRange(0, len(all)).Draw(t, "part")]
		if x, y := best(part), best(all); x > y {
			t.Fatalf("a part has %g, all have %g", x, y)
		}
	})
}

// TestSeveral: the best of several spaces that are searched as one is the best that they have alone, of equal ones that of the first.
func TestSeveral(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var several search.Several
		var space []search.Branch
		var want *search.Result
		of := 0
		for range 3 {
			b, all := drawBook(t)
			part := rapid.IntRange(1, 10).Draw(t, "branches")
			several = append(several, b)
			place := len(several) - 1
			space = append(space, several.Branches(place, branches(b, all, part))...)
			alone := search.Search{Evaluator: b, Rows: 1, Workers: 1}
			results, err := alone.Run(t.Context(), branches(b, all, part))
			if err != nil {
				t.Fatal(err)
			}
			if best := search.Earliest(results, func(*search.Result) int { return 0 }); len(best) > 0 && (want == nil || best[0].Score > want.Score) {
				want, of = best[0], place
			}
		}
		together := search.Search{Evaluator: several, Rows: 1, Workers: rapid.IntRange(1, 3).Draw(t, "workers")}
		results, err := together.Run(t.Context(), space)
		if err != nil {
			t.Fatal(err)
		}
		got := search.Earliest(results, func(*search.Result) int { return 0 })
		if want == nil {
			if len(got) > 0 {
				t.Fatalf("nothing alone, together %+v", got[0].Candidate)
			}
			return
		}
		if len(got) == 0 {
			t.Fatalf("alone %+v of %d, nothing together", want.Candidate, of)
		}
		c := got[0].Candidate
		own := c
		if own.Of = 0; c.Of != of || own != want.Candidate || got[0].Score != want.Score {
			t.Fatalf("alone %g of %d, %+v; together %g, %+v", want.Score, of, want.Candidate, got[0].Score, c)
		}
	})
}
