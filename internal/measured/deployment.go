package measured

import (
	"fmt"

	"plimsoll/internal/deployment"
	"plimsoll/internal/parallel"
)

// disagg is the mode of rows with separate prefill and decode workers; "agg" is
// the other.
const disagg = "disagg"

// Deployment is what a row says was deployed. What it does not say is left to the
// engine's defaults.
func (r *Row) Deployment() deployment.Deployment {
	d := deployment.Deployment{
		Model: r.Model, System: r.System,
		Engine:    deployment.Engine{Name: r.Engine, Version: r.Version, Settings: r.settings()},
		Formats:   deployment.Formats{Checkpoint: r.Precision, KV: r.KV},
		Modelling: deployment.Modelling{Policy: "physical", Fusion: deployment.Compiled},
	}
	roles := []deployment.Role{deployment.Both}
	if r.Mode == disagg {
		roles = []deployment.Role{deployment.Prefill, deployment.Decode}
	}
	for i, w := range r.pools() {
		d.Pools = append(d.Pools, deployment.Pool{
			Role: roles[i], Replicas: w.Count, Layout: w.layout(), MTP: r.Drafted, AcceptanceRates: r.acceptanceRates(),
		})
	}
	return d
}

// pools are the row's pools of workers: one, or prefill and decode.
func (r *Row) pools() []*Workers {
	if r.Mode == disagg {
		return []*Workers{&r.Prefill, &r.Decode}
	}
	return []*Workers{&r.Workers}
}

// layout is how a worker is cut.
func (w *Workers) layout() parallel.Layout {
	return parallel.Layout{Devices: w.devices(), TP: w.TP, DP: w.DP, EP: w.MoEEP, MoETP: w.MoETP}
}

// devices is the number of devices of one worker.
func (w *Workers) devices() int { return w.TP * w.DP }

// acceptanceRates spreads the share of drafts that is kept evenly.
func (r *Row) acceptanceRates() []float64 {
	var rates []float64
	for range r.Drafted {
		rates = append(rates, r.Acceptance)
	}
	return rates
}

// settings are the engine settings a row gives. Benchmarks send random prompts,
// so nothing is found in a prefix cache; and launch scripts of data-parallel
// attention give every rank a whole budget: dividing the default makes the
// published rows less like themselves.
func (r *Row) settings() []string {
	out := []string{"prefix_caching=false", "attention_dp.splits_budget=false"}
	add := func(key string, value float64) {
		if value > 0 {
			out = append(out, fmt.Sprintf("%s=%g", key, value))
		}
	}
	add("token_budget", float64(r.TokenBudget))
	add("memory_share", r.MemoryShare)
	add("max_sequences", float64(r.MaxSequences))
	add("receive_interval", float64(r.ReceiveEvery))
	if r.BatchWaitSteps > 0 {
		add("batch_wait.steps", float64(r.BatchWaitSteps))
		out = append(out, fmt.Sprintf("batch_wait.ratio=%g", r.BatchWaitRatio))
	}
	return out
}
