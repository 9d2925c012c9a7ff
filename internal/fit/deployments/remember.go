package deployments

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// memory is the part of a system that remembers deployments: unknowns of them for the parameters of a memory.
type memory struct {
	deployments []calibration.Subject
	rows        []int    // of each
	sources     []string // of most rows of each
	at          []int    // of each row, its deployment
	// kept are the deployments that have an unknown, by parameter, first the index of the first unknown; the others follow in this order.
	kept  [2][]int
	first int
	// precision is the inverse of their covariances.
	precision [2][][]float64
}

// remember adds the unknowns of every measured deployment.
func (s *system) remember(rows []measured.Prepared) {
	m := &memory{first: len(s.Unknowns), at: make([]int, len(rows))}
	index, votes := map[string]int{}, []map[string]int{}
	var all []int
	for i := range rows {
		name := rows[i].Subject.Deployment()
		k, ok := index[name]
		if !ok {
			k = len(m.deployments)
			index[name] = k
			m.deployments, all = append(m.deployments, rows[i].Subject.Remembers()), append(all, k)
			m.rows, votes = append(m.rows, 0), append(votes, map[string]int{})
		}
		m.rows[k]++
		votes[k][rows[i].Row.Provenance()]++
		m.at[i] = k
	}
	for k := range m.deployments {
		m.sources = append(m.sources, commonest(votes[k]))
	}
	for j, parameter := range calibration.MemoryParameters() {
		for k := range m.deployments {
			s.Unknowns = append(s.Unknowns, calibrate.Unknown{Group: m.deployments[k].Deployment(), Parameter: parameter})
		}
		for i, k := range m.at {
			s.Of[i][parameter] = append(s.Of[i][parameter], m.first+j*len(all)+k)
		}
	}
	s.keep(m.only([2][]int{all, all}))
}

// keep makes a memory that of the system.
func (s *system) keep(m *memory) { s.memory, s.Beyond = m, m }

// only is the memory with unknowns of some of the deployments.
func (m *memory) only(kept [2][]int) *memory {
	out := *m
	out.kept = kept
	for j := range kept {
		if j > 0 && slices.Equal(kept[j], kept[j-1]) {
			out.precision[j] = out.precision[j-1]
			continue
		}
		out.precision[j] = cholesky.Factor(calibration.Covariances(len(kept[j]), func(i int) *calibration.Subject { return &m.deployments[kept[j][i]] }), 0).Inverse()
	}
	return &out
}

// covariances are those of the deployments.
func (m *memory) covariances() [][]float64 {
	return calibration.Covariances(len(m.deployments), func(i int) *calibration.Subject { return &m.deployments[i] })
}

// OfRig reports whether an unknown is of a deployment on a rig.
func (m *memory) OfRig(unknown int) bool {
	at, kept := unknown-m.first, m.kept[0]
	if at >= len(kept) {
		at, kept = at-len(kept), m.kept[1]
	}
	return at >= 0 && m.deployments[kept[at]].Rig != ""
}

// commonest is the name with the largest number, of several the first by name.
func commonest(votes map[string]int) (out string) {
	for name, n := range votes {
		if n > votes[out] || n == votes[out] && name < out {
			out = name
		}
	}
	return out
}

// Prior adds the prior of the remembered deployments to the upper triangle of a matrix of all unknowns.
func (m *memory) Prior(a []float64, n int, lambda float64) {
	first := m.first
	for j, parameter := range calibration.MemoryParameters() {
		width := calibration.Width(parameter)
		for i, row := range m.precision[j] {
			for k := i; k < len(row); k++ {
				a[(first+i)*n+first+k] += lambda / (width * width) * row[k]
			}
		}
		first += len(m.kept[j])
	}
}

// taken are what each deployment takes of the values of the kept ones, by parameter.
func (m *memory) taken() (out [2][][]float64) {
	around := m.covariances()
	for j, kept := range m.kept {
		out[j] = make([][]float64, len(around))
		for i, near := range around {
			out[j][i] = make([]float64, len(kept))
			for l, at := range kept {
				for k := range kept {
					out[j][i][k] += near[at] * m.precision[j][l][k]
				}
			}
		}
	}
	return out
}

// through is an equation of a memory of all with the unknowns of one of some: the row takes of them what its own deployment does.
func (m *memory) through(e *calibrate.Equation, taken *[2][][]float64) calibrate.Equation {
	const little = 1e-4 // changes nothing that is written
	out := calibrate.Equation{Row: e.Row, Constant: e.Constant}
	for i, at := range e.At {
		if at < m.first {
			out.At, out.Slope = append(out.At, at), append(out.Slope, e.Slope[i])
			continue
		}
		first, j := m.first, (at-m.first)/len(m.deployments)
		if j > 0 {
			first += len(m.kept[0])
		}
		for k, share := range taken[j][m.at[e.Row]] {
			if math.Abs(share) > little {
				out.At, out.Slope = append(out.At, first+k), append(out.Slope, e.Slope[i]*share)
			}
		}
	}
	return out
}

// overlay is the memory with values of the unknowns.
func (m *memory) overlay(x []float64) *calibration.Memory {
	points := map[string]calibration.Remembered{}
	next := m.first
	for j, kept := range m.kept {
		for _, i := range kept {
			name := m.deployments[i].Deployment()
			p, ok := points[name]
			if !ok {
				p = calibration.Remembered{Subject: m.deployments[i], Kernels: math.NaN(), Prompts: math.NaN(), Rows: m.rows[i], Source: m.sources[i]}
			}
			if j == 0 {
				p.Kernels = x[next]
			} else {
				p.Prompts = x[next]
			}
			points[name] = p
			next++
		}
	}
	return calibration.NewMemory(points)
}

// Groups of a fit have rows of at least so many models: with fewer they remember models, which the memory does with less.
const fewestModels = 2

// shared are the groups with rows of several models.
func shared(rows []measured.Prepared) func(*calibration.Subject, int) []calibration.Group {
	models := map[calibrate.Unknown]map[string]bool{}
	for i := range rows {
		s := &rows[i].Subject
		for k := range calibration.Parameters {
			for _, g := range s.Groups(k) {
				u := calibrate.Unknown{Group: g.Name, Parameter: k}
				if models[u] == nil {
					models[u] = map[string]bool{}
				}
				models[u][s.Model] = true
			}
		}
	}
	fewest := min(fewestModels, len(calibrate.NamesOf(rows, func(p *measured.Prepared) string { return p.Subject.Model })))
	return among(func(u calibrate.Unknown) bool { return len(models[u]) >= fewest })
}

// among are the groups of a subject that are wanted.
func among(wanted func(calibrate.Unknown) bool) func(*calibration.Subject, int) []calibration.Group {
	return func(s *calibration.Subject, k int) []calibration.Group {
		return slices.DeleteFunc(s.Groups(k), func(g calibration.Group) bool { return !wanted(calibrate.Unknown{Group: g.Name, Parameter: k}) })
	}
}

// mostMultipliers is how many multipliers of groups a fit keeps: what 222 remembered numbers ([mostRemembered]) and 6 for models without rows
// leave of 333. Fewer predict disaggregated deployments and TTFT worse, with rows held out (internal/evidence/NOTEBOOK.md).
const mostMultipliers = 105

// prune has the fit keep the multipliers that matter most to its rows, some fewer at a time.
func (f *Fit) prune(near []calibrate.Linear, x []float64) []float64 {
	for len(f.system.Widths) > mostMultipliers {
		n := len(f.system.Widths)
		matters := f.system.matters(f.near, x)
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(matters[b], matters[a]) })
		const share = 0.8
		keep := map[calibrate.Unknown]bool{}
		for _, i := range order[:max(mostMultipliers, int(share*float64(n)))] {
			keep[f.system.Unknowns[i]] = true
		}
		before := map[calibrate.Unknown]float64{}
		for i, u := range f.system.Unknowns {
			before[u] = x[i]
		}
		f.system = newSystem(f.rows, among(func(u calibrate.Unknown) bool { return keep[u] }))
		f.near = f.system.Equations(near)
		for _, u := range f.system.Unknowns {
			f.system.Start = append(f.system.Start, before[u])
		}
		x = f.system.Solve(f.near, every)
	}
	return x
}

// matters is by how much each multiplier changes the residuals, squared and summed with their weights.
func (s *system) matters(all []calibrate.Equation, x []float64) []float64 {
	out := make([]float64, len(s.Unknowns))
	for _, e := range all {
		r := e.Residual(x)
		w := 1 / math.Sqrt(1+r*r)
		for k, i := range e.At {
			d := e.Slope[k] * x[i]
			out[i] += w * d * d
		}
	}
	return out
}
