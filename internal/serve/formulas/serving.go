package formulas

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Step is a forward pass as serving sees it.
type Step struct {
	Time  units.Seconds
	Use   memory.Use
	Bound step.Bounds
}

// holding is a step while a cache is held that is larger than its own.
func (s Step) holding(kv units.Bytes) Step {
	if more := kv - s.Use.KV; more > 0 {
		s.Use.KV, s.Use.Available = kv, s.Use.Available-more
	}
	return s
}

// left is the memory that remains; negative means that the step does not fit.
func (s *Step) left() units.Bytes { return s.Use.Available }

// Engine evaluates the steps of one deployment. Requests count over all
// data-parallel ranks, except in Packed.
type Engine interface {
	// Prefill computes query tokens of each request, seq tokens in.
	Prefill(requests, query, seq int) Step
	// Decode computes query tokens of each request at the end of seq.
	Decode(requests, query, seq int) Step
	// Packed computes unequal pieces of prompts on one rank.
	Packed(pieces []workload.Piece) Step
	// Cached is the KV cache of requests of seq tokens each, on the fullest device.
	Cached(requests, seq int) units.Bytes
}

// Accounting names a set of formulas.
type Accounting string

// The accountings. Documented is what the Ascend guide writes: throughput =
// 1000·O·C/(TTFT + TPOT·O), where TPOT already holds TTFT/O. Steady is what the
// vendor's program computes today: 1000·C/TPOT. Nothing else differs.
const (
	Documented Accounting = "documented"
	Steady     Accounting = "steady"
)

// Words lists the accountings.
func (Accounting) Words() []string { return []string{string(Documented), string(Steady)} }

// Load is the load of a deployment.
type Load struct {
	Input        int // prompt length; 0 with a distribution
	Distribution *workload.Distribution
	Output       int
	HitRate      float64 // share of a prompt found in the prefix cache
	Budget       int     // tokens of one step and DP rank
	Accounting   Accounting
	// ServingCost is added once per disaggregated phase.
	ServingCost units.Seconds

	DP, PP, Devices int
	// DecodeQuery is the tokens of a decode step per request, Fold the tokens it
	// yields on average.
	DecodeQuery int
	Fold        float64
}

// DecodeSeq is the length at which decode steps are evaluated: the prompt, half
// the answer, and the tokens of the step.
func (l *Load) DecodeSeq() int {
	input := l.Input
	if l.Distribution != nil {
		input = l.Distribution.MeanEffective(l.HitRate)
	}
	return input + l.Output/2 + l.DecodeQuery
}

// EffectiveInput is the tokens to compute of a prompt, on average.
func (l *Load) EffectiveInput() int {
	if l.Distribution != nil {
		return l.Distribution.MeanEffective(l.HitRate)
	}
	return workload.Effective(l.Input, l.HitRate)
}

// concurrency is the requests in flight at a batch per DP rank and stage.
func (l *Load) concurrency(batch int) int { return batch * l.DP * l.PP }

// fuller keeps the step that leaves less memory.
func fuller(o *figures.Outcome, s *Step) {
	if o.Use.Weights == 0 || s.left() < o.Use.Available {
		o.Use = s.Use
	}
}

// Chunked reports whether prompts are longer than a step's budget, so that an
// aggregated load is simulated step by step.
func (l *Load) Chunked() bool {
	return l.Distribution == nil && workload.Effective(l.Input, l.HitRate) > l.Budget
}
