package deploy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Plan is what files are written for: an option of an experiment.
func Plan(w *session.Session, s *session.Sources, e *experiment.Experiment, o *experiment.Option, site launch.Site) (*launch.Plan, error) {
	st, err := w.Stage(&o.Deployment, s)
	if err != nil {
		return nil, err
	}
	resolved, err := o.Deployment.Resolve(st.Parts)
	if err != nil {
		return nil, session.BadInput(err)
	}
	site.ModelPath = cmp.Or(site.ModelPath, checkpoint(st.Model, &o.Deployment.Formats))
	site.ServedName = cmp.Or(site.ServedName, site.ModelPath)
	longest := 0
	if len(e.Workloads) > 0 {
		k, err := w.Kinds(slices.Clone(e.Workloads))
		if err != nil {
			return nil, err
		}
		longest = k.Longest
	}
	return &launch.Plan{
		Deployment: o.Deployment, Resolved: resolved, Input: e.Input, Output: e.Output, Longest: longest, Prefix: e.Prefix, Concurrency: o.Concurrency,
		Predicted: launch.Predicted{TTFT: units.Seconds(o.TTFT), TPOT: units.Seconds(o.TPOT), Throughput: o.Throughput}, Site: site,
	}, nil
}

// checkpoint is what an engine loads for a model under another name: the model, or its
// publisher's own conversion to FP8 where that is asked for. Under its own name it is
// what the user called it.
func checkpoint(m *model.Model, f *deployment.Formats) string {
	if m.Taken() == "" {
		return ""
	}
	if strings.HasPrefix(f.GEMM, "fp8") {
		if converted, err := model.Lookup(m.ID + "-FP8"); err == nil && converted.Taken() == "" {
			return converted.ID
		}
	}
	return m.ID
}
