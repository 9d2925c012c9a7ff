package figures

// Estimate is a predicted value with its 80 % interval. A value that does not exist is nil, and null in JSON.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Zero is the estimate, or the zero estimate where there is none.
func (e *Estimate) Zero() Estimate {
	if e == nil {
		return Estimate{}
	}
	return *e
}

// Sure is a value that is given.
func Sure(value float64) Estimate { return Estimate{value, value, value} }

// Times is the estimate of so many times the value.
func (e Estimate) Times(n float64) Estimate { return Estimate{n * e.Value, n * e.Low, n * e.High} }

// Record is the figures of a deployment at one load as answers show them: how much, how fast and how sure.
type Record struct {
	Rates

	// Judged are the latencies that limits apply to.
	Judged Latencies `json:"judged"`
	// Basis is the source of the intervals.
	Basis string `json:"basis"`
}

// Rates are how much a deployment does: output tokens and requests per second.
type Rates struct {
	Tokens       Estimate `json:"tokens_per_second"`     // of all devices
	TokensPerGPU Estimate `json:"tokens_per_second_gpu"` // of a device that is paid for
	// TokensPerUser is those that a user sees, null if requests generate one token.
	TokensPerUser *Estimate `json:"tokens_per_second_user"`
	RequestRate   Estimate  `json:"request_rate"`
}

// Given are the rates where the load is given, so that only what a user sees is predicted.
func (r Rates) Given() Rates {
	r.Tokens, r.TokensPerGPU, r.RequestRate = Sure(r.Tokens.Value), Sure(r.TokensPerGPU.Value), Sure(r.RequestRate.Value)
	return r
}

// Latencies are the times of requests by one statistic, in milliseconds, null where a deployment has none: TPOT if requests generate one
// token.
type Latencies struct {
	Statistic string    `json:"statistic"` // mean, or a percentile such as p95
	TTFT      *Estimate `json:"ttft_ms"`
	TPOT      *Estimate `json:"tpot_ms"`
	Latency   *Estimate `json:"request_latency_ms"`
	// Chance is the probability that they meet the limits; null without limits.
	Chance *float64 `json:"chance_within_limits"`
}

// Sure is the probability that they meet the limits, 1 without limits.
func (l *Latencies) Sure() float64 {
	if l.Chance == nil {
		return 1
	}
	return *l.Chance
}

// Each is something that the three predicted quantities have each: an error, a factor, a change.
type Each[T any] struct {
	TTFT       T `json:"ttft"`
	TPOT       T `json:"tpot"`
	Throughput T `json:"throughput"`
}

// Factors are measured over predicted quantities, with their 80 % intervals.
type Factors struct{ Each[Estimate] }
