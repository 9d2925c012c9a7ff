package plimsoll

// Milliseconds is a time.
type Milliseconds float64

// Limits are limits on TTFT, TPOT and the latency of whole requests; 0 is none.
type Limits struct {
	TTFT    Milliseconds `json:"ttft_ms,omitempty"`
	TPOT    Milliseconds `json:"tpot_ms,omitempty"`
	Latency Milliseconds `json:"latency_ms,omitempty"`
}

// Workload is requests of one kind: lengths in tokens, a preset ("chat"), or the lengths of a trace file.
type Workload struct {
	Name   string  `json:"name,omitempty"`
	Share  float64 `json:"share,omitempty"` // of all requests; 0 is 1
	Preset string  `json:"preset,omitempty"`
	Input  int     `json:"isl,omitempty"`
	Output int     `json:"osl,omitempty"`
	// LengthLow is the shortest length, as a share of Input and Output, from which lengths are uniform; 0 is 1.
	LengthLow float64 `json:"length_ratio_low,omitempty"`
	Prefix    int     `json:"prefix,omitempty"` // tokens of a prompt found in the prefix cache
	Trace     string  `json:"trace,omitempty"`
}

// Estimate is a predicted figure with its 80 % interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Latencies are the times of requests by one statistic, in milliseconds; TPOT is nil if requests generate one token.
type Latencies struct {
	Statistic string    `json:"statistic"` // mean, or a percentile such as p95
	TTFT      *Estimate `json:"ttft_ms"`
	TPOT      *Estimate `json:"tpot_ms"`
	Latency   *Estimate `json:"request_latency_ms"`
	// Chance is the probability that they meet the limits, nil without limits.
	Chance *float64 `json:"chance_within_limits"`
}

// Times are predicted times: the mean with its 80 % interval, and percentiles of the requests.
type Times struct {
	Mean Milliseconds `json:"mean"`
	Low  Milliseconds `json:"low"`
	High Milliseconds `json:"high"`
	P50  Milliseconds `json:"p50"`
	P90  Milliseconds `json:"p90"`
	P95  Milliseconds `json:"p95"`
	P99  Milliseconds `json:"p99"`
}
