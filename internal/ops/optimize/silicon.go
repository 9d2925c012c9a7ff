package optimize

import (
	"context"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/trial"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Silicon is what the deployment of the best row is expected to reach where it runs: simulated under an engine, with times of
// measured kernels. The guide's formulas are those of a model, and deployments on Ascend devices were measured far below it.
type Silicon struct {
	Engine     string          `json:"engine"`
	Throughput simulate.Range  `json:"throughput"`
	TTFT       simulate.Range  `json:"ttft_ms"`
	TPOT       *simulate.Range `json:"tpot_ms"` // null if requests generate one token
	Basis      string          `json:"interval_basis"`
}

// silicon simulates the best row of the guide's formulas on an Ascend device, nil where a simulation does not support the request
// or the deployment.
func (t *task) silicon(ctx context.Context) *Silicon {
	if t.evaluation != ByFormulas || t.device.Vendor != device.Ascend || t.mode != search.Aggregated || t.r.formulasOnly() != "" {
		return nil
	}
	best := t.rows[0]
	o := &best.Best
	r, err := t.simulates().Show(ctx, best.Candidate, o.Batch, trial.Load{Requests: o.Concurrency}, simulate.Request{})
	if err != nil {
		return nil // a layout that engines have no room for, or do not run
	}
	x := &r.Result
	return &Silicon{
		Engine: r.Engine, Throughput: simulate.RangeOf(x.OutputRate, r.Means.Throughput), TTFT: simulate.RangeOf(r.TTFT.Mean, r.Means.TTFT),
		TPOT: simulate.RangeOrNull(x.TPOT.Mean.Ms(), r.Means.TPOT), Basis: r.Basis,
	}
}
