package cholesky_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
)

// TestSolve: a random covariance matrix times the solution, and times its inverse, is what it was solved for.
func TestSolve(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 20
	a, root := make([][]float64, n), make([][]float64, n)
	for i := range n {
		a[i], root[i] = make([]float64, n), make([]float64, n)
		for k := range n {
			root[i][k] = rng.NormFloat64()
		}
	}
	for i := range n {
		for j := range n {
			for k := range n {
				a[i][j] += root[i][k] * root[j][k]
			}
		}
		a[i][i]++
	}
	b := make([]float64, n)
	for i := range b {
		b[i] = rng.NormFloat64()
	}
	l := cholesky.Factor(a, 1e-9)
	x, inverse := l.Solve(b), l.Inverse()
	for i := range n {
		back := 0.0
		for k := range n {
			back += a[i][k] * x[k]
		}
		if math.Abs(back-b[i]) > 1e-9 {
			t.Errorf("row %d: %g, want %g", i, back, b[i])
		}
		for j := range n {
			sum, want := 0.0, 0.0
			for k := range n {
				sum += a[i][k] * inverse[k][j]
			}
			if i == j {
				want = 1
			}
			if math.Abs(sum-want) > 1e-9 {
				t.Errorf("element %d, %d of the product with the inverse: %g", i, j, sum)
			}
		}
	}
}

// TestSingular: rows that are equal still give finite numbers.
func TestSingular(t *testing.T) {
	t.Parallel()
	for _, x := range cholesky.Factor([][]float64{{1, 1}, {1, 1}}, 1e-6).Solve([]float64{1, 2}) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("got %g", x)
		}
	}
}
