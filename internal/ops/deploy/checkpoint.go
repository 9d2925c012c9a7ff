package deploy

import (
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// loader finds what engines load so that they run the number formats of a prediction.
type loader struct {
	session *session.Session
	sources *session.Sources
	model   *model.Model
	d       *deployment.Deployment
	remarks []string // on what differs from the prediction
}

// runs are the deployment with a checkpoint that holds the predicted formats, or what each pool
// loads where that differs. Quantizations of Ascend's tools are made by the user, who
// names the result with the path of the model.
func (l *loader) runs(resolved *deployment.Resolved) (d deployment.Deployment, loads []launch.Load, err error) {
	d = *l.d
	d.Pools = append([]deployment.Pool(nil), l.d.Pools...)
	for i := range d.Pools {
		at, err := l.pool(i, &resolved.Pools[i])
		if err != nil {
			return d, nil, err
		}
		loads = append(loads, at)
	}
	for _, at := range loads[1:] {
		if at != loads[0] { // the formats of the deployment's pools stay those of its model
			return d, loads, nil
		}
	}
	d.Model, d.Formats = loads[0].Model, loads[0].Formats
	for i := range d.Pools {
		d.Pools[i].Formats = deployment.Formats{}
	}
	return d, nil, nil
}

// pool finds what the engines of a pool load: the model itself, a checkpoint of the catalog in
// the formats, the model converted while loading, or a checkpoint with another attention, in
// this order.
func (l *loader) pool(i int, s *deployment.Served) (launch.Load, error) {
	asked := l.d.Formats
	if own := l.d.Pools[i].Formats; own != (deployment.Formats{}) {
		asked = own
	}
	name := l.d.Model
	if l.model.Taken() != "" {
		name = l.model.ID
	}
	self := launch.Load{Model: name, Formats: asked}
	weights := asked.Checkpoint + asked.GEMM + asked.MoE + string(asked.Linear) + string(asked.NonExpert)
	if s.Device.FollowsAscend() || weights == "" {
		return self, nil
	}
	ways := l.ways(name, asked, s)
	var near *launch.Load
	var other graph.Quant
	var choices []string
	for k, way := range ways {
		have, err := l.quant(i, way)
		if err != nil {
			return self, err
		}
		apart := apart(l.model, &s.Spec.Quant, &have)
		switch {
		case len(apart) == 0:
			return way, nil
		case len(apart) == 1 && apart[0] == "attention" && near == nil:
			near, other = &ways[k], have
		}
		if way.Formats.Checkpoint == "" {
			choices = append(choices, fmt.Sprintf("%s (%s)", way.Model, feedForward(l.model, &have).Name()))
		}
	}
	if near != nil {
		l.remarks = append(l.remarks, fmt.Sprintf("%s has attention in %s; the prediction assumes %s.", near.Model, other.Attention.Name(), s.Spec.Quant.Attention.Name()))
		return *near, nil
	}
	return self, field.Errorf("no checkpoint of %s with weights in %s is known, and the engine does not convert to that format while loading: give one with %s, or choose among %s",
		l.model.ID, feedForward(l.model, &s.Spec.Quant).Name(), field.Name("model_path"), strings.Join(choices, ", "))
}

// ways are those to load a model, in the order of preference.
func (l *loader) ways(name string, asked deployment.Formats, s *deployment.Served) []launch.Load {
	only := deployment.Formats{Attention: asked.Attention, KV: asked.KV}
	if s.Spec.Quant.KV == dtype.FP8 {
		only.KV = "fp8"
	}
	out := []launch.Load{{Model: name, Formats: only}}
	for _, c := range l.model.Conversions() {
		out = append(out, launch.Load{Model: c.ID, Formats: only})
	}
	if s.Engine != nil && (s.Engine.Server() == launch.VLLM || s.Engine.Server() == launch.SGLang) {
		converted := only
		converted.Checkpoint = "fp8"
		out = append(out, launch.Load{Model: name, Formats: converted})
	}
	return out
}

// quant is the formats of a pool that is loaded in a way.
func (l *loader) quant(i int, way launch.Load) (graph.Quant, error) {
	d := *l.d
	d.Model, d.Formats = way.Model, way.Formats
	d.Pools = append([]deployment.Pool(nil), l.d.Pools...)
	for k := range d.Pools {
		d.Pools[k].Formats = deployment.Formats{}
	}
	_, r, err := l.session.Resolved(&d, l.sources)
	if err != nil {
		return graph.Quant{}, err
	}
	return r.Pools[i].Spec.Quant, nil
}

// apart are the parts of a model whose weights or inputs two ways to store it have in
// different formats.
func apart(m *model.Model, a, b *graph.Quant) []string {
	same := func(a, b dtype.Scheme) bool {
		return a.Weight == b.Weight && a.Activation == b.Activation && a.Group == b.Group && max(1, a.Rows) == max(1, b.Rows)
	}
	dense, experts, shared := false, false, false
	for _, k := range m.Kinds {
		dense = dense || k.FFN.Kind == model.Dense
		experts = experts || k.FFN.Kind == model.MoE
		shared = shared || k.FFN.SharedIntermediate > 0
	}
	var out []string
	for _, part := range []struct {
		name string
		has  bool
		a, b dtype.Scheme
	}{
		{"attention", true, a.Attention, b.Attention},
		{"dense layers", dense && !experts, a.Dense, b.Dense},
		{"experts", experts, a.Experts, b.Experts},
		{"shared experts", shared, a.Shared, b.Shared},
	} {
		if part.has && !same(part.a, part.b) {
			out = append(out, part.name)
		}
	}
	return out
}

// feedForward is the format of most of a model's weights.
func feedForward(m *model.Model, q *graph.Quant) dtype.Scheme {
	if m.HasExperts() {
		return q.Experts
	}
	return q.Dense
}
