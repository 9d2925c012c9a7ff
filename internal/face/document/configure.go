package document

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Configure is the comparison of experiments for programs; times in milliseconds.
type Configure struct {
	// Best names the experiment with the most throughput per device within its
	// limits; nil if none is.
	Best        *string           `json:"best"`
	Experiments []ExperimentFound `json:"experiments"`
	Caution     string            `json:"caution"`
}

// ExperimentFound is the result of one experiment.
type ExperimentFound struct {
	Request experiment.Experiment `json:"request"`
	Failure string                `json:"failure,omitempty"`
	Tier    string                `json:"tier,omitempty"`
	// Rows are the best deployments within the limits; where there is none, Nearest is
	// the one that violates them least.
	Rows     []Option           `json:"rows"`
	Nearest  *Option            `json:"nearest,omitempty"`
	Feasible *Limits            `json:"nearest_limits,omitempty"` // that it meets
	Frontier []experiment.Speed `json:"frontier"`
	Rejected []string           `json:"rejected,omitempty"`
	Notes    []string           `json:"notes"`
}

// Option is a deployment with its figures. Simulating the deployment at the concurrency
// gives them again. TPOT and tokens per second and user are null where requests generate
// one token.
type Option struct {
	TokensPerGPU   float64               `json:"tokens_per_second_gpu"`
	TokensPerUser  *float64              `json:"tokens_per_second_user"`
	Tokens         float64               `json:"tokens_per_second"`
	TokensInterval *Interval             `json:"tokens_per_second_interval"`
	RequestRate    float64               `json:"request_rate"`
	TTFT           float64               `json:"ttft_ms"`
	TTFTInterval   *Interval             `json:"ttft_interval_ms"`
	TPOT           *float64              `json:"tpot_ms"`
	TPOTInterval   *Interval             `json:"tpot_interval_ms"`
	Latency        float64               `json:"request_latency_ms"`
	Chance         float64               `json:"within_limits"`
	BoundBy        string                `json:"bound_by,omitempty"`
	Concurrency    int                   `json:"concurrency"`
	Replicas       int                   `json:"replicas"`
	Prefill        int                   `json:"prefill_workers"`
	Decode         int                   `json:"decode_workers"`
	GPUsUsed       int                   `json:"gpus_used"`
	Batch          int                   `json:"batch_size"`
	Prompts        int                   `json:"prefill_batch_size,omitempty"`
	Budget         int                   `json:"token_budget"`
	MemoryGiB      float64               `json:"memory_gib"`
	Energy         *Energy               `json:"energy,omitempty"`
	Basis          string                `json:"basis"`
	Deployment     deployment.Deployment `json:"deployment"`
}

// NewConfigure makes the document.
func NewConfigure(r *configure.Response) *Configure {
	out := &Configure{Experiments: []ExperimentFound{}, Caution: Caution}
	if r.Best >= 0 {
		out.Best = &r.Results[r.Best].Experiment.Name
	}
	for i := range r.Results {
		x := &r.Results[i]
		found := ExperimentFound{
			Request: x.Experiment, Failure: x.Failure, Tier: string(x.Tier), Rows: []Option{},
			Frontier: append([]experiment.Speed{}, x.Frontier...), Rejected: x.Rejected, Notes: append([]string{}, x.Notes...),
		}
		for k := range x.Rows {
			found.Rows = append(found.Rows, optionOf(x.Rows[k].PerDevice(&x.Experiment), &x.Rows[k]))
		}
		found.Nearest, found.Feasible = nearestOf(&x.Experiment, x.Near, x.Nearest)
		out.Experiments = append(out.Experiments, found)
	}
	return out
}

// nearestOf is the deployment closest to the limits, and the limits it meets; nil if there is none.
func nearestOf(e *experiment.Experiment, near *experiment.Option, meets workload.Limits) (*Option, *Limits) {
	if near == nil {
		return nil, nil
	}
	return new(optionOf(near.PerDevice(e), near)), limitsOf(meets)
}

func optionOf(perDevice float64, o *experiment.Option) Option {
	e := &o.Expected
	tpot, tpotInterval := timeOf(o.TPOT, e.TPOT)
	return Option{
		TokensPerGPU: perDevice, TokensPerUser: some(o.User()), Tokens: o.Throughput,
		TokensInterval: interval(e.Throughput, o.Throughput), RequestRate: o.RequestRate,
		TTFT: o.TTFT.Ms(), TTFTInterval: interval(e.TTFT, o.TTFT.Ms()), TPOT: tpot, TPOTInterval: tpotInterval,
		Latency: o.Latency.Ms(), Chance: o.Chance, BoundBy: string(o.Binds), Concurrency: o.Concurrency, Replicas: o.Copies,
		Prefill: o.X, Decode: o.Y, GPUsUsed: o.Used, Batch: o.Batch, Prompts: o.Prompts, Budget: o.Budget, MemoryGiB: o.Memory.GiB(), Basis: e.Basis,
		Energy: energyOf(o.Energy), Deployment: o.Deployment,
	}
}
