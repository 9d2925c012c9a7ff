package step

import (
	"math"
	"math/bits"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
)

// Tally counts steps and sums up what they move and compute. Work, unlike time, adds up:
// what operators do that follow one count of the batch follows from how many steps have
// that count, and what the others do, attention above all, is in proportion to the sums
// over their requests where these are about as long. So a step is a few additions, and
// operators are looked at once for all steps that are alike.
type Tally struct {
	curve  *Curve
	counts [op.Counts][]float64 // steps at each knot
	alike  []spans
	places map[uint64]int // among them, by the lengths of requests
}

// spans are the sums over steps whose requests are about as long.
type spans struct {
	steps float64
	sums  graph.Sums
}

// Tally is one of the curve's steps, empty.
func (c *Curve) Tally() *Tally { return &Tally{curve: c, places: map[uint64]int{}} }

// Add counts so many steps of a batch, whose counts are whole. It allocates only for
// batches unlike all before.
func (t *Tally) Add(s *graph.Sums, steps float64) {
	for by, n := range s.Counts() {
		t.count(by, int(n), steps)
	}
	lengths := length(s.Prefill.Tokens, s.Prefill.Requests)<<32 | length(s.Prefill.Context, s.Prefill.Requests)<<16 |
		length(s.Decode.Context, s.Decode.Requests)
	at, ok := t.places[lengths]
	if !ok {
		at = len(t.alike)
		t.places[lengths] = at
		t.alike = append(t.alike, spans{})
	}
	k := &t.alike[at]
	k.steps += steps
	add(&k.sums.Prefill, &s.Prefill, steps)
	add(&k.sums.Decode, &s.Decode, steps)
}

// length is a mean length up to an eighth of an octave: the exponent and the first three
// bits of a number.
func length(tokens, requests float64) uint64 {
	if requests == 0 {
		return 0
	}
	return math.Float64bits(tokens/requests) >> (52 - 3)
}

// add adds n times another span.
func add(to, s *op.Span, n float64) {
	to.Requests += n * s.Requests
	to.Tokens += n * s.Tokens
	to.Pairs += n * s.Pairs
	to.Context += n * s.Context
}

// count adds steps at n of a count: between two knots a part at each, since work lies on
// a line between them but for what some experts without tokens make of it, 0.01 % at most.
func (t *Tally) count(by, n int, steps float64) {
	if n <= 0 {
		return
	}
	at, from, width := knotOf(n)
	if more := at + 2 - len(t.counts[by]); more > 0 {
		t.counts[by] = append(t.counts[by], make([]float64, more)...)
	}
	share := float64(n-from) / float64(width)
	t.counts[by][at] += (1 - share) * steps
	t.counts[by][at+1] += share * steps
}

// Knots are the counts up to exactTo, then sixteen an octave: the ends and the middles of
// the cells that times are priced along.
const (
	knotBits = 4
	exactLen = 8 // exactTo is two to this
)

// knotOf is the number of the last knot up to n, its count, and how far the next one is.
func knotOf(n int) (at, count, width int) {
	if n < exactTo {
		return n, n, 1
	}
	octave := bits.Len(uint(n)) - 1
	width = 1 << (octave - knotBits)
	return exactTo + (octave-exactLen)<<knotBits + (n-1<<octave)/width, n &^ (width - 1), width
}

// knot is the count of a knot.
func knot(at int) int {
	if at < exactTo {
		return at
	}
	octave, within := exactLen+(at-exactTo)>>knotBits, (at-exactTo)&(1<<knotBits-1)
	return 1<<octave + within<<(octave-knotBits)
}

// Activity is what the steps counted move and compute on one device of each pipeline
// stage, all stages together.
func (t *Tally) Activity() power.Activity {
	r := t.curve.enter()
	var sum power.Activity
	for by := range t.counts {
		for at, steps := range t.counts[by] {
			if steps > 0 {
				sum.Add(&t.curve.workAt(knot(at), &r.items)[by], steps)
			}
		}
	}
	for i := range t.alike {
		k := &t.alike[i]
		var mean graph.Sums
		add(&mean.Prefill, &k.sums.Prefill, 1/k.steps)
		add(&mean.Decode, &k.sums.Decode, 1/k.steps)
		r.items = t.curve.graph.AppendVarying(r.items[:0], &mean)
		for j := range r.items {
			x := power.Of(&r.items[j].Op)
			sum.Add(&x, k.steps*r.items[j].Count)
		}
	}
	t.curve.rooms.Put(r)
	return sum
}

// work is what the operators that follow each count move and compute, at one value of it.
type work [op.Counts]power.Activity

// workAt returns the work at a count, remembered or new.
func (c *Curve) workAt(n int, room *[]op.Item) *work {
	return c.works.get(n, func(n int, to *work) {
		*room = appendCounts((*room)[:0], c.graph, n)
		for i := range *room {
			if it := &(*room)[i]; it.Follows < op.Counts {
				x := power.Of(&it.Op)
				to[it.Follows].Add(&x, it.Count)
			}
		}
	})
}

// Activity is the work of an evaluated step.
func (r *Result) Activity() power.Activity {
	var sum power.Activity
	for i := range r.Items {
		x := power.Of(&r.Items[i].Op)
		sum.Add(&x, r.Items[i].Count)
	}
	return sum
}
