package calibration

import (
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Error is where measurements lie around a prediction: the 10 % and 90 %
// quantiles of ln(measured/predicted), or the ends of an interval that holds
// 80 % of them.
type Error struct{ Low, High float64 }

// interval is the probability that an interval holds a measurement, normal80 its
// half-width in standard deviations.
const (
	interval = 0.8
	normal80 = 1.2815515655
)

// Interval is the 80 % interval around a predicted quantity.
func (e Error) Interval(predicted float64) (low, high float64) {
	return predicted * math.Exp(e.Low), predicted * math.Exp(e.High)
}

// Of is a predicted quantity with its interval.
func (e Error) Of(predicted float64) figures.Estimate {
	low, high := e.Interval(predicted)
	return figures.Estimate{Value: predicted, Low: low, High: high}
}

// OrNull is Of, nil where there is no such quantity: requests of one token have no TPOT.
func (e Error) OrNull(predicted float64) *figures.Estimate {
	if predicted == 0 {
		return nil
	}
	return new(e.Of(predicted))
}

// Times is the same for a time.
func (e Error) Times(predicted units.Seconds) (low, high units.Seconds) {
	l, h := e.Interval(float64(predicted))
	return units.Seconds(l), units.Seconds(h)
}

// Within is the probability that the measurement is at most a limit, for a
// lognormal distribution with these quantiles. Without a limit it is one.
func (e Error) Within(predicted, limit units.Seconds) float64 {
	if limit <= 0 || math.IsInf(float64(limit), 1) || predicted <= 0 {
		return 1
	}
	sigma := (e.High - e.Low) / 2 / normal80
	z := math.Log(float64(limit/predicted)) - (e.Low+e.High)/2
	if sigma <= 0 {
		if z < 0 {
			return 0
		}
		return 1
	}
	return math.Erfc(-z/sigma/math.Sqrt2) / 2
}

// Apart is how far the logarithms of two predictions must differ for the difference to be
// outside their errors, which are taken as independent.
func Apart(a, b Error) float64 {
	half := func(e Error) float64 { return (e.High - e.Low) / 2 } // of an 80 % interval
	return math.Hypot(half(a), half(b))
}

// Limit is the smallest limit that a measurement meets with a probability.
func (e Error) Limit(predicted units.Seconds, probability float64) units.Seconds {
	sigma := (e.High - e.Low) / 2 / normal80
	z := math.Sqrt2 * math.Erfinv(2*probability-1)
	return predicted * units.Seconds(math.Exp((e.Low+e.High)/2+sigma*z))
}

// centred is the symmetric interval around the prediction that covers as much as the
// error's own, 80 % of a normal distribution: a bias to one side makes it wider on
// both. A row whose prediction equals its limit then meets it with a probability of
// one half, whatever predicted it.
func (e Error) centred() Error {
	middle, half := math.Abs(e.Low+e.High)/2, (e.High-e.Low)/2
	if middle == 0 || half <= 0 {
		half += middle
		return Error{-half, half}
	}
	scale := half / normal80 * math.Sqrt2
	low, high := half, half+middle
	const steps = 40 // to a relative 1e-12
	for range steps {
		x := (low + high) / 2
		if (math.Erf((x-middle)/scale)+math.Erf((x+middle)/scale))/2 < interval {
			low = x
		} else {
			high = x
		}
	}
	return Error{-high, high}
}

// Inverse is the error of the reciprocal: of a rate, given that of a time.
func (e Error) Inverse() Error { return Error{-e.High, -e.Low} }

// widen adds an independent error of a standard deviation.
func (e Error) widen(sigma float64) Error {
	middle, half := (e.Low+e.High)/2, (e.High-e.Low)/2
	half = math.Hypot(half, normal80*sigma)
	return Error{middle - half, middle + half}
}

// toward moves an error a share of the way to another one.
func (e Error) toward(o Error, share float64) Error {
	return Error{e.Low + share*(o.Low-e.Low), e.High + share*(o.High-e.High)}
}

// Expected is the errors to expect of a prediction.
type Expected struct {
	figures.Each[Error]

	// Basis says which measurements they come from, and why they are wider.
	Basis string
}

// LowChance is the chance of meeting the limits below which a note says so.
const LowChance = 0.6

// Latencies are times with these errors by a statistic, and the probability that they meet limits.
func (s *Expected) Latencies(of workload.Statistic, t figures.Times, l workload.Limits) figures.Latencies {
	out := figures.Latencies{
		Statistic: of.Named(), TTFT: s.TTFT.OrNull(t.TTFT.Ms()), TPOT: s.TPOT.OrNull(t.TPOT.Ms()), Latency: s.Latency(of.At()).OrNull(t.Latency.Ms()),
	}
	if l.Any() {
		out.Chance = new(s.Chance(t, l))
	}
	return out
}

// Rates are those of a throughput and of requests with these errors, on so many devices that are paid for, where a token of a user takes
// some time.
func (s *Expected) Rates(throughput, requests float64, devices int, each units.Seconds) figures.Rates {
	return figures.Rates{
		Tokens: s.Throughput.Of(throughput), TokensPerGPU: s.Throughput.Of(throughput / float64(devices)),
		TokensPerUser: s.TPOT.Inverse().OrNull(each.Rate()), RequestRate: s.Throughput.Of(requests),
	}
}

// Chance is the probability that times meet all limits. Their errors are assumed
// independent: the rank correlation of those of TTFT and TPOT over 1,200 measured
// deployments is 0.1 to 0.2.
func (s *Expected) Chance(t figures.Times, l workload.Limits) float64 {
	first, each, whole := s.Chances(t, l)
	return first * each * whole
}

// Chances are the probabilities that times meet each limit. The latency of a request is
// for the most part that of its tokens, so that it has the error of TPOT.
func (s *Expected) Chances(t figures.Times, l workload.Limits) (first, each, whole float64) {
	return s.TTFT.Within(t.TTFT, l.TTFT), s.TPOT.Within(t.TPOT, l.TPOT), s.TPOT.Within(t.Latency, l.Latency)
}

// Reachable are the smallest limits that times meet, each with a probability.
func (s *Expected) Reachable(t figures.Times, probability float64) workload.Limits {
	return workload.Limits{
		TTFT: s.TTFT.Limit(t.TTFT, probability), TPOT: s.TPOT.Limit(t.TPOT, probability), Latency: s.TPOT.Limit(t.Latency, probability),
	}
}

// Sigma is the standard deviation of errors whose 80 % interval has these ends.
func Sigma(low, high float64) float64 { return (high - low) / 2 / normal80 }

// Wider adds independent errors of standard deviations, and says why.
func (s *Expected) Wider(ttft, tpot, throughput float64, why string) {
	s.widen(ttft, tpot, throughput)
	word := widened
	if strings.Contains(s.Basis, widened) {
		word = furthermore
	}
	s.Basis += word + why
}

// widened and furthermore begin the reasons why errors are wider.
const widened, furthermore = "; widened because ", "; also because "

// draw moves the errors a share of the way to residuals.
func (s *Expected) draw(r *Residuals, share float64) {
	s.TTFT, s.TPOT = s.TTFT.toward(r.TTFT, share), s.TPOT.toward(r.TPOT, share)
	s.Throughput = s.Throughput.toward(r.Throughput, share)
}

func (s *Expected) widen(ttft, tpot, throughput float64) {
	s.TTFT, s.TPOT, s.Throughput = s.TTFT.widen(ttft), s.TPOT.widen(tpot), s.Throughput.widen(throughput)
}
