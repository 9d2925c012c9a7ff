package sim

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Summary is the distribution of a time.
type Summary struct {
	Count                         int
	Mean, P50, P90, P95, P99, Max units.Seconds
}

// summarize reorders the values, each of which stands for so many equal ones.
func summarize(values []units.Seconds, times int) Summary {
	n := len(values)
	if n == 0 {
		return Summary{}
	}
	var sum units.Seconds
	for _, v := range values {
		sum += v
	}
	at := quantile.Repeated(values, times, 0.50, 0.90, 0.95, 0.99, 1)
	return Summary{
		Count: times * n, Mean: sum / units.Seconds(n),
		P50: at[0], P90: at[1], P95: at[2], P99: at[3], Max: at[4],
	}
}
