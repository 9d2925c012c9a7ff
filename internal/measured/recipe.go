package measured

import (
	"plimsoll/internal/deployment"
)

// recipe adds to a deployment what published recipes of disaggregated workers share
// and the row does not give: such deployments never run with an engine's defaults.
func (p *Prepared) recipe(d *deployment.Deployment, parts deployment.Parts) {
	preset := parts.Engine.Assumed()
	if preset == nil {
		return
	}
	base, err := d.Base(parts)
	if err != nil {
		return // resolving the deployment says why
	}
	assumed, err := d.Assume(preset, base, func(pool *deployment.Pool) int { return p.Row.Concurrency / (pool.Replicas * pool.Layout.DP) })
	if err != nil {
		return // likewise
	}
	for _, a := range assumed {
		if a.Value != "" && a.Says != "" {
			p.assume(parts.Engine.Name + " " + a.Says)
		}
	}
}
