package statistics

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Histogram counts gaps between tokens, of which there are too many to keep. A
// bin is what agrees in the exponent and the first six bits of a number, 1.6 %
// wide at most, so that finding it needs no logarithm.
type Histogram struct {
	counts [bins]int64
	sum    float64
	n      int64
	max    units.Seconds
}

const (
	octaves  = 33               // from a microsecond to two hours
	lowest   = (1023 - 20) << 6 // 2^-20 s
	bins     = octaves << 6
	dropped  = 52 - 6 // bits of the mantissa
	binWidth = 1 << dropped
)

// Add counts n equal gaps.
func (h *Histogram) Add(gap units.Seconds, n int64) {
	if n <= 0 {
		return
	}
	i := int(math.Float64bits(max(0, float64(gap)))>>dropped) - lowest
	h.counts[min(max(i, 0), bins-1)] += n
	h.sum += float64(gap) * float64(n)
	h.n += n
	h.max = max(h.max, gap)
}

// Summary takes the middle of a bin for all that is in it.
func (h *Histogram) Summary() Summary {
	if h.n == 0 {
		return Summary{}
	}
	at := func(p float64) units.Seconds {
		left := int64(math.Ceil(p * float64(h.n)))
		for i, n := range h.counts {
			if left -= n; left <= 0 {
				return min(h.max, units.Seconds(math.Float64frombits(uint64(i+lowest)<<dropped+binWidth/2)))
			}
		}
		return h.max
	}
	return Summary{
		Count: int(h.n), Mean: units.Seconds(h.sum / float64(h.n)),
		P50: at(0.50), P90: at(0.90), P95: at(0.95), P99: at(0.99), Max: h.max,
	}
}
