package measured

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// disagg is the mode of rows with separate prefill and decode workers, aggregated
// the other.
const disagg, aggregated = "disagg", "agg"

// Deployment is the deployment of a row. Settings that the row does not state have the
// defaults of the engine.
func (r *Row) Deployment() deployment.Deployment {
	d := deployment.Deployment{
		Model: r.Model, System: r.System,
		Engine:    deployment.Engine{Name: r.Engine, Version: r.Version, Settings: r.settings()},
		Formats:   deployment.Formats{Checkpoint: r.Precision, Linear: r.Linear, KV: r.KV},
		Modelling: deployment.Modelling{Policy: "physical", Fusion: deployment.Compiled},
	}
	roles := []deployment.Role{deployment.Both}
	if r.Mode == disagg {
		roles = []deployment.Role{deployment.Prefill, deployment.Decode}
	}
	for i, w := range r.pools() {
		d.Pools = append(d.Pools, deployment.Pool{
			Role: roles[i], Replicas: w.Count, Layout: w.layout(), MTP: r.Drafted, AcceptanceRates: r.acceptanceRates(),
			Settings: r.side(roles[i]),
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
	return parallel.Layout{Devices: w.devices(), TP: w.TP, PP: w.PP, DP: w.DP, EP: w.MoEEP, MoETP: w.MoETP}
}

// devices is the number of devices of one worker.
func (w *Workers) devices() int { return w.TP * max(1, w.PP) * w.DP }

// acceptanceRates spreads the share of drafts that is kept evenly; without one they
// are those of the model.
func (r *Row) acceptanceRates() []float64 {
	if r.Acceptance < 0 {
		return nil
	}
	var rates []float64
	for range r.Drafted {
		rates = append(rates, r.Acceptance)
	}
	return rates
}

// assignments are settings as an engine takes them.
type assignments []string

// add sets a key that is given.
func (a *assignments) add(key string, value float64) {
	if value > 0 {
		*a = append(*a, fmt.Sprintf("%s=%g", key, value))
	}
}

// settings are the engine settings a row gives for all workers. The laboratories of the fit
// switch prefix caches off, and nothing of random prompts is found in one; and launch scripts of data-parallel
// attention give every rank a whole budget: dividing the default makes the
// published rows less like themselves. A budget in a file that tells the sides apart is
// what the engine was passed, and the engine's own rule holds for it.
func (r *Row) settings() []string {
	var out assignments
	switch {
	case r.Traffic.Prefix > 0:
		out = append(out, "prefix_caching=true")
	case r.Source == "" || r.Familiar():
		out = append(out, "prefix_caching=false")
	}
	if !r.Sides.Own || r.TokenBudget == 0 {
		out = append(out, "attention_dp.splits_budget=false")
	}
	if r.Mode != disagg {
		out.add("token_budget", float64(r.TokenBudget))
		out.add("memory_share", r.MemoryShare)
		out.add("graph.max_batch", float64(r.GraphBatch))
		out.add("max_sequences", float64(r.onRank(r.MaxSequences, &r.Workers)))
	}
	out.add("receive_interval", float64(r.ReceiveEvery))
	if r.BatchWaitSteps > 0 {
		out.add("batch_wait.steps", float64(r.BatchWaitSteps))
		out = append(out, fmt.Sprintf("batch_wait.ratio=%g", r.BatchWaitRatio))
	}
	return out
}

// side are the engine settings a row gives for workers with a role of their own. A token
// budget and a memory share without a role are those of prefill, where they limit most, and
// limits of batches and graphs those of decode: so they are in the public samples. A limit of
// graphs that reaches the budget of prefill is meant for prompts too (InferenceX,
// srt-slurm-recipes/vllm/minimax-m3-gb200-fp8/1k1k: 2048 tokens on both sides).
func (r *Row) side(role deployment.Role) []string {
	var out assignments
	switch role {
	case deployment.Prefill:
		out.add("token_budget", float64(r.TokenBudget))
		out.add("memory_share", r.MemoryShare)
		out.add("max_sequences", float64(r.onRank(r.Sides.PrefillSequences, &r.Prefill)))
		if r.TokenBudget > 0 && r.GraphBatch >= r.TokenBudget {
			out.add("graph.max_batch", float64(r.GraphBatch))
		}
	case deployment.Decode:
		out.add("token_budget", float64(r.Sides.DecodeTokenBudget))
		out.add("memory_share", r.Sides.DecodeMemoryShare)
		out.add("graph.max_batch", float64(r.GraphBatch))
		out.add("max_sequences", float64(r.onRank(r.MaxSequences, &r.Decode)))
	case deployment.Both:
	}
	return out
}

// onRank is how many sequences one data-parallel rank of a worker runs under the limit
// that its engine was passed. SGLang's --max-running-requests is of all ranks together,
// each gets an equal share (kv_cache_configurator.py); other engines' are of one rank.
func (r *Row) onRank(limit int, w *Workers) int {
	if engine.Server(r.Engine) != "sglang" || limit == 0 {
		return limit
	}
	return max(1, limit/w.DP)
}

// devices is how many devices a throughput per device counts.
func (r *Row) devices() int {
	if r.GPUs > 0 {
		return r.GPUs
	}
	n := 0
	for _, w := range r.pools() {
		n += w.total()
	}
	return n
}
