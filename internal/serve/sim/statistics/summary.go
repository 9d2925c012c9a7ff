package statistics

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Summary is the distribution of a time.
type Summary struct {
	Count                         int
	Mean, P50, P90, P95, P99, Max units.Seconds
	// At is the percentile that the configuration names; 0 if it names none.
	At units.Seconds `json:",omitempty"`
}

// HasPercentile reports whether every summary has a percentile, without a configuration
// that names it. The mean counts as 0.
func HasPercentile(p float64) bool { return p == 0 || p == 50 || p == 90 || p == 95 || p == 99 }

// Percentile is a percentile of the times: one that every summary has, or the one that
// the configuration names. 0 is the mean.
func (s *Summary) Percentile(p float64) units.Seconds {
	switch p {
	case 0:
		return s.Mean
	case 50:
		return s.P50
	case 90:
		return s.P90
	case 95:
		return s.P95
	case 99:
		return s.P99
	}
	return s.At
}

// summarize reorders the values.
func summarize(values []units.Seconds, percentile float64) Summary {
	return new(Tally).summarize(values, 1, percentile)
}

// summarize does so as it would be with usual arrivals; each value stands for so many equal ones.
func (t *Tally) summarize(values []units.Seconds, times int, percentile float64) Summary {
	n := len(values)
	if n == 0 {
		return Summary{}
	}
	shares := [...]float64{0.50, 0.90, 0.95, 0.99, 1, percentile / 100}
	if t.control.values == n {
		for i, q := range shares {
			if q < 1 {
				shares[i], _ = t.share(values, q)
			}
		}
		for i := 1; i < 4; i++ {
			shares[i] = max(shares[i], shares[i-1])
		}
	}
	mean, _ := t.mean(values)
	at := quantile.Repeated(values, times, shares[:5]...)
	out := Summary{Count: times * n, Mean: mean, P50: at[0], P90: at[1], P95: at[2], P99: at[3], Max: at[4]}
	if !HasPercentile(percentile) {
		out.At = quantile.Repeated(values, times, shares[5])[0]
	}
	return out
}
