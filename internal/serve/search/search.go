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
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
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
	// Explore finds by short trials whether a candidate has the target: most is a score that it hardly exceeds, below the target
	// if it has less, +Inf where nothing is known beyond its bound, and -Inf where it misses the limits; least is one that it has.
	Explore(ctx context.Context, c Candidate, target float64) (most, least float64)
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
	Best  figures.Outcome
	OK    bool
	Score float64
	// MostQPS is the outcome of a phase that is to be matched: the one with the most
	// requests per second as the guide counts them. Elsewhere it is Best.
	MostQPS figures.Outcome
	// Binds is what limits the batch, or why there is no best.
	Binds  Verdict
	Reason string // of a rejection, one sentence
	Err    error  // why it could not be run
	// Capacity is the outcome of one copy with the most load within the limits, and Least the
	// copies that a load needs by it; of a search for the fewest devices.
	Capacity figures.Outcome
	Least    int
	// Ran is the simulation of one copy with its part of a rate, as it is shown; nil where it was not done.
	Ran *Ran
	// Dropped says that the candidate is surely below the floor: its score is no more than Most, and about Has by what was tried.
	Dropped   bool
	Most, Has float64
	// First is the outcome at the smallest batch.
	First  figures.Outcome
	Points []figures.Outcome
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
	Rough     bool // the evaluator may have a lower bound of the candidate
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

	queue    branches
	explored int      // of the queue
	failed   []queued // explored, and found to miss the limits
	results  []placed
	best     map[any]rank // of the groups
	row      *rank        // of the last row; nil where it is not known
	places   int          // in the enumeration so far

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
type branches []*queued

type queued struct {
	Branch

	place    int
	tries    int     // how often it was found to be below a target
	explored bool    // it is to be evaluated
	has      float64 // a score that it has by trials
}

func (b branches) Len() int      { return len(b) }
func (b branches) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b branches) Less(i, j int) bool {
	return b[i].Bound > b[j].Bound || b[i].Bound == b[j].Bound && b[i].place < b[j].place
}
func (b *branches) Push(x any) { *b = append(*b, x.(*queued)) } //nolint:forcetypeassert // heap's own
func (b *branches) Pop() any {
	old := *b
	x := old[len(old)-1]
	*b = old[:len(old)-1]
	return x
}

// order is the place of a branch in the enumeration: the spaces of [Several] come one after the other.
func order(b *Branch, place int) int {
	const most = 40 // bits of a place in a space
	return b.Candidate.Of<<most | place
}

// push puts a branch into the queue.
func (s *Search) push(x queued) {
	heap.Push(&s.queue, &x)
	if x.explored {
		s.explored++
	}
}

// pop takes the branch with the highest bound out of the queue.
func (s *Search) pop() queued {
	x, _ := heap.Pop(&s.queue).(*queued)
	if x.explored {
		s.explored--
	}
	return *x
}

// all says that candidates are not compared.
func (s *Search) all() bool { return s.Rows == 0 && s.Group == nil }

// rank is a score, and the place in the enumeration that decides between equal ones: the first is the better.
type rank struct {
	score float64
	place int
}

// before orders ranks, the best first.
func (r rank) before(o rank) int {
	return cmp.Or(cmp.Compare(o.score, r.score), cmp.Compare(r.place, o.place))
}

// none is worse than any other.
func none() rank { return rank{math.Inf(-1), math.MaxInt} }

// several is how many candidates are evaluated or explored before what they show decides about the others. It does not
// depend on the number of workers, or results would.
const several = 4

// target is the score below which exploring a candidate ends: not far below its bound to begin with, as a bound may be far above
// what the candidate carries, and no less than what others should have. So one that is not among the best costs a trial or two.
func (s *Search) target(x *queued, floor rank) float64 {
	const (
		near = 1.2 // the first target is so much below the bound, each further one twice as far
		most = 5   // targets
	)
	hoped := floor.score
	if !s.Near && x.place > floor.place { // as much is not enough
		hoped = math.Nextafter(hoped, math.Inf(1))
	}
	if x.tries >= most || math.IsInf(x.Bound, 0) {
		return hoped
	}
	below := math.Pow(near, float64(int(1)<<x.tries))
	if x.Bound > 0 {
		below = 1 / below
	}
	return max(hoped, x.Bound*below)
}

// Candidates are the branches of single candidates, cut short when ctx ends.
func Candidates(ctx context.Context, e Evaluator, all []Candidate) []Branch {
	out := make([]Branch, 0, len(all))
	for i := range all {
		if ctx.Err() != nil {
			return out
		}
		out = append(out, Branch{Bound: e.Bound(&all[i]), Candidate: all[i]})
	}
	return out
}

// Run searches a space. Branches are explored in the order of their bounds, which that lowers, and evaluated where the bound is
// the highest all the same, until what is left cannot be among the rows. An evaluation goes on while nothing else has a higher
// bound than what it may still find, so that only what is among the best is simulated precisely. It returns the results in the
// order of enumeration; those that were dropped are left out. When ctx ends it returns its error.
func (s *Search) Run(ctx context.Context, space []Branch) ([]Result, error) {
	s.best = map[any]rank{}
	for i := range space {
		s.queue = append(s.queue, &queued{Branch: space[i], place: order(&space[i], i)})
	}
	heap.Init(&s.queue)
	s.places = len(space)
	for {
		todo := s.next()
		if len(todo) == 0 && (s.Rows == 0 || len(s.best) == 0) { // those that come nearest to the limits are wanted
			todo, s.failed = s.failed, nil
		}
		if len(todo) == 0 {
			break
		}
		do := s.explore
		if todo[0].explored {
			do = s.evaluate
		}
		if err := cmp.Or(do(ctx, todo), ctx.Err()); err != nil { // an evaluation may have ended early
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil { // the space may lack what was not listed any more
		return nil, err
	}
	slices.SortFunc(s.results, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	out := make([]Result, len(s.results))
	for i := range out {
		out[i] = s.results[i].Result
	}
	return out, nil
}

// explore lowers the bounds of candidates.
func (s *Search) explore(ctx context.Context, todo []queued) error {
	targets := make([]float64, len(todo))
	for i := range todo {
		targets[i] = s.target(&todo[i], s.floor(&todo[i].Candidate, true))
	}
	err := pool.Each(ctx, len(todo), max(1, s.Workers), func(i int) {
		x := &todo[i]
		most, least := s.Evaluator.Explore(ctx, x.Candidate, targets[i])
		x.explored = most >= min(targets[i], x.Bound) || math.IsInf(most, -1)
		x.Bound = min(x.Bound, most)
		x.has = min(x.Bound, least)
		x.tries++
	})
	for _, x := range todo {
		if math.IsInf(x.Bound, -1) {
			s.failed = append(s.failed, x)
		} else {
			s.push(x)
		}
	}
	return err
}

// evaluate finds the results of candidates.
func (s *Search) evaluate(ctx context.Context, todo []queued) error {
	got := make([]Result, len(todo))
	floors := make([]float64, len(todo))
	for i := range todo {
		floors[i] = max(s.floor(&todo[i].Candidate, false).score, s.rival())
	}
	err := pool.Each(ctx, len(todo), max(1, s.Workers), func(i int) {
		got[i] = s.Evaluator.Evaluate(ctx, todo[i].Candidate, floors[i])
		if !got[i].Dropped {
			s.done()
		}
	})
	for i := range got {
		if r, x := &got[i], todo[i]; r.Dropped && r.Most >= s.floor(&x.Candidate, false).score { // others first
			x.Bound = min(x.Bound, r.Most)
			x.has = min(x.Bound, max(x.has, r.Has))
			s.push(x)
		} else {
			s.take(r, x.place)
		}
	}
	return err
}

// rival is the highest bound of the remaining candidates. Where what is near counts, candidates are not evaluated in turns.
func (s *Search) rival() float64 {
	if s.Near || s.Rows == 0 {
		return math.Inf(-1)
	}
	for len(s.queue) > 0 && s.queue[0].Rough {
		s.push(s.bounded(s.pop()))
	}
	if len(s.queue) == 0 {
		return math.Inf(-1)
	}
	return s.queue[0].Bound
}

// bounded is a candidate with its evaluator's bound.
func (s *Search) bounded(x queued) queued {
	x.Bound, x.Rough = min(x.Bound, s.Evaluator.Bound(&x.Candidate)), false
	return x
}

// next are the candidates to explore or to evaluate at once: those with the highest bounds. Of those to evaluate no two are of a
// group, and no more than rows are missing.
func (s *Search) next() []queued {
	var todo, later []queued
	groups := map[any]bool{}
	const enough = 8 // of one group: what follows is hardly of another
	for len(s.queue) > 0 && len(todo) < s.wave(todo) && len(later) < enough {
		x := s.pop()
		x.explored = x.explored || s.known(&x)
		switch {
		case s.hopeless(&x): // and so are all others, whose bounds are no higher
			s.queue, s.explored = s.queue[:0], 0
		case s.beaten(&x):
		case x.Rough:
			s.push(s.bounded(x))
		case x.Expand != nil:
			s.expand(&x)
		case len(todo) > 0 && x.explored != todo[0].explored:
			s.push(x)
			return s.put(todo, later)
		case x.explored && groups[s.group(&x.Candidate)]:
			later = append(later, x)
		default:
			groups[s.group(&x.Candidate)] = true
			todo = append(todo, x)
		}
	}
	return s.put(todo, later)
}

// known says that exploring a candidate would show nothing.
func (s *Search) known(x *queued) bool {
	return x.Expand == nil && !x.Rough && (s.all() || math.IsInf(x.Bound, 0))
}

// expand puts the parts of a branch into the queue.
func (s *Search) expand(x *queued) {
	for _, b := range x.Expand() {
		if part := (queued{Branch: b, place: order(&b, s.places)}); !s.hopeless(&part) {
			s.push(part)
		}
		s.places++
	}
}

// hopeless says that nothing in a branch can have a row, whatever its group.
func (s *Search) hopeless(x *queued) bool {
	return s.Rows > 0 && (math.IsInf(x.Bound, -1) || s.below(x, s.floor(nil, false)))
}

// beaten says that a candidate's group has a better one.
func (s *Search) beaten(x *queued) bool {
	return x.Expand == nil && s.below(x, s.floor(&x.Candidate, false))
}

// below says that a branch has no rank as good as one. Where what is near counts, so does all that has its score.
func (s *Search) below(x *queued, floor rank) bool {
	if s.Near {
		return x.Bound < floor.score
	}
	return rank{x.Bound, x.place}.before(floor) > 0
}

// put puts back those for later.
func (s *Search) put(todo, later []queued) []queued {
	for _, x := range later {
		s.push(x)
	}
	return todo
}

// wave is how many are explored or evaluated at once: one while nothing is known.
func (s *Search) wave(todo []queued) int {
	switch {
	case s.all():
		return math.MaxInt
	case len(s.best) == 0 && s.explored == 0:
		return 1
	case s.Rows > 0 && len(todo) > 0 && todo[0].explored:
		return min(several, max(1, s.Rows-len(s.best)))
	}
	return several
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
		s.done()
		return
	}
	s.results = append(s.results, placed{*r, place})
	if r.OK {
		s.best[s.group(&r.Candidate)] = s.better(s.best, &r.Candidate, rank{r.Score, place})
		s.row = nil
	}
}

// floor is the rank below which a candidate cannot have a row: that of the last row, or
// of the best in its group; without a candidate, that of the last row. Where it is hoped for, those count that were explored.
func (s *Search) floor(c *Candidate, hoped bool) rank {
	out := none()
	better := func(r rank) {
		if r.before(out) < 0 {
			out = r
		}
	}
	best := s.best
	if hoped {
		best = s.hoped()
		better(last(best, s.Rows))
	} else {
		better(s.lastRow())
	}
	if c != nil {
		if own, ok := best[s.group(c)]; ok {
			better(own)
		}
	}
	if s.Near {
		out.score /= 1 + Tolerance
	}
	if s.Near && hoped { // copies together may be found to carry a little less
		out.score /= together
	}
	return out
}

// hoped are the ranks of the groups, where those count that were explored.
func (s *Search) hoped() map[any]rank {
	out := maps.Clone(s.best)
	for _, x := range s.queue {
		if x.explored && !math.IsInf(x.has, -1) {
			out[s.group(&x.Candidate)] = s.better(out, &x.Candidate, rank{x.has, x.place})
		}
	}
	return out
}

// better is the better of a rank and of that of a candidate's group.
func (s *Search) better(of map[any]rank, c *Candidate, r rank) rank {
	if old, ok := of[s.group(c)]; ok && old.before(r) < 0 {
		return old
	}
	return r
}

// lastRow is the rank of the last row, remembered or new.
func (s *Search) lastRow() rank {
	if s.row == nil {
		s.row = new(last(s.best, s.Rows))
	}
	return *s.row
}

// last is the last of so many of the best ranks; none where some are missing or all are wanted.
func last(ranks map[any]rank, rows int) rank {
	if rows == 0 || len(ranks) < rows {
		return none()
	}
	return slices.SortedFunc(maps.Values(ranks), rank.before)[rows-1]
}
