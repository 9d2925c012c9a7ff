package measured

import (
	"fmt"
	"math/bits"
	"strings"

	"plimsoll/internal/deployment"
	"plimsoll/internal/engine"
)

// Disaggregated deployments are never run with an engine's defaults: their
// authors publish recipes, and rows do not say what those set. What they have
// in common is assumed, and said. Read from the recipes of the public srt-slurm
// collection (DeepSeek-R1 on H100, H200, B200, GB200 and GB300 with SGLang and
// TensorRT-LLM, 2025–2026), from which the public rows were measured.

// The engines whose recipes set more than others'.
const sglang, trtllm = "sglang", "trtllm"

// recipeBudget is the prompt tokens a prefill rank may take in a step: 16,384 in
// most recipes, 2,048 to 32,768 in all.
const recipeBudget = 16384

// heldWide and heldNarrow are the tokens SGLang gathers before it streams: 50 on
// Blackwell's data-parallel decode workers, 10 on others in most recipes.
const heldWide, heldNarrow = 50, 10

// graphStep is the distance of the larger batches recipes capture graphs for. A
// batch that is neither a power of two nor a multiple of it was not configured.
const graphStep = 8

// recipe adds to a deployment what recipes of disaggregated workers set and the row
// does not say.
func (p *Prepared) recipe(d *deployment.Deployment, parts deployment.Parts) {
	row, generation := p.Row, parts.Device.Generation
	name := parts.Engine.Name
	narrow := row.Precision == "fp8" || row.Precision == "fp4"
	if row.KV == "" && narrow && (name == trtllm || strings.HasPrefix(generation, "blackwell")) {
		d.Formats.KV = "fp8"
		p.assume(name + " assumed to keep its cache in fp8")
	}
	for i := range d.Pools {
		pool := &d.Pools[i]
		e, err := parts.Engine.With(d.Engine.Settings...)
		if err != nil {
			return // resolving the deployment says why
		}
		e = e.On(parts.Device, pool.Layout.Devices)
		if pool.Role == deployment.Decode {
			p.decodes(e, pool, row.Concurrency/(pool.Replicas*pool.Layout.DP))
			p.streams(e, pool, generation)
		} else if row.TokenBudget == 0 && e.TokenBudget < recipeBudget {
			set(pool, "token_budget", recipeBudget)
			p.assume(fmt.Sprintf("%s assumed to take %d prompt tokens in a step", name, recipeBudget))
		}
	}
}

// set gives a pool an engine setting.
func set(p *deployment.Pool, key string, value int) {
	p.Settings = append(p.Settings, fmt.Sprintf("%s=%d", key, value))
}

// decodes sets what recipes of decode workers set that are offered n requests a
// rank.
func (p *Prepared) decodes(e *engine.Profile, pool *deployment.Pool, n int) {
	if e.Graph.MaxBatch > 0 && n > e.Graph.MaxBatch {
		set(pool, "graph.max_batch", n)
		p.assume(e.Name + " assumed to capture graphs up to the batch of its decode workers")
	}
	if e.Name != trtllm || p.Row.MaxSequences > 0 || n == 0 || n%graphStep == 0 {
		return
	}
	// TensorRT-LLM must be told the largest batch, a power of two, and is offered
	// a tenth to a half more: the rest wait for their first token.
	if most := 1 << (bits.Len(uint(n)) - 1); most < n {
		set(pool, "max_sequences", most)
		p.assume(e.Name + " assumed to decode a power of two at once, the one below what is offered")
	}
}

// streams sets how recipes of decode workers stream.
func (p *Prepared) streams(e *engine.Profile, pool *deployment.Pool, generation string) {
	if e.Name != sglang {
		return
	}
	held := heldNarrow
	if pool.Layout.DP > 1 && strings.HasPrefix(generation, "blackwell") {
		held = heldWide
	}
	set(pool, "held_tokens", held)
	p.assume(fmt.Sprintf("%s assumed to stream every %d tokens", e.Name, held))
}
