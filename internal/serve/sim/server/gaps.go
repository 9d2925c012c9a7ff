package server

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// gapMeter measures the time between the tokens of a replica's requests.
type gapMeter struct {
	all      *statistics.Histogram
	last     units.Seconds // end of the last step with generation
	joined   []joiner      // since then
	requests []Request     // of the simulation, by identity
}

// joiner is a request whose last token came from elsewhere than the last step.
type joiner struct {
	at    units.Seconds
	id    int32
	epoch uint32
}

func (g *gapMeter) add(gap units.Seconds, n int64) { g.all.Add(gap, n) }

func (g *gapMeter) join(q *Request, at units.Seconds) {
	g.joined = append(g.joined, joiner{at, int32(q.ID), q.epoch})
}

// pending reports whether no step has ended since a request joined: its last token is older
// than that step.
func (g *gapMeter) pending(q *Request) bool {
	return slices.ContainsFunc(g.joined, func(j joiner) bool { return j.id == int32(q.ID) && j.epoch == q.epoch })
}

// steps counts the gaps that the steps of a plan end. In a run all steps count
// as equally long.
func (g *gapMeter) steps(p *plan) {
	each := (p.end - p.start) / units.Seconds(p.steps)
	first := p.start + each
	old := int64(p.decodes)
	for _, j := range g.joined {
		if j.epoch == g.requests[j.id].epoch {
			g.all.Add(first-j.at, 1)
			old--
		}
	}
	g.joined = g.joined[:0]
	others := int64(p.decodes) * (p.steps - 1)
	if g.last == p.start { // nothing came between
		others += old
	} else {
		g.all.Add(first-g.last, old)
	}
	g.all.Add(each, others)
	g.last = p.end
}
