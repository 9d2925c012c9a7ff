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

// Times are predicted times: the mean with its 80 % interval, and percentiles of the requests.
type Times struct {
	Mean Milliseconds `json:"mean"`
	Low  Milliseconds `json:"low80"`
	High Milliseconds `json:"high80"`
	P50  Milliseconds `json:"p50"`
	P90  Milliseconds `json:"p90"`
	P95  Milliseconds `json:"p95"`
	P99  Milliseconds `json:"p99"`
}
