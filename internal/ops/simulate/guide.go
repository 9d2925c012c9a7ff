package simulate

import (
	"cmp"
	"context"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Guide is what the formulas of Ascend's guide say of an aggregated deployment on its devices under the same load, as
// throughput-optimizer does with its defaults, whatever memory it would reserve: TensorCast's operator times, and prompts that arrive
// together. It has no interval: it is what those who plan with the guide expect, and measured deployments were far below it.
type Guide struct {
	Throughput float64 `json:"tokens_per_second"` // output tokens of all replicas
	TTFT       float64 `json:"ttft_ms"`
	TPOT       float64 `json:"tpot_ms"`
}

// GuideBudget is the guide's default of the tokens of a step.
const GuideBudget = 8192

// AddGuide adds the guide's figures of the same deployment and load.
func (r *Response) AddGuide(ctx context.Context, s *session.Stage) {
	if r.RequestRate <= 0 {
		return
	}
	input, output := r.InputRate/r.RequestRate, r.OutputRate.Value/r.RequestRate
	r.Guide = GuideOf(ctx, s, &r.Request.Deployment, int(math.Round(input)), int(math.Round(output)), cmp.Or(float64(r.Request.Concurrency), r.Result.InFlight.Mean))
}

// GuideOf is the guide's figures of a deployment with so many requests of these lengths in flight; nil on devices it is not about, where
// prefill and decode have workers of their own, and where the deployment does not fit its rules.
func GuideOf(ctx context.Context, s *session.Stage, d *deployment.Deployment, input, output int, inFlight float64) *Guide {
	if s.Device.Vendor != device.Ascend || d.Disaggregated() || input < 1 || output < 1 || inFlight <= 0 {
		return nil
	}
	resolved, err := d.Resolve(s.Parts)
	if err != nil {
		return nil
	}
	pool := resolved.Generates()
	layout := pool.Spec.Layout
	asked := deployment.Deployment{Model: d.Model, AsFamily: d.AsFamily, System: d.System, Formats: d.Formats}
	base, err := asked.Base(deployment.Parts{Model: s.Model, Device: s.Device})
	if err != nil {
		return nil
	}
	p := ascend.Formulas{
		Mode: search.Aggregated, Spec: base.Spec(layout, 0), Memory: s.Device.Memory,
		Load:  formulas.Load{Input: input, Output: output, Budget: GuideBudget, Accounting: formulas.Documented},
		Rates: deployment.Acceptance(s.Model, s.Device, draft.MTP, pool.Spec.MTP),
	}
	if rates := d.Pools[0].AcceptanceRates; rates != nil {
		p.Rates = rates
	}
	policy := &p.Spec.Policy
	if p.Coster, err = s.Prices.Coster(s.Device, base.Pricing, tensorcast.Is(policy), policy.FreeUnsupported); err != nil {
		return nil
	}
	ranks := pool.Replicas * layout.DP * max(1, layout.PP)
	batch := max(1, int(inFlight/float64(ranks)+0.5))
	p.Range = search.Range{Min: batch, Max: batch, Given: true}
	x := p.Evaluate(ctx, search.Candidate{Layout: layout, MTP: pool.Spec.MTP}, 0)
	if !x.OK {
		return nil
	}
	o := &x.Best
	return &Guide{float64(pool.Replicas) * o.Throughput, o.TTFT.Ms(), o.TPOT.Ms()}
}
