package simulate

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Response is a simulated run; times in milliseconds.
type Response struct {
	// Command is the command line of this answer, Request the request in JSON.
	Command string  `json:"command,omitempty"`
	Request Request `json:"request"`

	Model    string      `json:"model"`
	Device   string      `json:"device"`
	Engine   string      `json:"engine"`
	Layout   string      `json:"layout"`
	Tier     device.Tier `json:"tier"`
	KVTokens int         `json:"kv_tokens"`
	// Memory is how the engine divides that of one device; its tokens are those of a
	// data-parallel rank.
	Memory engine.Budget `json:"memory"`
	// Sent is the KV cache of a token that a device takes in where prompts are computed by others.
	Sent units.Bytes `json:"-"`

	Requests  int     `json:"requests"`
	Finished  int     `json:"finished"`
	Refused   int     `json:"refused"`
	DurationS float64 `json:"duration_s"`

	TTFT Times `json:"ttft_ms"`
	// TPOT and ITL are null if requests generate one token.
	TPOT    *Times `json:"tpot_ms"`
	ITL     *Times `json:"itl_ms"`
	Latency Times  `json:"latency_ms"`

	// Judged is the times that limits apply to: means, or the percentile of the request.
	Judged figures.Latencies `json:"judged"`
	Basis  string            `json:"basis"` // source of the intervals

	// Protocol is steady or benchmark; Steady is null unless the run went on until its figures were steady, and all figures
	// are of its window.
	Protocol Protocol   `json:"protocol"`
	Steady   *SteadyRun `json:"steady"`

	// Offered is requests per second that came, RequestRate those served.
	Offered     float64 `json:"offered_requests_per_s"`
	RequestRate float64 `json:"requests_per_s"`
	InputRate   float64 `json:"input_tokens_per_s"`
	// OutputRate has no interval if requests come at a rate or from a trace, which then
	// determine the throughput.
	OutputRate figures.Estimate `json:"output_tokens_per_s"`
	GoodRate   float64          `json:"goodput_per_s"`
	GoodShare  float64          `json:"good_share"`

	InFlight    InFlight `json:"in_flight"`
	Busy        float64  `json:"utilization"`
	KVMean      float64  `json:"kv_use_mean"`
	KVPeak      float64  `json:"kv_use_peak"`
	Preemptions int      `json:"preemptions"`
	// CachedShare is the prompt tokens found in the prefix cache, HostShare those of them found in the host cache.
	CachedShare float64 `json:"prefix_cached_share"`
	HostShare   float64 `json:"host_cached_share,omitempty"`
	// Evictions are KV blocks taken out of prefix caches for others. HostLoading is the time to load blocks from the host
	// cache, HostSpared the time to compute them.
	Evictions   int64   `json:"evicted_blocks,omitempty"`
	HostLoading float64 `json:"host_loading_s,omitempty"`
	HostSpared  float64 `json:"host_spared_s,omitempty"`
	// Sessions are those that ended.
	Sessions *Sessions `json:"sessions,omitempty"`

	// Guide is the prediction of the formulas of Ascend's guide for the same deployment and load, on Ascend devices.
	Guide *Guide `json:"guide,omitempty"`
	// Timeline is missing unless the request asks for it.
	Timeline *statistics.Timeline `json:"timeline,omitempty"`

	// Energy is missing where the power of the device is unknown.
	Energy *Energy `json:"energy,omitempty"`

	// Figures of the prefill replicas; those of all replicas if there are none.
	PrefillLayout string  `json:"prefill_layout,omitempty"`
	PrefillBusy   float64 `json:"prefill_utilization"`

	Tables *prices.Use `json:"tables,omitempty"`
	Notes  []string    `json:"notes"`
	// Assumed are settings from a preset.
	Assumed []deployment.Assumption `json:"assumed_settings,omitempty"`

	Title  string            `json:"-"` // of the engine
	Budget int               `json:"-"` // of tokens, of the replicas that compute prompts
	Result statistics.Result `json:"-"`
	// Expected are the expected errors of the judged times, Means those of the means.
	Expected calibration.Expected `json:"-"`
	Means    calibration.Expected `json:"-"`
	About    *calibration.Case    `json:"-"` // that they are of
}

// SteadyRun is how a run to steady state went.
type SteadyRun struct {
	// Ended is precise where the sampling error is small enough; otherwise overloaded, bounded (by the number of requests)
	// or replayed (a trace, all of whose requests count).
	Ended string `json:"ended"`
	// Warmup is the requests that ended before the window, Window those in it.
	Warmup int `json:"warmup_requests"`
	Window int `json:"window_requests"`
	// Sampling is the relative standard errors of the means, or of the percentile of the request.
	Sampling figures.Sampling `json:"sampling_error"`
}

// Sessions is the sessions of several requests that ended.
type Sessions struct {
	Count int     `json:"count"`
	Rate  float64 `json:"per_s"`
	Turns float64 `json:"mean_turns"`
	// Latency is from the first request to the last answer; Working is without the time between an answer and the next request.
	Latency Times `json:"latency_ms"`
	Working Times `json:"latency_without_think_ms"`
}

// InFlight is requests sent and not yet answered, over time.
type InFlight struct {
	Mean float64 `json:"mean"`
	P50  int     `json:"p50"`
	P90  int     `json:"p90"`
	P95  int     `json:"p95"`
	P99  int     `json:"p99"`
	Max  int     `json:"max"`
}

// Times is the distribution of a time. Low and High are the 80 % interval of the mean.
type Times struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func timesOf(s *statistics.Summary, e calibration.Error) Times {
	lo, hi := e.Times(s.Mean)
	return Times{s.Mean.Ms(), s.P50.Ms(), s.P90.Ms(), s.P95.Ms(), s.P99.Ms(), s.Max.Ms(), lo.Ms(), hi.Ms()}
}

// later is timesOf for times of the tokens after the first, nil where there are none.
func later(s *statistics.Summary, e calibration.Error) *Times {
	if s.Max == 0 {
		return nil
	}
	out := timesOf(s, e)
	return &out
}

// At are the expected errors of a percentile; 0 is the mean. The sampling error is known of the judged one.
func (r *Response) At(percentile float64) calibration.Expected {
	if percentile == r.Request.At() {
		return r.Expected
	}
	return r.Means.At(percentile)
}

// expect takes the errors of means for those of the run, with its sampling error.
func (r *Response) expect(e calibration.Expected) {
	r.Means, r.Expected = e, e.At(r.Request.At())
	if x := r.Result.Sampling; x != nil && x.Ended != statistics.Replayed { // the requests of a trace are given
		r.Expected = r.Expected.Sampled(r.Result.Figures(0).Sampling)
	}
	if r.Request.At() == 0 {
		r.Means = r.Expected
	}
}

// chance is the probability that judged times meet the limits.
func (r *Response) chance() float64 {
	j := search.Judge{Limits: r.Request.Limits, Together: r.Request.Goodput > 0}
	return j.Chance(r.Result.Times(r.Request.At()), &r.Expected)
}

// present adds what JSON has of the result and its errors.
func (r *Response) present() {
	s, e := &r.Result, &r.Expected
	use, prompts := r.Pools()
	r.KVTokens, r.Basis, r.Protocol = r.Memory.Tokens, e.Basis, r.Request.Protocol
	r.Requests, r.Finished, r.Refused, r.DurationS = s.Requests, s.Finished, s.Refused, float64(s.Duration)
	means := &r.Means
	r.TTFT, r.TPOT, r.ITL, r.Latency = timesOf(&s.TTFT, means.TTFT), later(&s.TPOT, means.TPOT), later(&s.ITL, means.TPOT), timesOf(&s.Latency, means.Latency(0))
	r.Judged = e.Latencies(r.Request.Statistic, s.Times(r.Request.At()), workload.Limits{})
	r.Offered, r.RequestRate, r.InputRate, r.OutputRate, r.GoodRate, r.GoodShare = s.Offered, s.RequestRate, s.InputRate, figures.Sure(s.OutputRate), s.GoodRate, s.GoodShare
	r.InFlight, r.Busy, r.KVMean, r.KVPeak, r.Preemptions, r.PrefillBusy = InFlight(s.InFlight), use.Busy, use.KVMean, use.KVPeak, use.Preemptions, prompts.Busy
	r.CachedShare, r.HostShare, r.Evictions = s.CachedShare, s.HostShare, s.Workers.Evictions
	r.HostLoading, r.HostSpared = float64(s.Workers.Loading), float64(s.Workers.Spared)
	if x := s.Sessions; x != nil {
		r.Sessions = &Sessions{x.Count, x.Rate, x.Turns, timesOf(&x.Latency, means.Latency(0)), timesOf(&x.Working, means.Latency(0))}
	}
	r.Timeline = s.Timeline
	if x := s.Sampling; x != nil {
		// A run that ends early may have seen too little for an error.
		finite := func(e float64) float64 { return math.Min(e, math.MaxFloat32) }
		r.Steady = &SteadyRun{string(x.Ended), x.Warmup, s.Counted, figures.Sampling{TTFT: finite(x.TTFT), TPOT: finite(x.TPOT), Latency: finite(x.Latency)}}
	}
	if r.Request.Concurrency > 0 {
		r.OutputRate = e.Throughput.Of(s.OutputRate)
	}
	if r.Request.Limits.Any() {
		r.Judged.Chance = new(r.chance())
	}
}

// Record is the means of a run, on so many devices that are paid for.
func (r *Response) Record(devices int) figures.Record {
	s := &r.Result
	return figures.Record{
		Rates: r.Means.Rates(s.OutputRate, s.RequestRate, devices, s.TPOT.Mean), Judged: r.Mean(), Basis: r.Basis,
	}
}

// Mean are the means of latencies, and P95 their 95th percentiles.
func (r *Response) Mean() figures.Latencies { return r.by(workload.Statistic{}) }

// P95 are the 95th percentiles of latencies.
func (r *Response) P95() figures.Latencies { return r.by(workload.Statistic{Percentile: 95}) }

func (r *Response) by(s workload.Statistic) figures.Latencies {
	e := r.Means
	if s.At() > 0 {
		e = r.At(s.At())
	}
	return e.Latencies(s, r.Result.Times(s.At()), r.Request.Limits)
}

// Pools are the replicas that generate, and those that compute prompts: the same
// unless the run was disaggregated.
func (r *Response) Pools() (generate, prompts *statistics.PoolUse) {
	s := &r.Result
	if s.Decode != nil {
		return s.Decode, &s.Workers
	}
	return &s.Workers, &s.Workers
}

// DefaultEnergyPrice is US dollars for a kilowatt-hour: what industry in the United
// States paid on average in 2023, 8.06 cents, rounded (EIA). For
// the power of cooling and conversion too, multiply a price by the PUE of the site.
const DefaultEnergyPrice = 0.08

// Energy is what the devices of a deployment draw while it serves.
type Energy struct {
	// PerToken is the energy of all devices for an output token.
	PerToken figures.Estimate `json:"joules_per_output_token"`
	// Watts is the mean power of a device.
	Watts units.Watts `json:"watts_per_device"`
	// Tier is calibrated where the power of the device's generation was measured,
	// transferred where it is estimated from others.
	Tier device.Tier `json:"tier"`

	// Error is the expected error of the joules per output token.
	Error calibration.Error `json:"-"`
	// Draw adds up to Watts, Cap is the most that a device may draw.
	Draw power.Draw  `json:"-"`
	Cap  units.Watts `json:"-"`
}

// EnergyOf is the energy of a simulated deployment, nil if unknown.
func EnergyOf(m *replica.Meters, r *statistics.Result, d *deployment.Resolved) *Energy {
	subject := calibration.SubjectOfDeployment(d)
	e, ok := m.Energy(r, subject.PowerFactor())
	if !ok {
		return nil
	}
	expected := calibration.ExpectJoules(&subject, e.Tier)
	return &Energy{expected.Of(float64(e.PerToken)), e.Watts, e.Tier, expected, e.Draw, e.Cap}
}
