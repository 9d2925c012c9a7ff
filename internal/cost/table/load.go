package table

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
)

// tooMany is the share of impossible rows from which the rest of a kernel's rows
// is not believed either.
const tooMany = 0.05

// load reads the tables of a group. The caller holds the lock.
func (t *Tables) load(g group) []source {
	if t.fitted != nil {
		out, err := t.fitted.sources(g)
		if err != nil {
			panic(fmt.Sprintf("table: surfaces of %s: %v", t.fitted.System, err)) // a test decodes those shipped
		}
		return out
	}
	var out []source
	for _, tries := range g.readings() {
		for _, f := range t.system.Choose(tries[0].table, t.sel) {
			for i := range tries {
				rows, err := t.system.Read(f, &tries[i].query)
				if err != nil {
					t.fail(f, err)
					break
				}
				// Rows found may all be of other sizes.
				if found := t.understand(f, &tries[i], rows); len(found) > 0 {
					out = append(out, found...)
					break
				}
			}
		}
	}
	return out
}

// fail keeps one error of a file: that of which the text comes first, as groups
// are read in the order that workers ask for them. The caller holds the lock.
func (t *Tables) fail(f perfdata.File, err error) {
	if have, ok := t.errs[f.Path]; !ok || err.Error() < have.Error() {
		t.errs[f.Path] = err
	}
}

// understand makes curves of rows, by kernel source.
func (t *Tables) understand(f perfdata.File, r *reading, rows *perfdata.Rows) []source {
	var out []source
	t.compare(f, r, rows, func(from string, rows []row) {
		out = append(out, source{from: from, sites: curves(rows)})
	})
	return out
}

// compare visits the believable rows, as ratios, by kernel source.
func (t *Tables) compare(f perfdata.File, r *reading, rows *perfdata.Rows, visit func(from string, rows []row)) {
	use := t.use(f, rows)
	kernels := map[string][]row{}
	trusted := t.believe(use, r, rows, func(kernel string, m *measurement) {
		if ratio, estimate, ok := t.ratio(m); ok {
			kernels[kernel] = append(kernels[kernel], row{place: m.place, line: m.line, x: m.x, ratio: ratio, estimate: estimate, deal: m.deal})
		}
	})
	for _, k := range trusted {
		use.Rows += len(kernels[k])
		visit(f.Engine+" "+f.Version+" "+k, kernels[k])
	}
}

// use is the account of a table. The caller holds the lock.
func (t *Tables) use(f perfdata.File, rows *perfdata.Rows) *Use {
	u := t.uses[f.Path]
	if u == nil {
		u = &Use{Path: f.Path, Of: rows.Total, WorstShare: 1}
		t.uses[f.Path] = u
	}
	return u
}

// believe visits the measurements that the device can have made, and returns the
// kernels, in order, of which nearly all are such.
func (t *Tables) believe(use *Use, r *reading, rows *perfdata.Rows, visit func(kernel string, m *measurement)) []string {
	good, impossible := map[string]int{}, map[string]int{}
	each(r, rows, func(kernel string, m *measurement) {
		least, ok := t.light.possible(m.least(), m.seconds)
		if ok {
			good[kernel]++
			visit(kernel, m)
			return
		}
		impossible[kernel]++
		use.reject(m, least)
	})
	var out []string
	for _, k := range slices.Sorted(maps.Keys(good)) {
		if n, bad := good[k], impossible[k]; float64(bad) > tooMany*float64(n+bad) {
			use.Distrust += n
		} else {
			out = append(out, k)
		}
	}
	return out
}

// reject counts a measurement faster than the device can be. Of equally bad ones
// the text decides which is the worst, whichever group is read first.
func (u *Use) reject(m *measurement, least float64) {
	u.Rejected++
	x := m.seconds / least
	if x > u.WorstShare {
		return
	}
	if text := describe(m, least); x < u.WorstShare || text < u.Worst {
		u.WorstShare, u.Worst = x, text
	}
}

// each visits the measurements among rows.
func each(r *reading, rows *perfdata.Rows, visit func(kernel string, m *measurement)) {
	values := make([]float64, len(rows.Values))
	for i := range rows.N {
		usable := true
		for c := range values {
			values[c] = rows.Values[c][i]
			usable = usable && values[c] >= 0 && !math.IsInf(values[c], 1)
		}
		kernel := rows.Labels[0][i]
		if !usable || r.skipped(kernel) {
			continue
		}
		m, ok := r.row(values)
		if ok && m.seconds > 0 && finite(m.x) && finite(m.line) && finite(m.place[0]) && finite(m.place[1]) {
			visit(kernel, &m)
		}
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// ratio is the logarithm of measured over estimated time, and the estimate. What
// was measured beside the operators is taken off at its estimate; an operand
// found in the cache counts as read from memory.
func (t *Tables) ratio(m *measurement) (ratio, estimate float64, ok bool) {
	estimate = t.sum(m.ops)
	seconds := m.seconds - t.sum(m.beside)
	var least float64
	for i := range m.ops {
		least += t.light.of(&m.ops[i])
	}
	ratio = math.Log(math.Max(seconds, least) / estimate)
	return ratio, estimate, estimate > 0 && finite(ratio)
}

func (t *Tables) sum(ops []op.Op) float64 {
	var s float64
	for i := range ops {
		s += float64(t.base.Cost(&ops[i]).Total)
	}
	return s
}

// describe names a row for people.
func describe(m *measurement, least float64) string {
	o := &m.ops[0]
	var shape string
	switch o.Kind {
	case op.GEMM:
		shape = fmt.Sprintf("%g×%g×%g", o.Rows, o.Cols, o.Depth)
	case op.GroupedGEMM:
		shape = fmt.Sprintf("%.0f rows of %g×%g over %.1f experts", o.Rows, o.Depth, o.Cols, o.Experts)
	case op.Recurrent:
		n := o.Prefill.Requests + o.Decode.Requests
		shape = fmt.Sprintf("recurrence of %g × %g tokens, %g heads of %g", n, (o.Prefill.Tokens+o.Decode.Tokens)/n, o.Heads, o.HeadDim)
	case op.Collective:
		shape = fmt.Sprintf("%s over %d devices", o.Payload, o.Group.Size)
	default:
		phase := "decode"
		if o.Prefill.Tokens > 0 {
			phase = "prefill"
		}
		shape = fmt.Sprintf("%s of %g × %g tokens, %g heads of %g", phase, math.Exp2(m.line), math.Exp2(m.x), o.Heads, o.HeadDim)
	}
	return fmt.Sprintf("%s in %s; the device needs at least %s", shape, units.Seconds(m.seconds), units.Seconds(least))
}
