package files_test

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// deploymentOf is the deployment that a plan's files run, with all engine settings in them:
// reading the files gives the same. A prediction of it is a prediction of the files: the
// batch and the length of requests, which the plan derives from its row, are settings
// here.
func deploymentOf(p *launch.Plan) (deployment.Deployment, error) {
	values, err := p.Values()
	if err != nil {
		return deployment.Deployment{}, err
	}
	d := p.Deployment
	d.Engine = deployment.Engine{Name: values[0].Engine, Version: values[0].Version}
	d.Pools = nil
	units := p.Units()
	if !p.Resolved.Disaggregated() {
		units = 1 // copies of one pool are more of its workers
	}
	for i := range values {
		v := &values[i]
		d.Pools = append(d.Pools, deployment.Pool{
			Role: v.Role, Replicas: v.Workers / units, Layout: v.Layout, Settings: append(settings(v), v.ModelOnly...), MTP: v.MTP,
			System: p.Deployment.Pools[i].System, Formats: p.Deployment.Pools[i].Formats,
			Drafter:         v.Drafter,
			AcceptanceRates: p.Deployment.Pools[i].AcceptanceRates,
		})
	}
	return d, nil
}

// settings are the values as an engine's settings.
func settings(v *launch.Values) []string {
	out := []string{
		fmt.Sprintf("max_context=%d", v.MaxLength), fmt.Sprintf("max_sequences=%d", v.Batch),
		fmt.Sprintf("token_budget=%d", v.TokenBudget), fmt.Sprintf("chunked_prefill=%t", v.ChunkedPrefill),
		"memory_share=" + strconv.FormatFloat(v.MemoryShare, 'f', -1, 64), "kv_format=" + v.KV,
		fmt.Sprintf("prefix_caching=%t", v.PrefixCaching),
	}
	if !v.OwnGraphs {
		most := 0
		if n := len(v.Graphs); n > 0 {
			most = v.Graphs[n-1]
		}
		out = append(out, fmt.Sprintf("graph.max_batch=%d", most))
	}
	return append(out, v.Extras...)
}
