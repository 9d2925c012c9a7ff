package traffic

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// Lengths says how long prompts or answers are: uniform from Low·Tokens to
// Tokens, or drawn from a distribution.
type Lengths struct {
	Tokens int
	// Low is the shortest length as a share of Tokens; 0 means 1, all alike.
	// Benchmarks jitter by 0.8; it matters to first order, since equal lengths
	// keep all requests in lock-step.
	Low float64
	// Distribution, if given, replaces the two: a bin by its weight, then a
	// length inside it, each as likely.
	Distribution *workload.Distribution
}

// maxTokens bounds a length, so that sums of lengths stay exact.
const maxTokens = 1 << 24

// Check reports lengths that no request can be drawn from.
func (l *Lengths) Check() error {
	if l.Distribution == nil {
		if l.Tokens < 1 || l.Tokens > maxTokens {
			return fmt.Errorf("tokens must be between 1 and %d, got %d", maxTokens, l.Tokens)
		}
		if !(l.Low >= 0 && l.Low <= 1) {
			return fmt.Errorf("the shortest length must be a share between 0 and 1, got %g", l.Low)
		}
		return nil
	}
	sum := 0.0
	for _, b := range l.Distribution.Bins {
		if b.Min < 0 || b.Max <= b.Min || b.Max > maxTokens || !(b.Weight >= 0) {
			return fmt.Errorf("invalid bin: %d to %d tokens, weight %g", b.Min, b.Max, b.Weight)
		}
		sum += b.Weight
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return errors.New("the weights of the bins must have a positive, finite sum")
	}
	return nil
}

// drawer returns a function that draws lengths.
func (l *Lengths) drawer(random *rand.Rand) func() int {
	if l.Distribution != nil {
		return binDrawer(l.Distribution.Bins, random)
	}
	shortest := l.Shortest()
	span := l.Tokens - shortest + 1
	if span == 1 {
		return func() int { return l.Tokens }
	}
	return func() int { return shortest + random.IntN(span) }
}

// draw draws a length without a distribution.
func (l *Lengths) draw(random *rand.Rand) int {
	shortest := l.Shortest()
	return shortest + random.IntN(l.Tokens-shortest+1)
}

// Shortest is the least that may be drawn.
func (l *Lengths) Shortest() int {
	if l.Distribution != nil {
		least := maxTokens
		for _, b := range l.Distribution.Bins {
			least = min(least, max(1, b.Min))
		}
		return least
	}
	low := l.Low
	if low == 0 {
		low = 1
	}
	return max(1, int(math.Round(low*float64(l.Tokens))))
}

func binDrawer(bins []workload.Bin, random *rand.Rand) func() int {
	upTo := make([]float64, len(bins))
	sum := 0.0
	for i, b := range bins {
		sum += b.Weight
		upTo[i] = sum
	}
	return func() int {
		x := random.Float64() * sum
		i := 0
		for i < len(bins)-1 && x >= upTo[i] {
			i++
		}
		return max(1, bins[i].Min+random.IntN(bins[i].Max-bins[i].Min))
	}
}
