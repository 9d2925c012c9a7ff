package measure

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
)

// How the errors of predictions go together: the share of their variance that two predictions have in common. From 2,576 aggregated rows of
// three sources (1,596 of AIConfigurator's silicon sample without calibration, 312 of other laboratories, 668 of AMD's dashboard): TPOT
// 0.85–0.96 for the same deployment at twice the load and 0.44–0.74 at more than four times, 0.43–0.65 for another layout at the same load, −0.8–0.49 for
// another engine; TTFT 0.64–0.82, 0.33–0.74, 0.43–0.55 and −0.07–0.51.
const (
	layoutTPOT, layoutTTFT = 0.55, 0.47 // another layout under the same engine
	engineTPOT, engineTTFT = 0.30, 0.28 // another engine on the same machine
	perDoublingTPOT        = 0.09       // decay of the logarithm with each doubling of the load
	farTTFT                = 0.5        // what is left far away
	perDoublingTTFT        = 0.75
)

// noise is the error of one run: repeated measurements differ by 1.8 % in TPOT and 4.3 % in TTFT (docs/accuracy.md).
func noise(q quantity) float64 {
	if q == ttft {
		return 0.05
	}
	return 0.02
}

// quantity is a time that is predicted and measured.
type quantity int

const (
	ttft quantity = iota
	tpot
	quantities
)

// point is a deployment at a load.
type point struct {
	deployment int
	engine     string
	load       float64 // requests in flight per device
	sigma      [quantities]float64
}

// related is the correlation of the errors of two predictions.
func related(q quantity, a, b *point) float64 {
	doublings := math.Abs(math.Log2(a.load / b.load))
	near, layout, engine := math.Exp(-perDoublingTPOT*doublings), layoutTPOT, engineTPOT
	if q == ttft {
		near, layout, engine = farTTFT+(1-farTTFT)*math.Exp(-perDoublingTTFT*doublings), layoutTTFT, engineTTFT
	}
	switch {
	case a.deployment == b.deployment:
		return near
	case a.engine == b.engine:
		return near * layout
	}
	return near * engine
}

// belief is what is known of the errors at all points: those of one quantity are normal in logarithms, independent of the other's.
type belief struct {
	points []point
	prior  [quantities][][]float64 // covariances
}

func newBelief(points []point) *belief {
	b := &belief{points: points}
	for q := range quantities {
		b.prior[q] = make([][]float64, len(points))
		for i := range points {
			b.prior[q][i] = make([]float64, len(points))
			for j := range points {
				b.prior[q][i][j] = points[i].sigma[q] * points[j].sigma[q] * related(q, &points[i], &points[j])
			}
		}
	}
	return b
}

// coincide keeps points that coincide apart.
const coincide = 1e-9

// weights say how what is measured at some points moves the expectation at all: a row for each point, a column for each measured one.
func (b *belief) weights(q quantity, measured []int) [][]float64 {
	n := len(measured)
	a := make([][]float64, n)
	for i, x := range measured {
		a[i] = make([]float64, n)
		for j, y := range measured {
			a[i][j] = b.prior[q][x][y]
		}
		a[i][i] += noise(q) * noise(q)
	}
	lower := cholesky.Factor(a, coincide)
	out := make([][]float64, len(b.points))
	for i := range b.points {
		row := make([]float64, n)
		for j, y := range measured {
			row[j] = b.prior[q][i][y]
		}
		out[i] = lower.Solve(row)
	}
	return out
}
