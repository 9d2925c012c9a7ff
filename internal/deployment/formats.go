package deployment

import (
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/field"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
)

// resolve finds the format of every part of a model.
func (f *Formats) resolve(m *model.Model, p graph.Policy, d *device.Profile) (graph.Quant, error) {
	if f.MXFP4Group < 0 {
		return graph.Quant{}, field.Errorf("%s must be positive, got %d", field.Name("mxfp4_group_size"), f.MXFP4Group)
	}
	q := graph.Resolve(m, p, f.actions(d))
	f.convert(m, &q)
	switch f.KV {
	case "fp8":
		q.KV = dtype.FP8
	case "bf16", "bfloat16":
		q.KV = q.Base
	}
	return q, nil
}

// actions are the quantization actions asked for, and where the Ascend tools are
// at home their guide's defaults for the rest. Elsewhere the checkpoint's own
// formats are the default.
func (f *Formats) actions(d *device.Profile) graph.Actions {
	a := graph.Actions{Linear: f.Linear, NonExpert: f.NonExpert, Attention: f.Attention, MXFP4Group: f.MXFP4Group}
	if !d.FollowsAscend() {
		return a
	}
	if a.Linear == "" {
		a.Linear = dtype.W8A8Dynamic
	}
	if a.Attention == "" {
		a.Attention = dtype.Disabled
	}
	return a
}

// convert applies a published conversion, as its publishers make them: 8 bits
// everywhere, 4 bits everywhere in a dense model, and in the feed-forward parts of
// a mixture, whose attention stays wide. Converted checkpoints ask for a cache in
// fp8, as NVIDIA's do.
func (f *Formats) convert(m *model.Model, q *graph.Quant) {
	if m.Quant.Method == "mxfp4" {
		return // gpt-oss has one checkpoint, whatever it is called
	}
	experts := m.HasExperts()
	switch f.Checkpoint {
	case "fp8":
		if q.Attention.Weight == dtype.FP8 {
			return // the checkpoint's own
		}
		s := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8}
		if experts {
			s.Group, s.Rows, s.Scale = 128, 128, dtype.F32
		}
		q.Attention, q.Dense, q.Experts, q.Shared, q.KV = s, s, s, s, dtype.FP8
	case "fp4":
		s := dtype.Scheme{Weight: dtype.FP4, Activation: dtype.FP4, Group: 16, Scale: dtype.FP8}
		wide := dtype.Unquantized(q.Base)
		q.Attention, q.Dense, q.Experts, q.Shared, q.KV = s, s, s, s, dtype.FP8
		if experts {
			q.Attention = wide
		}
	case "int4":
		q.Experts = dtype.Scheme{Weight: dtype.INT4, Activation: q.Base, Group: 32, Scale: dtype.BF16}
	}
}
