package table

import "github.com/plimsoll-project/plimsoll/internal/cost/op"

// Busiest is what a table of experts that were dealt tokens by a power law measures.
func Busiest(exponent float64, d op.Deal, tokens float64) (rows, active float64) {
	return law{exponent: exponent}.busiest(d, tokens)
}
