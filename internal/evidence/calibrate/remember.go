package calibrate

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// memory is the part of a system that remembers deployments: an unknown for each of them and each parameter of a memory.
type memory struct {
	deployments []calibration.Subject
	rows        []int    // of each
	sources     []string // of most rows of each
	// first is the index of the first unknown; those of a parameter follow each other.
	first int
	// precision is the inverse of the deployments' covariances.
	precision [][]float64
	// kept are the deployments that an overlay gets.
	kept []int
}

// remember adds an unknown of every measured deployment.
func (s *system) remember(rows []measured.Prepared) {
	m := &memory{first: len(s.unknowns)}
	index, votes := map[string]int{}, []map[string]int{}
	at := make([]int, len(rows))
	for i := range rows {
		name := rows[i].Subject.Deployment()
		k, ok := index[name]
		if !ok {
			k = len(m.deployments)
			index[name] = k
			m.deployments = append(m.deployments, rows[i].Subject.Remembers())
			m.rows, votes = append(m.rows, 0), append(votes, map[string]int{})
		}
		m.rows[k]++
		votes[k][rows[i].Row.Provenance()]++
		at[i] = k
	}
	n := len(m.deployments)
	for k := range n {
		m.sources = append(m.sources, commonest(votes[k]))
		m.kept = append(m.kept, k)
	}
	for j, parameter := range calibration.MemoryParameters() {
		for k := range n {
			s.unknowns = append(s.unknowns, unknown{m.deployments[k].Deployment(), parameter})
		}
		for i := range rows {
			s.of[i][parameter] = append(s.of[i][parameter], m.first+j*n+at[i])
		}
	}
	m.precision = cholesky.Factor(m.covariances(), 0).Inverse()
	s.memory = m
}

// covariances are those of the deployments.
func (m *memory) covariances() [][]float64 {
	return calibration.Covariances(len(m.deployments), func(i int) *calibration.Subject { return &m.deployments[i] })
}

// ofRig reports whether an unknown is of a deployment on a rig.
func (m *memory) ofRig(unknown int) bool {
	return unknown >= m.first && m.deployments[(unknown-m.first)%len(m.deployments)].Rig != ""
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

// prior adds the prior of the remembered deployments to the upper triangle of a matrix of all unknowns.
func (m *memory) prior(a []float64, n int, lambda float64) {
	size := len(m.deployments)
	for j, parameter := range calibration.MemoryParameters() {
		width, first := calibration.Width(parameter), m.first+j*size
		for i := range size {
			for k := i; k < size; k++ {
				a[(first+i)*n+first+k] += lambda / (width * width) * m.precision[i][k]
			}
		}
	}
}

// mostRemembered is how many deployments a fit keeps: half of the numbers of the first fit. Where those to keep were chosen one by one
// backwards, configurations held out were predicted as well with 150, and with 90 TPOT of NVIDIA's devices was off by 0.3 points more.
const mostRemembered = 111

// forget keeps the deployments that say most of all: one after the other it takes the one that brings what the kept ones say nearest to
// the values of all.
func (m *memory) forget(x []float64) {
	n := len(m.deployments)
	around := m.covariances() // of what the kept ones leave open
	off := [2][]float64{slices.Clone(x[m.first : m.first+n]), slices.Clone(x[m.first+n : m.first+2*n])}
	var kept []int
	for len(kept) < min(n, mostRemembered) {
		best, most := -1, math.Inf(-1)
		for i := range n {
			if !slices.Contains(kept, i) {
				if gain := m.gain(around[i], &off, i); gain > most {
					best, most = i, gain
				}
			}
		}
		kept = append(kept, best)
		row := slices.Clone(around[best])
		for k := range n {
			share := row[k] / row[best]
			off[0][k], off[1][k] = off[0][k]-share*off[0][best], off[1][k]-share*off[1][best]
			for l := range n {
				around[k][l] -= share * row[l]
			}
		}
	}
	slices.Sort(kept)
	m.kept = kept
}

// gain is by how much less the values of all are off when a deployment is kept as well, weighted by rows. Prompts count less: they move
// TTFT, whose errors are three times those of TPOT. That ten rows are enough to know a deployment is a judgement.
func (m *memory) gain(row []float64, off *[2][]float64, at int) (sum float64) {
	const manyRows, prompts = 10, 0.3
	for j, weight := range []float64{1, prompts} {
		step := off[j][at] / row[at]
		for k, was := range off[j] {
			sum += weight * float64(min(m.rows[k], manyRows)) * (math.Abs(was) - math.Abs(was-step*row[k]))
		}
	}
	return sum
}

// overlay is the memory with values of the unknowns.
func (m *memory) overlay(x []float64) *calibration.Memory {
	n := len(m.deployments)
	points := make(map[string]calibration.Remembered, len(m.kept))
	for _, i := range m.kept {
		points[m.deployments[i].Deployment()] = calibration.Remembered{
			Subject: m.deployments[i], Kernels: x[m.first+i], Prompts: x[m.first+n+i], Rows: m.rows[i], Source: m.sources[i],
		}
	}
	return calibration.NewMemory(points)
}

// Groups of a fit have rows of at least so many models: with fewer they remember models, which the memory does with less.
const fewestModels = 2

// shared are the groups with rows of several models.
func shared(rows []measured.Prepared) func(*calibration.Subject, int) []calibration.Group {
	models := map[unknown]map[string]bool{}
	for i := range rows {
		s := &rows[i].Subject
		for k := range calibration.Parameters {
			for _, g := range s.Groups(k) {
				u := unknown{g.Name, k}
				if models[u] == nil {
					models[u] = map[string]bool{}
				}
				models[u][s.Model] = true
			}
		}
	}
	fewest := min(fewestModels, len(namesOf(rows, func(p *measured.Prepared) string { return p.Subject.Model })))
	return among(func(u unknown) bool { return len(models[u]) >= fewest })
}

// among are the groups of a subject that are wanted.
func among(wanted func(unknown) bool) func(*calibration.Subject, int) []calibration.Group {
	return func(s *calibration.Subject, k int) []calibration.Group {
		return slices.DeleteFunc(s.Groups(k), func(g calibration.Group) bool { return !wanted(unknown{g.Name, k}) })
	}
}

// mostMultipliers is how many multipliers of groups a fit keeps: with all of them configurations held out are predicted as well.
const mostMultipliers = 110

// prune has the fit keep the multipliers that matter most to its rows, some fewer at a time, and then the deployments.
func (f *Fit) prune(near []linear, x []float64) []float64 {
	every := func(int) bool { return true }
	for f.system.multipliers() > mostMultipliers {
		n := f.system.multipliers()
		matters := f.system.matters(f.near, x)
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(matters[b], matters[a]) })
		const share = 0.8
		keep := map[unknown]bool{}
		for _, i := range order[:max(mostMultipliers, int(share*float64(n)))] {
			keep[f.system.unknowns[i]] = true
		}
		before := map[unknown]float64{}
		for i, u := range f.system.unknowns {
			before[u] = x[i]
		}
		f.system = newSystem(f.rows, nothing, among(func(u unknown) bool { return keep[u] }))
		f.system.remember(f.rows)
		f.near = f.system.equations(near)
		for _, u := range f.system.unknowns {
			f.system.start = append(f.system.start, before[u])
		}
		x = f.system.solve(f.near, every)
	}
	f.system.memory.forget(x)
	return x
}

// multipliers is how many unknowns are multipliers of groups.
func (s *system) multipliers() int {
	if s.memory == nil {
		return len(s.unknowns)
	}
	return s.memory.first
}

// matters is by how much each multiplier changes the residuals, squared and summed with their weights.
func (s *system) matters(all []equation, x []float64) []float64 {
	out := make([]float64, len(s.unknowns))
	for _, e := range all {
		r := e.residual(x)
		w := 1 / math.Sqrt(1+r*r)
		for k, i := range e.at {
			d := e.slope[k] * x[i]
			out[i] += w * d * d
		}
	}
	return out
}
