package calibrate

import (
	"math"
	"sync"

	"plimsoll/internal/replica"
	"plimsoll/internal/step"
)

// The parameters of a tuning, as logarithms of multipliers.
const (
	zProducts = iota
	zExperts
	zExchange
	zElementwise
	zHead
	zDecodeAttention
	zPrefillProducts // beyond zProducts
	zPrefillExperts  // beyond zExperts
	zPrefillExchange // beyond zExchange
	zPrefillAttention
	zPerStep
	zPerSequence
	zPerPrefillStep
	zPerLayer
	zLaunchFloor
	zAPI
	zFirst
	parameters
)

// width is how far a parameter is believed to lie from its prior, in logarithms:
// kernels are known to a third, host times to a factor of two.
func width(i int) float64 {
	if i >= zPerStep {
		return 0.7
	}
	return 0.35
}

// generationWidth is how far a generation is believed to differ from its engine.
const generationWidth = 0.5 // of the parameter's own width

// Params are the parameters of one engine: its own and what each generation
// adds.
type Params struct {
	Base       [parameters]float64
	Generation map[string]*[parameters]float64
}

// Tuning is the tuning on a generation.
func (p *Params) Tuning(generation string) replica.Tuning {
	z := p.Base
	if g, ok := p.Generation[generation]; ok {
		for i := range z {
			z[i] += g[i]
		}
	}
	t := replica.Untuned()
	e := func(i int) float64 { return math.Exp(z[i]) }
	t.Decode[step.Products], t.Decode[step.Experts] = e(zProducts), e(zExperts)
	t.Decode[step.Exchange], t.Decode[step.Elementwise] = e(zExchange), e(zElementwise)
	t.Decode[step.Head], t.Decode[step.Attention] = e(zHead), e(zDecodeAttention)
	t.Prefill = t.Decode
	t.Prefill[step.Products] *= e(zPrefillProducts)
	t.Prefill[step.Experts] *= e(zPrefillExperts)
	t.Prefill[step.Exchange] *= e(zPrefillExchange)
	t.Prefill[step.Attention] = e(zPrefillAttention)
	t.PerStep, t.PerSequence, t.PerPrefillStep = e(zPerStep), e(zPerSequence), e(zPerPrefillStep)
	t.PerLayer, t.LaunchFloor = e(zPerLayer), e(zLaunchFloor)
	t.APIFixed, t.APIPerToken, t.First = e(zAPI), e(zAPI), e(zFirst)
	return t
}

// Scales of the residuals: errors of this size count as one; beyond, the loss
// grows linearly.
const (
	ttftScale  = 0.12
	tpotScale  = 0.08
	ttftWeight = 0.7
)

// Fit fits one engine's parameters to prepared rows by Gauss-Newton with a
// ridge, from a start (nil for the prior). Jacobians are numeric, with wide
// steps because a simulation is only piecewise smooth.
func Fit(rows []Prepared, start *Params, iterations, workers int) *Params {
	p := &Params{Generation: map[string]*[parameters]float64{}}
	var generations []string
	for i := range rows {
		g := rows[i].Generation
		if _, ok := p.Generation[g]; !ok {
			p.Generation[g] = &[parameters]float64{}
			generations = append(generations, g)
		}
	}
	p.startFrom(start)
	n := parameters * (1 + len(generations))
	for range iterations {
		base := residuals(rows, p, "", workers)
		jac := make([][]float64, n)
		for k := range n {
			only := "" // a generation's parameters change only its own rows
			if k >= parameters {
				only = generations[k/parameters-1]
			}
			const h = 0.15
			z := p.at(k, generations)
			*z += h
			r := residuals(rows, p, only, workers)
			*z -= h
			jac[k] = make([]float64, len(base))
			for i := range base {
				if only == "" || rows[i/2].Generation == only {
					jac[k][i] = (r[i] - base[i]) / h
				}
			}
		}
		delta := ridge(jac, base, p, generations)
		for k := range n {
			*p.at(k, generations) += math.Max(-0.5, math.Min(0.5, delta[k]))
		}
	}
	return p
}

// startShare is how much of a start is taken: enough to save steps, little
// enough that a fit without some rows forgets what they taught the start.
const startShare = 0.4

// startFrom takes a share of other parameters.
func (p *Params) startFrom(o *Params) {
	if o == nil {
		return
	}
	for i := range p.Base {
		p.Base[i] = startShare * o.Base[i]
	}
	for g, z := range p.Generation {
		if from, ok := o.Generation[g]; ok {
			for i := range z {
				z[i] = startShare * from[i]
			}
		}
	}
}

// at addresses parameter k: the engine's own first, then each generation's.
func (p *Params) at(k int, generations []string) *float64 {
	if k < parameters {
		return &p.Base[k]
	}
	k -= parameters
	return &p.Generation[generations[k/parameters]][k%parameters]
}

// residuals are two per row, in units of their scale, of one generation or all;
// a row that cannot be predicted has none.
func residuals(rows []Prepared, p *Params, only string, workers int) []float64 {
	out := make([]float64, 2*len(rows))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() {
			for i := range next {
				r := &rows[i]
				q := r.Simulate(p.Tuning(r.Generation))
				if q.Err != nil || q.TTFT <= 0 || q.TPOT <= 0 || r.Row.TTFT <= 0 || r.Row.TPOT <= 0 {
					continue
				}
				out[2*i] = ttftWeight * math.Log(float64(q.TTFT/r.Row.TTFT)) / ttftScale
				out[2*i+1] = math.Log(float64(q.TPOT/r.Row.TPOT)) / tpotScale
			}
		})
	}
	for i := range rows {
		if only == "" || rows[i].Generation == only {
			next <- i
		}
	}
	close(next)
	wg.Wait()
	return out
}

// ridge solves the regularized normal equations for a step. Large residuals are
// weighted down (pseudo-Huber).
func ridge(jac [][]float64, res []float64, p *Params, generations []string) []float64 {
	n := len(jac)
	weight := make([]float64, len(res))
	for i, r := range res {
		weight[i] = 1 / math.Sqrt(1+r*r)
	}
	a := make([][]float64, n)
	b := make([]float64, n)
	for i := range n {
		a[i] = make([]float64, n)
		for j := range i + 1 {
			sum := 0.0
			for k := range res {
				sum += weight[k] * jac[i][k] * jac[j][k]
			}
			a[i][j] = sum
		}
		for k := range res {
			b[i] -= weight[k] * jac[i][k] * res[k]
		}
		w := width(i % parameters)
		if i >= parameters {
			w *= generationWidth
		}
		// Rows of one benchmark campaign are not independent: one in ten counts.
		const independent = 10
		lambda := independent / (w * w)
		a[i][i] += lambda
		b[i] -= lambda * *p.at(i, generations)
	}
	return cholesky(a, b)
}

// cholesky solves a symmetric positive definite system given by its lower
// triangle.
func cholesky(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= a[i][k] * a[j][k]
			}
			if i == j {
				a[i][i] = math.Sqrt(math.Max(sum, 1e-12))
			} else {
				a[i][j] = sum / a[j][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range n {
		sum := b[i]
		for k := range i {
			sum -= a[i][k] * x[k]
		}
		x[i] = sum / a[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		sum := x[i]
		for k := i + 1; k < n; k++ {
			sum -= a[k][i] * x[k]
		}
		x[i] = sum / a[i][i]
	}
	return x
}
