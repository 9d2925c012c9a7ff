package table

import (
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// combine makes one curve of what several sources say at a place, for each deal of
// experts: their best answer at every point that any has. Between points that is a
// little more than the best of their interpolations, and is found many times faster.
func combine(blends []blend, from string) []blend {
	var out []blend
	for len(blends) > 0 {
		d := blends[0].deal()
		var same, others []blend
		for _, b := range blends {
			if b.deal() == d {
				same = append(same, b)
			} else {
				others = append(others, b)
			}
		}
		c := combined(same, d)
		c.from = from
		out = append(out, c)
		blends = others
	}
	return out
}

// deal is that of the blend's only site, none if it is not of experts.
func (b *blend) deal() op.Deal { return b.sites[0].deal }

// combined makes one curve of blends of the same deal.
func combined(blends []blend, d op.Deal) blend {
	if len(blends) == 1 && blends[0].sites[1] == nil {
		return blends[0]
	}
	s := &site{place: blends[0].sites[0].place, deal: d}
	for _, at := range lineUnion(blends) {
		l := line{at: at}
		for _, x := range pointUnion(blends, at) {
			p := point{line: at, x: x, deal: d}
			var best answer
			for i := range blends {
				if a := blends[i].at(p); a.better(&best) {
					best = a
				}
			}
			if best.ok {
				l.x, l.ratio = append(l.x, x), append(l.ratio, best.ratio)
			}
		}
		if len(l.x) > 0 {
			s.lines = append(s.lines, l)
		}
	}
	return blend{sites: [nearSites]*site{s}, weight: [nearSites]float64{1}}
}

// lineUnion are the lines that any site has.
func lineUnion(blends []blend) []float64 {
	var out []float64
	eachSite(blends, func(s *site) {
		for i := range s.lines {
			out = append(out, s.lines[i].at)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// pointUnion are the points of the lines of all sites that answer at a line: that very
// one, or those on both sides of it.
func pointUnion(blends []blend, at float64) []float64 {
	var out []float64
	eachSite(blends, func(s *site) {
		n, i := len(s.lines), s.line(at)
		if i < n {
			out = append(out, s.lines[i].x...)
		}
		if i == n || s.lines[i].at != at && i > 0 {
			out = append(out, s.lines[i-1].x...)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

func eachSite(blends []blend, visit func(*site)) {
	for i := range blends {
		for _, s := range blends[i].sites {
			if s != nil {
				visit(s)
			}
		}
	}
}

// sumOfParts makes one curve of a latent decode and the products around it, so that a step
// looks up one instead of three: at every point of any of them the sum of the parts.
func (t *Tables) sumOfParts(k key) []blend {
	g, place := k.group()
	heads := float64(math.Float32frombits(k.place[0]))
	attention := group{family: latentDecodes, in: bf16, kv: g.kv}
	parts := t.recall(attention.at(heads, 1))
	if len(parts) == 0 {
		return nil
	}
	scheme := g.in.scheme()
	m := t.On(t.base)
	s := &site{place: place}
	for _, at := range t.tokens(parts, heads, g.in) {
		l := line{at: at}
		for _, x := range pointUnion(parts, at) {
			b, cached := math.Exp2(at), math.Exp2(at+x)
			o := op.Op{
				Kind: op.Latent, In: scheme.Activation, Weight: scheme.Weight, Out: dtype.BF16, KV: g.kv.element(), VectorIn: dtype.BF16,
				Heads: heads, HeadDim: latentHead, ValueDim: latentValue, Rank: latentRank, Rope: latentRope,
				Decode: op.Span{Requests: b, Tokens: b, Pairs: cached, Context: cached},
			}
			var e cost.Estimate
			form := t.base.Cost(&o).Total
			if from := m.latentParts(&o, group{in: bf16, kv: g.kv}, g.in, point{line: at, x: x}, true, &e); from != "" && form > 0 {
				l.x, l.ratio = append(l.x, x), append(l.ratio, math.Log(float64(e.Total/form)))
			}
		}
		if len(l.x) > 0 {
			s.lines = append(s.lines, l)
		}
	}
	return []blend{{from: parts[0].from, sites: [nearSites]*site{s}, weight: [nearSites]float64{1}}}
}

// tokens are the batches of a latent decode's lines, and those between them that the
// products around it were measured at.
func (t *Tables) tokens(attention []blend, heads float64, f format) []float64 {
	out := lineUnion(attention)
	least, most := out[0], out[len(out)-1]
	for _, family := range [...]family{absorptions, expansions} {
		g := group{family: family, in: f}
		for _, at := range pointUnion(t.recall(g.at(heads, 1)), 0) {
			if at > least && at < most {
				out = append(out, at)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
