package deploy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Plan is what files are written for: an option of an experiment. Of a disaggregated one the copies are units with a router each,
// as they were predicted.
func Plan(w *session.Session, s *session.Sources, e *experiment.Experiment, o *experiment.Option, site launch.Site) (*launch.Plan, error) {
	run, copies := o.Deployment, 1
	if run.Disaggregated() && o.Copies > 1 {
		copies, run.Pools = o.Copies, slices.Clone(run.Pools)
		for i := range run.Pools {
			run.Pools[i].Replicas /= copies
		}
	}
	st, resolved, err := w.Resolved(&run, s)
	if err != nil {
		return nil, err
	}
	load := loader{session: w, sources: s, model: st.Model, d: new(run)}
	var loads []launch.Load
	if site.ModelPath == "" {
		if run, loads, err = load.runs(resolved); err != nil {
			return nil, err
		}
		if st, resolved, err = w.Resolved(&run, s); err != nil {
			return nil, err
		}
	}
	site.ServedName = cmp.Or(site.ServedName, site.ModelPath, run.Model)
	longest, prompt := 0, 0
	if len(e.Workloads) > 0 {
		k, err := w.Kinds(slices.Clone(e.Workloads))
		if err != nil {
			return nil, err
		}
		longest, prompt = k.Longest, k.Prompt
	}
	return &launch.Plan{
		Capacity: capacity(e, o), Profile: profile(st, &run, max(longest, e.Input+e.Output)), Deployment: run, Resolved: resolved, Loads: loads, Remarks: load.remarks, Input: e.Input, Output: e.Output, Longest: longest, Prompt: prompt, Prefix: e.Prefix, Concurrency: o.Concurrency, Copies: copies,
		Predicted: o.Figures, Site: site,
	}, nil
}

// capacity is the most load of all copies within the limits, the spare ones included. The cache in
// use grows with the requests in flight.
func capacity(e *experiment.Experiment, o *experiment.Option) launch.Capacity {
	if !e.Limits.Any() || o.Concurrency == 0 {
		return launch.Capacity{}
	}
	n := cmp.Or(o.Capacity.Concurrency, o.Concurrency)
	return launch.Capacity{
		Concurrency: n * max(1, o.Copies) / max(1, o.Copies-o.Spare), KV: min(1, o.Run.KVPeak*float64(n)/float64(o.Concurrency)),
	}
}
