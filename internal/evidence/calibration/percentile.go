package calibration

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// apart is how far percentiles of TTFT and TPOT err beside their means: root mean squares, over eight open-loop traces of
// vLLM 0.24 on an H200, of ln(measured/predicted) less that of the mean. plimsoll check REQUESTS.csv MODEL --trace TRACE.jsonl --json
// gives the ratios (internal/evidence/NOTEBOOK.md); testdata/open-loop.csv has them by trace.
//
//nolint:gochecknoglobals // a constant table
var apart = []struct{ percentile, ttft, tpot float64 }{
	{50, 0.033, 0.026}, {95, 0.115, 0.067}, {99, 0.191, 0.123},
}

// apartAt are the standard deviations by which a percentile of TTFT and TPOT errs beside the mean; 0 is the mean. Between those that
// were compared they follow the normal quantile, beyond them they are those of the last.
func apartAt(percentile float64) (ttft, tpot float64) {
	if percentile == 0 {
		return 0, 0
	}
	normal := func(p float64) float64 { return math.Erfinv(2*p/100 - 1) }
	last := apart[len(apart)-1]
	if percentile <= apart[0].percentile {
		last = apart[0]
	}
	for i := range apart[1:] {
		if a, b := apart[i], apart[i+1]; percentile > a.percentile && percentile < b.percentile {
			share := (normal(percentile) - normal(a.percentile)) / (normal(b.percentile) - normal(a.percentile))
			return a.ttft + share*(b.ttft-a.ttft), a.tpot + share*(b.tpot-a.tpot)
		}
	}
	return last.ttft, last.tpot
}

// At is the errors of a percentile of times, of which s has those of the means; 0 is the mean. The number of requests served is
// as certain as before.
func (s Expected) At(percentile float64) Expected {
	if ttft, tpot := apartAt(percentile); ttft > 0 {
		s.Wider(ttft, tpot, 0, "percentiles are predicted less accurately than means (8 open-loop traces)")
	}
	return s
}

// mostSampling bounds the sampling error of a run that was too short to know it: a factor of 3.6.
const mostSampling = 1

// Sampled adds the sampling errors of the run that a prediction is from, relative standard errors.
func (s Expected) Sampled(x figures.Sampling) Expected {
	if max(x.TTFT, x.TPOT, x.Latency) > 0 {
		s.Wider(min(x.TTFT, mostSampling), min(x.TPOT, mostSampling), min(x.Latency, mostSampling), "the simulated run has a sampling error")
	}
	return s
}

// Latency is the error of a percentile of request latency; 0 is the mean. Residuals come from closed loops, in which throughput is
// the number of requests in flight over their latency; the shape is that of TPOT.
func (s *Expected) Latency(percentile float64) Error {
	_, tpot := apartAt(percentile)
	return s.Throughput.Inverse().widen(tpot)
}
