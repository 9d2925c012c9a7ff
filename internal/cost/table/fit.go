package table

import (
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
)

// LeftOut compares surfaces with measured kernels of one family that were left
// out of them: predicted over measured times.
type LeftOut struct {
	Family string
	// Surface are those of surfaces made without these rows, Full of all other rows as
	// a directory gives them, Form of the coster that the ratios are to.
	Surface, Full, Form []float64
	Missed              int // rows that the surfaces do not cover
}

// Fit makes the surfaces of the system from its tables, and says how well surfaces
// made without every tenth row predict those.
func (t *Tables) Fit() (*Fitted, []LeftOut, error) {
	out := &Fitted{}
	var left []LeftOut
	for _, kind := range kinds() {
		shelves, err := t.gather(kind)
		if err != nil {
			return nil, nil, err
		}
		if len(shelves) == 0 {
			continue
		}
		l := LeftOut{Family: kind.title()}
		var fitted []fittedShelf
		for i := range shelves {
			shelves[i].test(kind.family, &l)
			if sources := shelves[i].surfaces(); len(sources) > 0 {
				fitted = append(fitted, fittedShelf{shelves[i].exactly, sources})
			}
		}
		if len(fitted) > 0 {
			out.Parts = append(out.Parts, &Part{Family: kind.family, In: kind.in, KV: kind.kv, Data: encode(fitted)})
		}
		left = append(left, l)
	}
	return out, left, nil
}

// kinds are all groups of measurements, whatever their exact sizes.
func kinds() []group {
	var out []group
	for f := bf16; f < formats; f++ {
		out = append(out, group{family: products, in: f}, group{family: expertLayers, in: f},
			group{family: absorptions, in: f}, group{family: expansions, in: f})
	}
	for _, kv := range []format{bf16, fp8} {
		for _, in := range []format{bf16, fp8} {
			out = append(out, group{family: prefills, in: in, kv: kv}, group{family: latentPrefills, in: in, kv: kv})
		}
		out = append(out, group{family: decodes, kv: kv}, group{family: latentDecodes, in: bf16, kv: kv})
	}
	for _, f := range []family{scans, updates, reduces, gathers, scatters, exchanges} {
		out = append(out, group{family: f})
	}
	return out
}

// shelf is the rows of a group that agree in their exact sizes, by file and kernel.
type shelf struct {
	exactly [2]float64
	files   []fileRows
}

// fileRows are the rows of one engine, by kernel.
type fileRows struct {
	from    string // the engine and its version
	kernels [][]row
}

// surfaces are those of each engine.
func (s *shelf) surfaces() []fittedSource {
	var out []fittedSource
	for i := range s.files {
		if rows := surface(merge(s.files[i].kernels)); len(rows) > 0 {
			out = append(out, newSource(s.files[i].from, rows))
		}
	}
	return out
}

// gather reads the tables of a kind, as load does for each of its exact sizes.
func (t *Tables) gather(kind group) ([]shelf, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := map[[2]float64][]fileRows{}
	windows, err := t.windows(&kind)
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		g := kind
		g.exactly[1] = w
		for _, tries := range g.readings() {
			for _, f := range t.system.Choose(tries[0].table, t.sel) {
				parts, err := t.collect(f, g.family, tries)
				if err != nil {
					return nil, err
				}
				for exactly, kernels := range parts {
					found[exactly] = append(found[exactly], fileRows{f.Engine + " " + f.Version, kernels})
				}
			}
		}
	}
	for _, from := range tooSlow(ratios(found)) {
		leaveOut(found, from)
	}
	var out []shelf
	for _, exactly := range slices.SortedFunc(maps.Keys(found), func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, shelf{exactly, found[exactly]})
	}
	return out, nil
}

// ratios are those of each engine's fastest kernels, by shape.
func ratios(found map[[2]float64][]fileRows) map[string]map[shape]float64 {
	out := map[string]map[shape]float64{}
	for exactly, files := range found {
		for _, f := range files {
			if out[f.from] == nil {
				out[f.from] = map[shape]float64{}
			}
			for _, r := range slices.Concat(f.kernels...) {
				p := shape{place: r.place, exact: exactly, line: r.line, x: r.x, deal: r.deal}
				if have, ok := out[f.from][p]; !ok || r.ratio < have {
					out[f.from][p] = r.ratio
				}
			}
		}
	}
	return out
}

// leaveOut removes the rows of an engine.
func leaveOut(found map[[2]float64][]fileRows, from string) {
	for exactly := range found {
		found[exactly] = slices.DeleteFunc(found[exactly], func(f fileRows) bool { return f.from == from })
		if len(found[exactly]) == 0 {
			delete(found, exactly)
		}
	}
}

// collect reads the rows of one file, by kernel: of each exact size by the first
// reading that finds some.
func (t *Tables) collect(f perfdata.File, of family, tries []reading) (map[[2]float64][][]row, error) {
	out := map[[2]float64][][]row{}
	for i := range tries {
		rows, err := t.system.Read(f, &tries[i].query)
		if err != nil {
			return nil, err
		}
		found := map[[2]float64][][]row{}
		for exactly, part := range split(&tries[i], of, rows) {
			if out[exactly] == nil {
				t.compare(f, &tries[i], part, func(_ string, rows []row) { found[exactly] = append(found[exactly], rows) })
			}
		}
		maps.Copy(out, found)
	}
	return out, nil
}

// windows are the sliding windows that attention was measured with.
func (t *Tables) windows(kind *group) ([]float64, error) {
	if kind.family != prefills && kind.family != decodes {
		return []float64{0}, nil
	}
	r := kind.attention()
	q := perfdata.Query{Text: r.query.Text, Values: []string{"window_size"}, Optional: r.query.Optional}
	var out []float64
	for _, f := range t.system.Choose(r.table, t.sel) {
		rows, err := t.system.Read(f, &q)
		if err != nil {
			return nil, err
		}
		out = append(out, rows.Values[0]...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// split divides rows by their exact sizes.
func split(r *reading, of family, rows *perfdata.Rows) map[[2]float64]*perfdata.Rows {
	out := map[[2]float64]*perfdata.Rows{}
	values := make([]float64, len(rows.Values))
	for i := range rows.N {
		for c := range values {
			values[c] = rows.Values[c][i]
		}
		m, ok := r.row(values)
		if !ok {
			continue
		}
		exactly := m.exactly(of)
		part := out[exactly]
		if part == nil {
			part = &perfdata.Rows{Labels: make([][]string, 1), Values: make([][]float64, len(values)), Total: rows.Total}
			out[exactly] = part
		}
		part.N++
		part.Labels[0] = append(part.Labels[0], rows.Labels[0][i])
		for c, v := range values {
			part.Values[c] = append(part.Values[c], v)
		}
	}
	return out
}

// exactly are the sizes of a measurement that an operator must share.
func (m *measurement) exactly(of family) [2]float64 {
	o := &m.ops[0]
	switch of {
	case prefills, decodes:
		return [2]float64{o.HeadDim, o.Window}
	case scans, updates:
		return [2]float64{o.HeadDim, o.ValueDim}
	case expertLayers:
		return [2]float64{o.Depth, o.OutCols}
	default:
		return [2]float64{}
	}
}

// leftOut reports every tenth shape, the same ones of all kernels.
func (s *shelf) leftOut(r *row) bool {
	h := fnv.New64a()
	for _, x := range []float64{s.exactly[0], s.exactly[1], r.place[0], r.place[1], r.line, r.x, float64(r.deal.Experts), float64(r.deal.Choice), float64(r.deal.Ranks)} {
		bits := math.Float64bits(x)
		for i := range 8 {
			h.Write([]byte{byte(bits >> (8 * i))})
		}
	}
	return h.Sum64()%10 == 0
}

// part divides the shelf into the rows left out and the others.
func (s *shelf) part() (rest, out shelf) {
	rest.exactly, out.exactly = s.exactly, s.exactly
	for _, f := range s.files {
		in, left := fileRows{from: f.from}, fileRows{from: f.from}
		for _, rows := range f.kernels {
			var a, b []row
			for i := range rows {
				if s.leftOut(&rows[i]) {
					b = append(b, rows[i])
				} else {
					a = append(a, rows[i])
				}
			}
			in.kernels, left.kernels = append(in.kernels, a), append(left.kernels, b)
		}
		rest.files, out.files = append(rest.files, in), append(out.files, left)
	}
	return rest, out
}

// kernels are those of all files.
func (s *shelf) kernels() [][]row {
	var out [][]row
	for _, f := range s.files {
		out = append(out, f.kernels...)
	}
	return out
}

// narrow is the logarithm of the width below which no layer of a model worth serving
// has a weight matrix, while a third of the measured ones do.
const narrow = 8

// test predicts the rows left out.
func (s *shelf) test(of family, into *LeftOut) {
	rest, out := s.part()
	var full, fitted []source
	for _, rows := range rest.kernels() {
		full = append(full, source{sites: curves(slices.Clone(rows))})
	}
	for _, f := range rest.surfaces() {
		sites, _ := f.curves(false)
		fitted = append(fitted, source{sites: sites})
	}
	for _, r := range merge(out.kernels()) {
		if of == products && min(r.place[0], r.place[1]) < narrow {
			continue
		}
		at := point{line: r.line, x: r.x, deal: r.deal}
		a, b := best(full, r.place, of.apart(), at), best(fitted, r.place, of.apart(), at)
		if !a.ok || !b.ok {
			into.Missed++
			continue
		}
		into.Full = append(into.Full, math.Exp(a.ratio-r.ratio))
		into.Surface = append(into.Surface, math.Exp(b.ratio-r.ratio))
		into.Form = append(into.Form, math.Exp(-r.ratio))
	}
}

// best is what sources say of a point.
func best(sources []source, place [2]float64, apart float64, p point) (out answer) {
	for i := range sources {
		for _, b := range sources[i].near(place, apart) {
			if a := b.at(p); a.better(&out) {
				out = a
			}
		}
	}
	return out
}

// merge makes one source of several: at every point that any has the best answer of
// all that have its site. The rows are in order, one for each point.
func merge(kernels [][]row) []row {
	type where struct {
		place [2]float64
		deal  op.Deal
	}
	var sources []map[where]*site
	var out []row
	for _, rows := range kernels {
		sites := map[where]*site{}
		for _, s := range curves(rows) {
			sites[where{s.place, s.deal}] = s
		}
		sources = append(sources, sites)
		out = append(out, rows...)
	}
	slices.SortFunc(out, func(a, b row) int { return a.compare(&b) })
	out = slices.CompactFunc(out, func(a, b row) bool {
		return sameSite(&a, &b) && a.line == b.line && a.x == b.x
	})
	for i := range out {
		r := &out[i]
		var best answer
		for _, sites := range sources {
			s := sites[where{r.place, r.deal}]
			if s == nil {
				continue
			}
			a := s.curve(point{line: r.line, x: r.x})
			if a.better(&best) {
				best = a
			}
		}
		r.ratio = best.ratio
	}
	return out
}

// surface smoothes and thins the merged rows of one group.
func surface(rows []row) []row {
	var out []row
	for _, site := range chunks(rows, sameSite) {
		lines := chunks(site, sameLine)
		for i := range lines {
			lines[i] = spread(lines[i])
			level(lines[i])
		}
		for _, l := range fewer(lines) {
			out = append(out, l...)
		}
	}
	return out
}

func sameSite(a, b *row) bool { return a.place == b.place && a.deal == b.deal }
func sameLine(a, b *row) bool { return a.line == b.line }

// chunks divides rows where neighbours differ.
func chunks(rows []row, same func(a, b *row) bool) [][]row {
	var out [][]row
	for from, i := 0, 1; i <= len(rows); i++ {
		if i == len(rows) || !same(&rows[from], &rows[i]) {
			out = append(out, rows[from:i])
			from = i
		}
	}
	return out
}

// nearby is how near, in octaves, two sizes are the same to a surface.
const nearby = 0.05

// spread takes the fastest of sizes that are close: just above a multiple of its tile
// a kernel pays for a tile that stays empty, and a step there says nothing of the sizes
// up to the next point.
func spread(rows []row) []row {
	out := rows[:1]
	for _, r := range rows[1:] {
		last := &out[len(out)-1]
		switch {
		case r.x-last.x >= nearby:
			out = append(out, r)
		case r.ratio < last.ratio:
			*last = r
		}
	}
	return out
}

// droop is how much less, in logarithms, twice the size may take: kernels are
// chosen by size, and a larger tile may be the faster one; more is noise.
const droop = 0.07

// level pools neighbours on a line until no larger size takes much less time.
func level(rows []row) {
	type pool struct {
		sum float64
		n   int
	}
	// The logarithm of time, tilted by what it may droop.
	tilted := func(r *row) float64 { return r.ratio + math.Log(r.estimate) + droop*r.x }
	var pools []pool
	for i := range rows {
		pools = append(pools, pool{tilted(&rows[i]), 1})
		for n := len(pools); n > 1 && pools[n-2].sum*float64(pools[n-1].n) > pools[n-1].sum*float64(pools[n-2].n); n-- {
			pools[n-2].sum += pools[n-1].sum
			pools[n-2].n += pools[n-1].n
			pools = pools[:n-1]
		}
	}
	i := 0
	for _, p := range pools {
		for range p.n {
			rows[i].ratio += p.sum/float64(p.n) - tilted(&rows[i])
			i++
		}
	}
}

// near enough is how far interpolation may lie from a point that is dropped, in
// logarithms.
const nearEnough = 0.03

// fewer drops points, and whole lines, that the others give by interpolation.
func fewer(lines [][]row) [][]row {
	thinned := make([]line, len(lines))
	kept := make([][]row, len(lines))
	for i, l := range lines {
		kept[i] = thinned1(l)
		thinned[i] = curve(kept[i])
	}
	out := [][]row{kept[0]}
	last := 0 // of the lines kept
	for i := 1; i < len(lines); i++ {
		if i+1 < len(lines) && between(lines[last+1:i+1], &thinned[last], &thinned[i+1]) {
			continue
		}
		out, last = append(out, kept[i]), i
	}
	return out
}

// between reports whether two lines give those between them.
func between(lines [][]row, lo, hi *line) bool {
	for _, l := range lines {
		for i := range l {
			r := &l[i]
			a, b := lo.read(r.x), hi.read(r.x)
			if a.over > 0 || b.over > 0 {
				return false
			}
			w := (r.line - lo.at) / (hi.at - lo.at)
			if math.Abs(a.ratio+w*(b.ratio-a.ratio)-r.ratio) > nearEnough {
				return false
			}
		}
	}
	return true
}

// curve is a line of rows.
func curve(rows []row) line {
	l := line{at: rows[0].line}
	for i := range rows {
		l.x, l.ratio = append(l.x, rows[i].x), append(l.ratio, rows[i].ratio)
	}
	return l
}

// thinned1 drops points of a line, the farthest from its chord last.
func thinned1(rows []row) []row {
	if len(rows) < 3 {
		return rows
	}
	keep := make([]bool, len(rows))
	keep[0], keep[len(rows)-1] = true, true
	var divide func(a, b int)
	divide = func(a, b int) {
		worst, at := nearEnough, -1
		for i := a + 1; i < b; i++ {
			w := (rows[i].x - rows[a].x) / (rows[b].x - rows[a].x)
			if off := math.Abs(rows[a].ratio + w*(rows[b].ratio-rows[a].ratio) - rows[i].ratio); off > worst {
				worst, at = off, i
			}
		}
		if at >= 0 {
			keep[at] = true
			divide(a, at)
			divide(at, b)
		}
	}
	divide(0, len(rows)-1)
	var out []row
	for i := range rows {
		if keep[i] {
			out = append(out, rows[i])
		}
	}
	return out
}

// title names a group's family and number formats.
func (g *group) title() string {
	name := [families]string{
		"gemm", "prefill", "decode", "latent.prefill", "latent.decode", "latent.absorb", "latent.expand", "experts",
		"scan", "update", "comm.reduce", "comm.gather", "comm.scatter", "comm.exchange",
	}[g.family]
	short := [formats]string{"", "wide", "fp8", "block", "fp4", "int4", "int8", "mxfp4", "mxfp4-fp8"}
	if g.in != noFormat {
		name += "." + short[g.in]
	}
	if g.kv != noFormat {
		name += "." + short[g.kv]
	}
	return name
}
