package document

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Estimate is the figures of one deployment for programs; times in milliseconds.
// Simulating the deployment at the concurrency gives the same, unless the mode is
// static.
type Estimate struct {
	Mode    string            `json:"mode"`
	Request *estimate.Request `json:"request"`

	Model       string                `json:"model"`
	Deployment  deployment.Deployment `json:"deployment"`
	GPUs        int                   `json:"gpus"`
	Concurrency int                   `json:"concurrency"`
	// Figures that a static mode does not have are null, as are TPOT and tokens per second and
	// user if requests generate one token.
	TTFT            *float64  `json:"ttft_ms"`
	TTFTInterval    *Interval `json:"ttft_interval_ms"`
	TPOT            *float64  `json:"tpot_ms"`
	TPOTInterval    *Interval `json:"tpot_interval_ms"`
	Latency         float64   `json:"request_latency_ms"`
	LatencyInterval *Interval `json:"request_latency_interval_ms"`
	Tokens          float64   `json:"tokens_per_second"`
	TokensInterval  *Interval `json:"tokens_per_second_interval"`
	TokensPerGPU    float64   `json:"tokens_per_second_gpu"`
	TokensPerUser   *float64  `json:"tokens_per_second_user"`
	RequestRate     float64   `json:"request_rate"`
	// Chance is null without limits.
	Chance *float64 `json:"within_limits"`
	// Energy is missing where the power of the device is unknown.
	Energy *Energy        `json:"energy,omitempty"`
	Tier   string         `json:"tier"`
	Basis  string         `json:"basis"`
	Pools  []EstimatePool `json:"pools"`
	Tables *prices.Use    `json:"tables,omitempty"`
	Notes  []string       `json:"notes"`

	Caution string `json:"caution"`
}

// EstimatePool is the workers of one role.
type EstimatePool struct {
	Role      string          `json:"role"`
	System    string          `json:"system"`
	Workers   int             `json:"workers"`
	Layout    parallel.Layout `json:"layout"`
	Batch     int             `json:"batch_size"`
	MemoryGiB float64         `json:"memory_gib"` // in use at most
	KVPeak    float64         `json:"kv_use_peak"`
	KVTokens  int             `json:"kv_tokens"` // of a data-parallel rank
	Memory    Budget          `json:"memory"`
	Steps     []EstimateStep  `json:"steps,omitempty"`
}

// EstimateStep is one step of a worker.
type EstimateStep struct {
	Phase    string `json:"phase"`
	Requests int    `json:"requests"` // of a data-parallel rank
	Query    int    `json:"new_tokens"`
	Cached   int    `json:"cached_tokens"`
	// Time is the time of the kernels, Limit the shortest time the data sheet allows.
	Time       float64            `json:"time_ms"`
	Limit      float64            `json:"limit_ms"`
	LimitShare float64            `json:"limit_share"`
	Engine     *step.EngineStep   `json:"engine,omitempty"`
	Operators  []EstimateOperator `json:"operators"`
}

// EstimateOperator is all calls of an operator in a step.
type EstimateOperator struct {
	Name       string  `json:"name"`
	Calls      float64 `json:"calls"`
	Time       float64 `json:"time_ms"`
	Share      float64 `json:"share"`
	Limit      float64 `json:"limit_ms"`
	LimitShare float64 `json:"limit_share"`
	Bound      string  `json:"bound"`
	Source     string  `json:"source"`
	Kernels    string  `json:"kernels,omitempty"`
}

// EstimateMode is the mode in AIConfigurator's words.
func EstimateMode(r *estimate.Response) string {
	if s := r.Request.Static; s != estimate.NotStatic {
		return string(s)
	}
	return string(r.Request.Experiment.Mode)
}

// NewEstimate makes the document.
func NewEstimate(r *estimate.Response) *Estimate {
	x := &r.Expected
	out := &Estimate{
		Mode: EstimateMode(r), Request: &r.Request, Model: r.Model, Deployment: r.Deployment, GPUs: r.Devices, Concurrency: r.Request.Concurrency,
		Latency: r.Latency.Ms(), LatencyInterval: interval(x.Throughput.Inverse(), r.Latency.Ms()),
		Tokens: r.Throughput, TokensInterval: interval(x.Throughput, r.Throughput), TokensPerGPU: r.PerDevice(), RequestRate: r.RequestRate,
		Tier: string(r.Tier), Basis: x.Basis, Tables: r.Tables, Notes: append([]string{}, r.Notes...), Caution: Caution,
	}
	out.TTFT, out.TTFTInterval = timeOf(r.TTFT, x.TTFT)
	out.TPOT, out.TPOTInterval = timeOf(r.TPOT, x.TPOT)
	out.TokensPerUser = some(r.User())
	if r.Request.Experiment.Limits.Any() {
		out.Chance = &r.Chance
	}
	out.Energy = energyOf(r.Energy)
	for i := range r.Pools {
		out.Pools = append(out.Pools, estimatePool(&r.Pools[i]))
	}
	return out
}

func estimatePool(p *estimate.PoolEstimate) EstimatePool {
	out := EstimatePool{
		Role: string(p.Role), System: p.System, Workers: p.Workers.Count, Layout: p.Workers.Layout, Batch: p.Workers.Batch,
		MemoryGiB: p.InUse().GiB(), KVPeak: p.KVPeak, KVTokens: p.Memory.Tokens, Memory: budgetOf(&p.Memory),
	}
	for k := range p.Steps {
		out.Steps = append(out.Steps, estimateStep(&p.Steps[k]))
	}
	return out
}

// timeOf is a time with its interval, nil where there is none.
func timeOf(t units.Seconds, e calibration.Error) (*float64, *Interval) {
	if t == 0 {
		return nil, nil
	}
	ms := t.Ms()
	return &ms, interval(e, ms)
}

func estimateStep(s *estimate.StepDetail) EstimateStep {
	all := &s.Result
	out := EstimateStep{
		Phase: "prefill", Requests: s.Requests, Query: s.Query, Cached: s.Seq - s.Query,
		Time: all.Time.Ms(), Limit: s.Limit.Ms(), LimitShare: shareOf(s.Limit, all.Time), Engine: s.Engine, Operators: []EstimateOperator{},
	}
	if s.Decode {
		out.Phase = "decode"
	}
	for i := range all.Operators {
		o := &all.Operators[i]
		out.Operators = append(out.Operators, EstimateOperator{
			o.Name, o.Calls, o.Time.Ms(), shareOf(o.Time, all.Time), s.Limits[i].Ms(), shareOf(s.Limits[i], o.Time), o.Bound.String(), s.Sources[i], s.Kernels[i],
		})
	}
	return out
}

// shareOf is a part of a time, 0 of none.
func shareOf(part, whole units.Seconds) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part / whole)
}
