package statistics

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Figures are those of the requests that count, with times at a percentile; 0 is their mean.
func (r *Result) Figures(percentile float64) figures.Figures {
	out := figures.Figures{Times: r.Times(percentile), Throughput: r.OutputRate}
	if x := r.Sampling; x != nil {
		out.Sampling = x.Sampling
	}
	return out
}

// Times are those of the requests that count, at a percentile; 0 is their mean.
func (r *Result) Times(percentile float64) figures.Times {
	return figures.Times{
		TTFT: r.TTFT.Percentile(percentile), TPOT: r.TPOT.Percentile(percentile), Latency: r.Latency.Percentile(percentile), SLORatio: units.Seconds(r.SLORatio),
	}
}
