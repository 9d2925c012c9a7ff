package measured

import (
	"fmt"
	"math/bits"
	"strings"

	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/engine"
	"plimsoll/internal/graph"
)

// Disaggregated deployments are never run with an engine's defaults: their
// authors publish recipes, and rows do not tell what those set. What they have
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

// recipe sets what recipes of disaggregated workers set.
func (p *Prepared) recipe(e *engine.Profile, q *graph.Quant, w *Workers, d *device.Profile) {
	row := p.Row
	narrow := row.Precision == "fp8" || row.Precision == "fp4"
	if row.KV == "" && narrow && (e.Name == trtllm || strings.HasPrefix(d.Generation, "blackwell")) {
		q.KV = dtype.FP8
		p.assume(e.Name + " assumed to keep its cache in fp8")
	}
	if w == &row.Decode {
		p.decodes(e, row.Concurrency/(w.Count*w.DP))
		p.streams(e, w, d)
	} else if row.TokenBudget == 0 && e.TokenBudget < recipeBudget {
		e.TokenBudget = recipeBudget
		p.assume(fmt.Sprintf("%s assumed to take %d prompt tokens in a step", e.Name, recipeBudget))
	}
}

// decodes sets what recipes of decode workers set that are offered n requests a
// rank.
func (p *Prepared) decodes(e *engine.Profile, n int) {
	if e.Graph.MaxBatch > 0 && n > e.Graph.MaxBatch {
		e.Graph.MaxBatch = n
		p.assume(e.Name + " assumed to capture graphs up to the batch of its decode workers")
	}
	if e.Name != trtllm || p.Row.MaxSequences > 0 || n == 0 || n%graphStep == 0 {
		return
	}
	// TensorRT-LLM must be told the largest batch, a power of two, and is offered
	// a tenth to a half more: the rest wait for their first token.
	if most := 1 << (bits.Len(uint(n)) - 1); most < n {
		e.MaxSequences = most
		p.assume(e.Name + " assumed to decode a power of two at once, the one below what is offered")
	}
}

// streams sets how recipes of decode workers stream.
func (p *Prepared) streams(e *engine.Profile, w *Workers, d *device.Profile) {
	if e.Name != sglang {
		return
	}
	e.HeldTokens = heldNarrow
	if w.DP > 1 && strings.HasPrefix(d.Generation, "blackwell") {
		e.HeldTokens = heldWide
	}
	p.assume(fmt.Sprintf("%s assumed to stream every %d tokens", e.Name, e.HeldTokens))
}
