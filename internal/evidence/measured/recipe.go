package measured

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// recipe adds to a deployment what published deployments of its kind have and the row
// does not give: disaggregated ones never run with an engine's defaults, and benchmarks
// seldom do. An aggregated row that gives any setting is taken to give all that
// differ from the defaults, but for those that rows never give.
func (p *Prepared) recipe(d *deployment.Deployment, parts deployment.Parts) {
	mode := engine.Disaggregated
	if p.Row.Mode != disagg {
		mode = engine.Aggregated
	}
	preset := parts.Engine.Assumed(mode)
	if preset == nil {
		return
	}
	if mode == engine.Aggregated && p.Row.givesSettings() {
		preset = preset.Unsaid()
	}
	base, err := d.Base(parts)
	if err != nil {
		return // resolving the deployment says why
	}
	assumed, err := d.Assume(preset, base, func(pool *deployment.Pool) float64 {
		return float64(p.Row.Concurrency) / float64(max(1, pool.Replicas)*max(1, pool.Layout.DP))
	})
	if err != nil {
		return // likewise
	}
	for _, a := range assumed {
		switch {
		case a.Value == "":
		case a.Says != "":
			p.assume(parts.Engine.Name + " " + a.Says)
		default:
			p.assume(fmt.Sprintf("%s runs with %s=%s (preset %s)", parts.Engine.Name, a.Key, a.Value, preset.Name))
		}
	}
}

// givesSettings reports whether a row says anything of how its engine was started.
func (r *Row) givesSettings() bool {
	return r.KV != "" || r.TokenBudget > 0 || r.MemoryShare > 0 || r.MaxSequences > 0 || r.GraphBatch > 0 || r.ReceiveEvery > 0 ||
		r.BatchWaitSteps > 0 || len(r.Others) > 0
}
