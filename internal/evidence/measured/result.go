package measured

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Result is a measured run of a deployment that is known whole, where a row has columns.
type Result struct {
	// Row has what was measured, the load and the lengths.
	Row        *Row
	Deployment *deployment.Resolved
	Fleet      *replica.Fleet // not scaled by any calibration
	Client     traffic.Client
	Prices     cost.Coster
}

// Prepare makes the result ready to be simulated with any multipliers. The row gets the
// names and layouts of the deployment.
func (r *Result) Prepare() Prepared {
	d, serves := r.Deployment, r.Deployment.Generates()
	r.Row.describe(d)
	out := Prepared{
		Row: r.Row, Subject: calibration.SubjectOfDeployment(d), deployment: d, fleet: r.Fleet, client: r.Client,
		Case: caseOf(d.Model, r.Row, &Workers{TP: 1, DP: 1}, d.Device, r.Prices),
	}
	l := &serves.Spec.Layout
	perReplica := int(math.Ceil(float64(r.Row.Concurrency) / float64(serves.Replicas)))
	out.Case.On(l.Devices, perReplica, l.DP, d.Model.HasExperts())
	return out
}

// describe names the row's model, system and engine as a deployment does, and takes its
// layouts, and the settings that matter most even where they are the engine's defaults: of
// a row without any, those of a preset are assumed.
func (r *Row) describe(d *deployment.Resolved) {
	serves := d.Generates()
	r.Model, r.System, r.Engine, r.Mode = d.Model.ID, d.Device.Name, serves.Engine.Name, aggregated
	if d.Disaggregated() {
		r.Mode, r.Prefill, r.Decode = disagg, workersOf(&d.Pools[0]), workersOf(serves)
	} else {
		r.Workers = workersOf(serves)
	}
	e := serves.Engine
	r.KV, r.TokenBudget, r.MemoryShare, r.MaxSequences, r.GraphBatch = "bf16", e.TokenBudget, e.MemoryShare, e.MaxSequences, e.Graph.MaxBatch
	if kv := serves.Spec.Quant.KV; kv == dtype.FP8 || kv == dtype.INT8 {
		r.KV = kv.String()
	}
	r.GPUs = 0
	for i := range d.Pools {
		r.GPUs += d.Pools[i].Replicas * d.Pools[i].Spec.Layout.Devices
	}
}

// workersOf are the workers of a pool.
func workersOf(p *deployment.Served) Workers {
	l := &p.Spec.Layout
	return Workers{Count: p.Replicas, TP: l.TP, PP: l.PP, DP: l.DP, MoETP: l.MoETP, MoEEP: l.EP}
}

// Cut reports whether the columns of a row can say how a worker is cut.
func Cut(l *parallel.Layout) bool {
	return max(1, l.TP)*max(1, l.PP)*max(1, l.DP) == l.Devices && l.MoEDP <= 1 && l.DCP <= 1
}
