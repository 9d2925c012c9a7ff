// Package cholesky solves systems with small symmetric positive definite matrices, such as covariances: the same digits on every
// processor, which routines written for one processor do not give.
package cholesky

import "math"

// Lower is the lower triangular factor of a matrix.
type Lower [][]float64

// Factor factors a matrix, of which it reads the lower triangle. Rows that depend on each other leave a matrix singular: the square of
// a diagonal element of the factor is at least the least one given.
func Factor(a [][]float64, least float64) Lower {
	n := len(a)
	l := make(Lower, n)
	for i := range n {
		l[i] = make([]float64, n)
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= float64(l[i][k] * l[j][k]) // converted, so that no processor fuses it with the subtraction
			}
			if i == j {
				l[i][i] = math.Sqrt(max(least, sum))
				continue
			}
			l[i][j] = sum / l[j][j]
		}
	}
	return l
}

// Solve is the vector that the factored matrix turns into b.
func (l Lower) Solve(b []float64) []float64 {
	n := len(b)
	x := make([]float64, n)
	for i := range n {
		sum := b[i]
		for k := range i {
			sum -= float64(l[i][k] * x[k])
		}
		x[i] = sum / l[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		sum := x[i]
		for k := i + 1; k < n; k++ {
			sum -= float64(l[k][i] * x[k])
		}
		x[i] = sum / l[i][i]
	}
	return x
}

// Inverse is the inverse of the factored matrix.
func (l Lower) Inverse() [][]float64 {
	out := make([][]float64, len(l))
	for i := range out {
		unit := make([]float64, len(l))
		unit[i] = 1
		out[i] = l.Solve(unit)
	}
	return out
}

// SolveUpper solves a symmetric system, of which a holds the upper triangle by rows; nil if it is not positive definite.
func SolveUpper(a, b []float64) []float64 {
	n := len(b)
	lower := make([][]float64, n)
	for i := range n {
		for j := range i + 1 {
			lower[i] = append(lower[i], a[j*n+i])
		}
	}
	factor := Factor(lower, 0)
	for i := range n {
		if !(factor[i][i] > 0) {
			return nil
		}
	}
	return factor.Solve(b)
}
