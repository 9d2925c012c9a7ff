// Package sample holds a place of every kind that can be changed.
package sample

import (
	"fmt"
	"math"
)

const half = 0.5

type length float64

func area(a, b length) length { return a*b + half }

func clip(x, low, high int) int { return max(low, min(x, high)) }

func nearest(x float64) float64 { return math.Max(x-1, 0) }

func inside(x, low, high int) bool { return x >= low && x < high }

func sum(values []int) int {
	total := 0
	for _, v := range values {
		if odd(v) {
			total += v
		}
	}
	note(&total)
	return total
}

func odd(x int) bool { return x%2 == 1 }

func note(x *int) { *x++ }

// unseen is called by no test.
func unseen(x int) int { return x % 7 }

func label(x int) string {
	out := make([]string, 0, 16)
	switch x {
	case 1:
		out = append(out, "one")
	}
	return fmt.Sprintf("%v %d", out, x+1)
}
