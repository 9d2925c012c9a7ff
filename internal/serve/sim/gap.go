package sim

import (
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// histogram counts gaps between tokens, of which there are too many to keep. A
// bin is what agrees in the exponent and the first six bits of a number, 1.6 %
// wide at most, so that finding it needs no logarithm.
type histogram struct {
	counts [bins]int64
	sum    float64
	n      int64
	max    units.Seconds
}

const (
	octaves  = 33               // from a microsecond to two hours
	lowest   = (1023 - 20) << 6 // 2^-20 s
	bins     = octaves << 6
	dropped  = 52 - 6 // bits of the mantissa
	binWidth = 1 << dropped
)

func (h *histogram) add(gap units.Seconds, n int64) {
	if n <= 0 {
		return
	}
	i := int(math.Float64bits(max(0, float64(gap)))>>dropped) - lowest
	h.counts[min(max(i, 0), bins-1)] += n
	h.sum += float64(gap) * float64(n)
	h.n += n
	h.max = max(h.max, gap)
}

// summary takes the middle of a bin for all that is in it.
func (h *histogram) summary() Summary {
	if h.n == 0 {
		return Summary{}
	}
	at := func(p float64) units.Seconds {
		left := int64(math.Ceil(p * float64(h.n)))
		for i, n := range h.counts {
			if left -= n; left <= 0 {
				return min(h.max, units.Seconds(math.Float64frombits(uint64(i+lowest)<<dropped+binWidth/2)))
			}
		}
		return h.max
	}
	return Summary{
		Count: int(h.n), Mean: units.Seconds(h.sum / float64(h.n)),
		P50: at(0.50), P90: at(0.90), P95: at(0.95), P99: at(0.99), Max: h.max,
	}
}

// gapMeter measures the time between the tokens of a replica's requests.
type gapMeter struct {
	all      *histogram
	last     units.Seconds // end of the last step with generation
	joined   []joiner      // since then
	requests []request     // of the simulation, by identity
}

// joiner is a request whose last token came from elsewhere than the last step.
type joiner struct {
	at    units.Seconds
	id    int32
	epoch uint32
}

func (g *gapMeter) add(gap units.Seconds, n int64) { g.all.add(gap, n) }

func (g *gapMeter) join(q *request, at units.Seconds) {
	g.joined = append(g.joined, joiner{at, int32(q.id), q.epoch})
}

// pending reports whether no step has ended since a request joined: its last token is older
// than that step.
func (g *gapMeter) pending(q *request) bool {
	return slices.ContainsFunc(g.joined, func(j joiner) bool { return j.id == int32(q.id) && j.epoch == q.epoch })
}

// steps counts the gaps that the steps of a plan end. In a run all steps count
// as equally long.
func (g *gapMeter) steps(p *plan) {
	each := (p.end - p.start) / units.Seconds(p.steps)
	first := p.start + each
	old := int64(p.decodes)
	for _, j := range g.joined {
		if j.epoch == g.requests[j.id].epoch {
			g.all.add(first-j.at, 1)
			old--
		}
	}
	g.joined = g.joined[:0]
	others := int64(p.decodes) * (p.steps - 1)
	if g.last == p.start { // nothing came between
		others += old
	} else {
		g.all.add(first-g.last, old)
	}
	g.all.add(each, others)
	g.last = p.end
}
