package statistics

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Result is the result of a simulation. Times and rates are of the requests that
// count: finished, and after the warm-up.
type Result struct {
	Requests int // sent
	Finished int
	Refused  int // too long for the cache, even alone
	Counted  int

	Duration units.Seconds // from the first arrival that counts to the last end

	TTFT    Summary // time to first token
	TPOT    Summary // per request: the rest of its time over the rest of its tokens; of answers above one token
	ITL     Summary // gaps between the tokens of all requests, to 1 %; the mean is exact
	Latency Summary // of whole requests

	Offered     float64 // requests per second that came
	RequestRate float64 // requests per second that were served
	InputRate   float64 // prompt tokens per second
	OutputRate  float64 // generated tokens per second
	// GoodRate is requests per second that meet the limits, GoodShare their
	// share.
	GoodRate, GoodShare float64
	// SLORatio is the percentile of the largest ratio of a request's times to their limits, such as 0.8 for a TTFT of 1.6 s under a limit of
	// 2 s: up to 1 that share of the requests meets all limits. 0 if nobody asked.
	SLORatio float64 `json:",omitempty"`

	InFlight Levels
	// Sampling is how a steady run went; nil without one.
	Sampling *Sampling

	Workers PoolUse
	Decode  *PoolUse // nil unless disaggregated

	CachedShare float64 // prompt tokens found in the prefix cache or the host tier
	HostShare   float64 `json:",omitempty"` // of the prompt tokens, in the host tier
	// Sessions are those that ended; nil without any in the load.
	Sessions *Sessions `json:",omitempty"`
	Series   []Point
	Timeline *Timeline `json:",omitempty"` // if requested
	Records  []Record  // if requested, in order of arrival
}

// PoolUse is how a pool was used from the start to the end of the simulation.
type PoolUse struct {
	Busy         float64 // share of the time, mean over replicas
	KVMean       float64 // share of the blocks held by requests, over time
	KVPeak       float64 // in the fullest replica
	Steps        int64
	PrefillSteps int64 // of these, with prefill
	Preemptions  int
	Evictions    int64 `json:",omitempty"` // KV blocks taken out of the prefix cache for others
	// Loading is the time to load blocks from the host tier, Spared that to compute them.
	Loading, Spared units.Seconds `json:",omitempty"`
	// MaxStepTokens is the most tokens of a step in the whole run. Limited says that in some step a request waited that there was a place for, or
	// a prompt was cut: then another token budget or a larger cache might have filled it otherwise.
	MaxStepTokens int  `json:"-"`
	Limited       bool `json:"-"`
}

// KVPeak is the largest share of a cache in use, of those that generate.
func (r *Result) KVPeak() float64 {
	if r.Decode != nil {
		return r.Decode.KVPeak
	}
	return r.Workers.KVPeak
}

// Scale makes the result of one replica that of n that do the same at the same time.
func (r *Result) Scale(n int) {
	r.Requests, r.Finished, r.Refused, r.Counted = n*r.Requests, n*r.Finished, n*r.Refused, n*r.Counted
	r.ITL.Count *= n
	for _, x := range []*float64{&r.Offered, &r.RequestRate, &r.InputRate, &r.OutputRate, &r.GoodRate, &r.InFlight.Mean} {
		*x *= float64(n)
	}
	for _, x := range []*int{&r.InFlight.P50, &r.InFlight.P90, &r.InFlight.P95, &r.InFlight.P99, &r.InFlight.Max} {
		*x *= n
	}
	w := &r.Workers
	w.Steps, w.PrefillSteps, w.Preemptions, w.Evictions = int64(n)*w.Steps, int64(n)*w.PrefillSteps, n*w.Preemptions, int64(n)*w.Evictions
	if r.Timeline != nil {
		for i := range r.Timeline.Replicas {
			r.Timeline.Replicas[i].Alike = n
		}
	}
	for i := range r.Series {
		r.Series[i].Waiting *= n
		r.Series[i].Running *= n
	}
}
