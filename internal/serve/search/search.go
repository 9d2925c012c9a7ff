package search

import (
	"cmp"
	"container/heap"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
)

// Mode is what a deployment does.
type Mode string

// The modes.
const (
	Aggregated  Mode = "aggregated"
	PrefillOnly Mode = "prefill"
	DecodeOnly  Mode = "decode"
)

// Evaluator finds the best operating point of a candidate. It must be safe for
// concurrent use, and may stop early when ctx ends.
type Evaluator interface {
	// Bound is a score that the candidate does not exceed: +Inf where nothing is known, -Inf
	// where it surely misses the limits.
	Bound(c *Candidate) float64
	// Evaluate finds the best load. A candidate whose score is surely below floor may be
	// dropped; otherwise the result does not depend on floor.
	Evaluate(ctx context.Context, c Candidate, floor float64) Result
}

// Result is the result of a candidate.
type Result struct {
	Candidate Candidate
	Label     string
	// Best is the outcome with the most throughput within the limits, if OK; Score is
	// what it is ranked by, the higher the better.
	Best  formulas.Outcome
	OK    bool
	Score float64
	// MostQPS is the outcome of a phase that is to be matched: the one with the most
	// requests per second as the guide counts them. Elsewhere it is Best.
	MostQPS formulas.Outcome
	// Binds is what limits the batch, or why there is no best.
	Binds  Verdict
	Reason string // of a rejection, one sentence
	Err    error  // why it could not be run
	// Capacity is the outcome of one copy with the most load within the limits, and Least the
	// copies that a load needs by it; of a search for the fewest devices.
	Capacity formulas.Outcome
	Least    int
	// Dropped says that the candidate is surely below the floor, and nothing else is
	// known of it.
	Dropped bool
	// First is the outcome at the smallest batch.
	First  formulas.Outcome
	Points []formulas.Outcome
	Load   formulas.Load
	Spec   graph.Spec
}

// sentence is why a candidate is refused, in the words of its label.
func sentence(err error) string { return field.Say(err, parallel.Word) }

// Branch is a part of a space: a candidate, or parts that Expand lists. Nothing in it has
// a higher score than Bound.
type Branch struct {
	Bound     float64
	Candidate Candidate
	Expand    func() []Branch
}

// Search finds the best candidates of a space.
type Search struct {
	Evaluator Evaluator
	// Group tells apart the candidates that are compared with each other: the best of
	// each group has a row. Nil is every candidate for itself.
	Group func(*Candidate) any
	// Near says that of a group, what carries within [Tolerance] of the most and waits less is
	// better: [Best] takes it, and it is not dropped.
	Near bool
	// Rows is how many groups are wanted; 0 is all of them, also those that miss the
	// limits. It never changes a row.
	Rows    int
	Workers int // that evaluate at a time; no answer depends on it
	// Progress, if not nil, reports how many candidates are done.
	Progress func(done int)

	queue   branches
	results []placed
	best    map[any]float64 // scores of the groups
	places  int             // in the enumeration so far

	mu    sync.Mutex
	count int // of candidates that are done
}

// done counts a candidate.
func (s *Search) done() {
	if s.Progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.Progress(s.count)
}

// placed is a result with the place of its candidate in the enumeration.
type placed struct {
	Result

	place int
}

// branches is a heap: the highest bound first, of equal ones the first.
type branches []queued

type queued struct {
	Branch

	place int
}

func (b branches) Len() int      { return len(b) }
func (b branches) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b branches) Less(i, j int) bool {
	return b[i].Bound > b[j].Bound || b[i].Bound == b[j].Bound && b[i].place < b[j].place
}
func (b *branches) Push(x any) { *b = append(*b, x.(queued)) } //nolint:forcetypeassert // heap's own
func (b *branches) Pop() any {
	old := *b
	x := old[len(old)-1]
	*b = old[:len(old)-1]
	return x
}

// wave is how many candidates are evaluated before what they show decides about the
// others: one while nothing is known, and all where they are not compared. It does not
// depend on the number of workers, or results would.
func (s *Search) wave() int {
	const several = 4
	switch {
	case s.Rows == 0 && s.Group == nil:
		return math.MaxInt
	case s.Rows > 0 && len(s.best) == 0:
		return 1
	}
	return several
}

// Candidates are the branches of single candidates.
func Candidates(e Evaluator, all []Candidate) []Branch {
	out := make([]Branch, len(all))
	for i := range all {
		out[i] = Branch{Bound: e.Bound(&all[i]), Candidate: all[i]}
	}
	return out
}

// Run searches a space. Branches are evaluated in the order of their bounds until what is
// left cannot be among the rows. It returns the results in the order of enumeration; those
// that were dropped are left out. When ctx ends it returns its error.
func (s *Search) Run(ctx context.Context, space []Branch) ([]Result, error) {
	s.best = map[any]float64{}
	for i := range space {
		s.queue = append(s.queue, queued{space[i], i})
	}
	heap.Init(&s.queue)
	s.places = len(space)
	for {
		todo := s.next()
		if len(todo) == 0 {
			break
		}
		got := make([]Result, len(todo))
		floors := make([]float64, len(todo))
		for i := range todo {
			floors[i] = s.floor(&todo[i].Candidate)
		}
		err := pool.Each(ctx, len(todo), max(1, s.Workers), func(i int) {
			got[i] = s.Evaluator.Evaluate(ctx, todo[i].Candidate, floors[i])
			s.done()
		})
		if err := cmp.Or(err, ctx.Err()); err != nil { // an evaluation may have ended early
			return nil, err
		}
		for i := range got {
			s.take(&got[i], todo[i].place)
		}
	}
	slices.SortFunc(s.results, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	out := make([]Result, len(s.results))
	for i := range out {
		out[i] = s.results[i].Result
	}
	return out, nil
}

// next are the candidates to evaluate at once: those with the highest bounds, no two of a
// group.
func (s *Search) next() []queued {
	var todo, later []queued
	groups := map[any]bool{}
	const enough = 8 // of one group: what follows is hardly of another
	for len(s.queue) > 0 && len(todo) < s.wave() && len(later) < enough {
		x, _ := heap.Pop(&s.queue).(queued)
		switch {
		case s.Rows > 0 && (math.IsInf(x.Bound, -1) || x.Bound < s.floor(nil)):
		case x.Expand != nil:
			for _, b := range x.Expand() {
				heap.Push(&s.queue, queued{b, s.places})
				s.places++
			}
		case x.Bound < s.floor(&x.Candidate):
		case groups[s.group(&x.Candidate)]:
			later = append(later, x)
		default:
			groups[s.group(&x.Candidate)] = true
			todo = append(todo, x)
		}
	}
	for _, x := range later {
		heap.Push(&s.queue, x)
	}
	return todo
}

// group is the group of a candidate.
func (s *Search) group(c *Candidate) any {
	if s.Group == nil {
		return *c
	}
	return s.Group(c)
}

// take notes a result.
func (s *Search) take(r *Result, place int) {
	if r.Dropped {
		return
	}
	s.results = append(s.results, placed{*r, place})
	if r.OK {
		g := s.group(&r.Candidate)
		if old, ok := s.best[g]; !ok || r.Score > old {
			s.best[g] = r.Score
		}
	}
}

// floor is the score below which a candidate cannot have a row: that of the last row, or
// of the best in its group; without a candidate, that of the last row.
func (s *Search) floor(c *Candidate) float64 {
	out := math.Inf(-1)
	if s.Rows > 0 && len(s.best) >= s.Rows {
		scores := slices.Sorted(maps.Values(s.best))
		out = scores[len(scores)-s.Rows]
	}
	if c != nil {
		if own, ok := s.best[s.group(c)]; ok {
			out = max(out, own)
		}
	}
	if s.Near {
		out /= 1 + Tolerance
	}
	return out
}
