package measured

import (
	"fmt"
	"math/bits"
	"strings"

	"plimsoll/internal/deployment"
	"plimsoll/internal/engine"
)

// Disaggregated deployments do not run with an engine's defaults: their authors
// publish recipes, and rows do not say what those set. The settings most recipes
// share are assumed, and the result says so. Source: the recipes of the public
// srt-slurm collection (DeepSeek-R1 on H100, H200, B200, GB200 and GB300 with
// SGLang and TensorRT-LLM, 2025–2026), with which the public rows were measured.

// The engines whose recipes set more than the others.
const sglang, trtllm = "sglang", "trtllm"

// recipeBudget is the token budget of a prefill rank: 16,384 in most recipes, 2,048
// to 32,768 in all.
const recipeBudget = 16384

// heldWide and heldNarrow are SGLang's stream interval in tokens: 50 on Blackwell's
// data-parallel decode workers, 10 on others in most recipes.
const heldWide, heldNarrow = 50, 10

// graphStep is the distance of the larger batches recipes capture graphs for. A
// batch that is neither a power of two nor a multiple of it was not configured.
const graphStep = 8

// recipe adds to a deployment the settings that recipes of disaggregated workers
// share and the row does not give.
func (p *Prepared) recipe(d *deployment.Deployment, parts deployment.Parts) {
	row, generation := p.Row, parts.Device.Generation
	name := parts.Engine.Name
	narrow := row.Precision == "fp8" || row.Precision == "fp4"
	if row.KV == "" && narrow && (name == trtllm || strings.HasPrefix(generation, "blackwell")) {
		d.Formats.KV = "fp8"
		p.assume(name + " uses an fp8 KV cache")
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
			p.assume(fmt.Sprintf("%s prefills with a token budget of %d", name, recipeBudget))
		}
	}
}

// set gives a pool an engine setting.
func set(p *deployment.Pool, key string, value int) {
	p.Settings = append(p.Settings, fmt.Sprintf("%s=%d", key, value))
}

// decodes sets what recipes of decode workers set, for n requests per rank.
func (p *Prepared) decodes(e *engine.Profile, pool *deployment.Pool, n int) {
	if p.Row.GraphBatch == 0 && e.Graph.MaxBatch > 0 && n > e.Graph.MaxBatch {
		set(pool, "graph.max_batch", n)
		p.assume(e.Name + " captures graphs up to the batch of its decode workers")
	}
	if e.Name != trtllm || p.Row.MaxSequences > 0 || n == 0 || n%graphStep == 0 {
		return
	}
	// TensorRT-LLM needs an explicit batch limit. Recipes set a power of two and
	// offer a tenth to a half more: the rest wait for their first token.
	if most := 1 << (bits.Len(uint(n)) - 1); most < n {
		set(pool, "max_sequences", most)
		p.assume(e.Name + " limits the decode batch to the power of two below the concurrency")
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
	p.assume(fmt.Sprintf("%s streams every %d tokens", e.Name, held))
}
