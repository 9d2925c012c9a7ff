package search

import "cmp"

// Range is the batch sizes to try, per data-parallel rank.
type Range struct {
	Min, Max int
	Given    bool // by the user: then Max binds like a limit
	// Ends is why there is nothing above Max; "" = the range ends there.
	Ends Verdict
}

// Last is what binds at Max.
func (r *Range) Last() Verdict { return cmp.Or(r.Ends, RangeEnds) }

// DefaultRange is one to as many as the vendor's doubling would reach.
func DefaultRange() Range { return Range{Min: 1, Max: 1 << 19} }
