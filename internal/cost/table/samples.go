package table

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Sample is one measured shape, at its fastest kernel: what forms are fitted to.
type Sample struct {
	Form    string // which of the forms prices it
	Format  string // its number format
	Ops     []op.Op
	Seconds units.Seconds
}

// The forms of samples.
const (
	FormProduct = "product"
	FormPrefill = "prefill"
	FormDecode  = "decode"
	FormLatent  = "latent"
	FormExperts = "experts"
	FormScan    = "scan"
	FormUpdate  = "update"
	FormComm    = "comm"
)

// shape is what two measurements of the same operators have in common.
type shape struct {
	place, exact [2]float64
	line, x      float64
	deal         op.Deal
}

// shapes are the measurements of a kernel, one of each shape.
type shapes map[shape]*measurement

// keep adds a measurement, unless there is a faster one of its shape.
func (all shapes) keep(m *measurement) {
	o := &m.ops[0]
	s := shape{place: m.place, line: m.line, x: m.x, deal: m.deal, exact: [2]float64{o.HeadDim, o.Depth * o.Cols}}
	if have, ok := all[s]; !ok || m.seconds < have.seconds {
		all[s] = m
	}
}

// Samples returns every believable measured shape, in a fixed order.
func (t *Tables) Samples() ([]Sample, error) {
	var out []Sample
	for _, g := range kinds() {
		if g.family.form() == "" {
			continue
		}
		s, err := t.samples(g)
		if err != nil {
			return nil, err
		}
		out = append(out, s...)
	}
	return out, nil
}

// form is the one that prices the samples of a family, "" for a family without samples.
func (f family) form() string {
	return [families]string{
		products: FormProduct, prefills: FormPrefill, decodes: FormDecode, latentDecodes: FormLatent, expertLayers: FormExperts,
		scans: FormScan, updates: FormUpdate, reduces: FormComm, gathers: FormComm, scatters: FormComm, exchanges: FormComm,
	}[f]
}

// slower is how much slower than the fastest at the shapes they share, in the median, a
// kernel may be to be believed at shapes that no other was measured at: no engine would
// use it.
const slower = 1.3

// samples reads a group, of each shape the fastest.
func (t *Tables) samples(g group) ([]Sample, error) {
	kernels := map[string]shapes{}
	for _, tries := range g.readings() {
		for _, f := range t.system.Choose(tries[0].table, t.sel) {
			for i := range tries {
				rows, err := t.system.Read(f, &tries[i].query)
				if err != nil {
					return nil, err
				}
				t.addSamples(kernels, f, &tries[i], rows)
				if rows.N > 0 {
					break
				}
			}
		}
	}
	best := fastest(kernels)
	var out []Sample
	for _, s := range slices.SortedFunc(maps.Keys(best), compareShapes) {
		m := best[s]
		sample := Sample{Form: g.family.form(), Format: g.name(), Ops: m.ops, Seconds: units.Seconds(m.seconds - t.sum(m.beside))}
		if g.family == latentDecodes && !t.whole(&sample) || sample.Seconds <= 0 {
			continue
		}
		out = append(out, sample)
	}
	return out, nil
}

// addSamples adds the believable rows of a table to those of their kernels, the fastest of each shape.
func (t *Tables) addSamples(all map[string]shapes, f perfdata.File, r *reading, rows *perfdata.Rows) {
	t.mu.Lock()
	defer t.mu.Unlock()
	use := t.use(f, rows)
	kernels := map[string][]measurement{}
	for _, k := range t.believe(use, r, rows, func(k string, m *measurement) { kernels[k] = append(kernels[k], *m) }) {
		use.Rows += len(kernels[k])
		name := f.Engine + " " + k
		own := all[name]
		if own == nil {
			own = shapes{}
			all[name] = own
		}
		for i := range kernels[k] {
			own.keep(&kernels[k][i])
		}
	}
}

// fastest is the fastest measurement of each shape, without kernels that are too slow.
func fastest(kernels map[string]shapes) shapes {
	times := map[string]map[shape]float64{}
	for name, own := range kernels {
		times[name] = map[shape]float64{}
		for s, m := range own {
			times[name][s] = math.Log(m.seconds)
		}
	}
	slow := tooSlow(times)
	out := shapes{}
	for name, own := range kernels {
		if slices.Contains(slow, name) {
			continue
		}
		for s, m := range own {
			if have, ok := out[s]; !ok || m.seconds < have.seconds {
				out[s] = m
			}
		}
	}
	return out
}

// tooSlow are the sources that are slower than the fastest at the shapes they share with
// others, of logarithms of times by source and shape.
func tooSlow[K comparable](times map[string]map[K]float64) []string {
	best, shared := map[K]float64{}, map[K]int{}
	for _, own := range times {
		for s, t := range own {
			if have, ok := best[s]; !ok || t < have {
				best[s] = t
			}
			shared[s]++
		}
	}
	var out []string
	for source, own := range times {
		var behind []float64
		for s, t := range own {
			if shared[s] > 1 {
				behind = append(behind, t-best[s])
			}
		}
		slices.Sort(behind)
		if n := len(behind); n > 0 && behind[n/2] > math.Log(slower) {
			out = append(out, source)
		}
	}
	return out
}

func compareShapes(a, b shape) int {
	return cmp.Or(
		slices.Compare(a.place[:], b.place[:]), slices.Compare(a.exact[:], b.exact[:]),
		compareDeals(a.deal, b.deal), cmp.Compare(a.line, b.line), cmp.Compare(a.x, b.x),
	)
}

// whole makes a sample of attention over latents one of a whole latent decode,
// with the measured products around it.
func (t *Tables) whole(s *Sample) bool {
	o := s.Ops[0]
	o.Kind, o.Weight, o.KVHeads = op.Latent, dtype.BF16, 0
	o.HeadDim, o.ValueDim, o.Rank, o.Rope = latentHead, latentValue, latentRank, latentRope
	for i, family := range [...]family{absorptions, expansions} {
		p := absorbed(i == 1, o.Decode.Tokens, o.Heads, bf16)
		g := group{family: family, in: bf16}
		ratio, _, ok := t.find(g.at(o.Heads, 1), point{x: math.Log2(o.Decode.Tokens)})
		if !ok {
			return false
		}
		s.Seconds += t.base.Cost(&p).Total * units.Seconds(math.Exp(ratio))
	}
	s.Ops = []op.Op{o}
	return true
}

// name is the number format of a group's samples.
func (g *group) name() string {
	switch g.family {
	case prefills:
		return g.in.String() + ", cache " + g.kv.String()
	case decodes, latentDecodes:
		return "cache " + g.kv.String()
	case reduces:
		return "all_reduce"
	case gathers:
		return "all_gather"
	case scatters:
		return "reduce_scatter"
	case exchanges:
		return "all_to_all"
	case scans, updates:
		return bf16.String()
	default:
		return g.in.String()
	}
}
