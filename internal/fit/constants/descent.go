package constants

import (
	"context"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
)

// descent fits parameters by damped Gauss-Newton steps with a numeric Jacobian, on
// pseudo-Huber residuals and towards a prior.
type descent struct {
	// prior is where the parameters start, width how far each is believed to lie
	// from it.
	prior, width []float64
	// residuals are those at some parameters, weight how much one counts.
	residuals func(z []float64) []float64
	weight    func(i int) float64
	// scale is the residual beyond which it counts less than its square.
	scale float64
	steps int
}

// minimize returns the fitted parameters, or those so far when ctx ends.
func (d *descent) minimize(ctx context.Context) []float64 {
	z := slices.Clone(d.prior)
	best, r := d.loss(z)
	damping := 1e-2
	for range d.steps {
		if ctx.Err() != nil {
			break
		}
		next := d.step(z, r, damping)
		if l, after := d.loss(next); l < best {
			done := best-l < 1e-6*best
			z, best, r, damping = next, l, after, damping/4
			if done {
				break
			}
		} else {
			damping *= 8
		}
	}
	return z
}

// loss is what is minimized, and the residuals.
func (d *descent) loss(z []float64) (float64, []float64) {
	r := d.residuals(z)
	total := 0.0
	for i, x := range r {
		u := x / d.scale
		total += d.weight(i) * 2 * (math.Sqrt(1+u*u) - 1)
	}
	for i := range z {
		off := (z[i] - d.prior[i]) / d.width[i]
		total += off * off
	}
	return total, r
}

// step solves for one step from z, where the residuals are r.
func (d *descent) step(z, r []float64, damping float64) []float64 {
	const h = 1e-3
	n := len(z)
	jacobian := make([][]float64, n)
	for i := range n {
		moved := slices.Clone(z)
		moved[i] += h
		jacobian[i] = d.residuals(moved)
		for k := range r {
			jacobian[i][k] = (jacobian[i][k] - r[k]) / h
		}
	}
	a, b := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for k := range r {
			if jacobian[i][k] == 0 {
				continue
			}
			u := r[k] / d.scale
			w := d.weight(k) / (d.scale * d.scale) / math.Sqrt(1+u*u)
			b[i] -= w * jacobian[i][k] * r[k]
			for j := i; j < n; j++ {
				a[i*n+j] += w * jacobian[i][k] * jacobian[j][k]
			}
		}
		a[i*n+i] += 1 / (d.width[i] * d.width[i])
		b[i] -= (z[i] - d.prior[i]) / (d.width[i] * d.width[i])
		a[i*n+i] *= 1 + damping
	}
	out := slices.Clone(z)
	for i, x := range cholesky.SolveUpper(a, b) {
		out[i] += math.Max(-1, math.Min(1, x))
	}
	return out
}
