package deployments

import (
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
)

// mostRemembered is how many numbers of deployments a fit keeps: with the 105 of [mostMultipliers] and 6 for models without rows 333, half of the 666 of the first fit. Chosen
// singly they predict held-out rows better than 111 pairs (internal/evidence/NOTEBOOK.md).
const mostRemembered = 222

// choice chooses the numbers of deployments that a memory keeps, one by one: each time the one that brings predictions of the rows nearest
// to what was measured.
type choice struct {
	terms [][]term // of the rows of each deployment
	// around are the covariances of what the kept numbers leave open, by parameter, and open is what they leave open of the values of all.
	around [2][][]float64
	open   [2][]float64
	loss   []float64 // of the rows of each deployment
	kept   [2][]int
	gains  [2][]float64 // of keeping a number, NaN where it must be computed
}

// term is one residual of a row, with the values of all deployments, and how it changes with those of its own.
type term struct {
	residual, weight float64
	slope            [2]float64
}

// newChoice begins with nothing kept.
func newChoice(m *memory, all []calibrate.Equation, x []float64, counts func(row int) bool) *choice {
	n := len(m.deployments)
	c := &choice{terms: make([][]term, n), loss: make([]float64, n)}
	weights := m.weights(counts)
	for i := range all {
		e := &all[i]
		if !counts(e.Row) {
			continue
		}
		t := term{residual: e.Residual(x), weight: weights[m.at[e.Row]]}
		for k, at := range e.At {
			if at >= m.first {
				t.slope[(at-m.first)/n] = e.Slope[k]
			}
		}
		c.terms[m.at[e.Row]] = append(c.terms[m.at[e.Row]], t)
	}
	around := m.covariances()
	for j := range c.open {
		c.around[j] = make([][]float64, n)
		for i := range around {
			c.around[j][i] = slices.Clone(around[i])
		}
		c.open[j] = slices.Clone(x[m.first+j*n : m.first+(j+1)*n])
		c.gains[j] = slices.Repeat([]float64{math.NaN()}, n)
	}
	for i := range n {
		c.loss[i] = c.lossOf(i, c.open[0][i], c.open[1][i])
	}
	return c
}

// weights are those of a row of each deployment. Ten rows are enough to know a deployment, and sources count by the root of their rows, so that
// one with few is not forgotten for one with thousands: judgements, which predict held-out rows as well as others. Rigs are one source.
func (m *memory) weights(counts func(row int) bool) []float64 {
	const manyRows = 10
	out := make([]float64, len(m.deployments))
	for row, at := range m.at {
		if counts(row) {
			out[at]++
		}
	}
	source := func(i int) string {
		if m.deployments[i].Rig != "" {
			return ""
		}
		return m.sources[i]
	}
	of := map[string]float64{}
	for i, rows := range out {
		of[source(i)] += min(manyRows, rows)
	}
	for i, rows := range out {
		if rows > 0 {
			out[i] = min(1, manyRows/rows) / math.Sqrt(of[source(i)])
		}
	}
	return out
}

// run keeps numbers until there are enough.
func (c *choice) run(most int) [2][]int {
	for len(c.kept[0])+len(c.kept[1]) < most {
		parameter, best, most := 0, -1, 0.0
		for j := range c.gains {
			for i, gain := range c.gains[j] {
				if math.IsNaN(gain) {
					gain = c.gain(j, i)
					c.gains[j][i] = gain
				}
				if gain > most {
					parameter, best, most = j, i, gain
				}
			}
		}
		if best < 0 {
			break
		}
		c.keep(parameter, best)
	}
	slices.Sort(c.kept[0])
	slices.Sort(c.kept[1])
	return c.kept
}

// lossOf is that of a deployment's rows, where what is kept leaves so much of its values open.
func (c *choice) lossOf(at int, kernels, prompts float64) (sum float64) {
	for i := range c.terms[at] {
		t := &c.terms[at][i]
		r := t.residual - t.slope[0]*kernels - t.slope[1]*prompts
		sum += t.weight * math.Sqrt(1+r*r)
	}
	return sum
}

// gain is by how much the loss of all rows falls when a number is kept as well; nothing for deployments without rows.
func (c *choice) gain(parameter, at int) (sum float64) {
	if len(c.terms[at]) == 0 || slices.Contains(c.kept[parameter], at) {
		return 0
	}
	const little = 2e-3 // changes no prediction by more
	row := c.around[parameter][at]
	step := c.open[parameter][at] / row[at]
	for i, near := range row {
		if math.Abs(step*near) < little {
			continue
		}
		open := [2]float64{c.open[0][i], c.open[1][i]}
		open[parameter] -= step * near
		sum += c.loss[i] - c.lossOf(i, open[0], open[1])
	}
	return sum
}

// keep keeps a number.
func (c *choice) keep(parameter, at int) {
	const far = 0.01 // of what changes no other gain
	c.kept[parameter] = append(c.kept[parameter], at)
	around, open := c.around[parameter], c.open[parameter]
	row, value := slices.Clone(around[at]), open[at]
	for i, near := range row {
		share := near / row[at]
		open[i] -= share * value
		for k := range row {
			around[i][k] -= share * row[k]
		}
		c.loss[i] = c.lossOf(i, c.open[0][i], c.open[1][i])
		if i == at || math.Abs(near) > far {
			c.gains[0][i], c.gains[1][i] = math.NaN(), math.NaN()
		}
	}
}

// forget is the system with a memory of so many numbers, and its unknowns found again from the rows that count: what is kept of a deployment then
// stands for those near it too.
func (s *system) forget(all []calibrate.Equation, x []float64, most int, counts func(row int) bool) (*system, []float64) {
	m := s.memory
	n := len(m.deployments)
	kept := newChoice(m, all, x, counts).run(most)
	if len(kept[0])+len(kept[1]) == len(kept)*n {
		return s, x
	}
	out := &system{System: &calibrate.System{
		Unknowns: slices.Clone(s.Unknowns[:m.first]), Widths: s.Widths, Lambda: s.Lambda, Rigs: s.Rigs, Start: slices.Clone(x[:m.first]),
	}}
	out.keep(m.only(kept))
	for j := range kept {
		for _, i := range kept[j] {
			out.Unknowns, out.Start = append(out.Unknowns, s.Unknowns[m.first+j*n+i]), append(out.Start, x[m.first+j*n+i])
		}
	}
	taken := out.memory.taken()
	less := make([]calibrate.Equation, 0, len(all))
	for i := range all {
		if counts(all[i].Row) {
			less = append(less, out.memory.through(&all[i], &taken))
		}
	}
	return out, out.Solve(less, counts)
}
