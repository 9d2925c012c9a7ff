package model

import "cmp"

// parseQwen25VL reads Qwen2.5-VL, whose text fields stand at the top level or in
// text_config.
func parseQwen25VL(r *reader) *Model {
	m := r.decoder()
	return r.withQwenVision(m, func(t *tower, v *Vision) {
		v.Window = t.Window
		v.FullLayers = len(t.FullBlocks)
	})
}

// newerTower is what Qwen3-VL changed: a plain MLP, learned positions, and
// projectors from inner layers into the first decoder layers.
func newerTower(t *tower, v *Vision) {
	v.Ungated = true
	v.Positions = t.Positions
	v.DeepStack = len(t.DeepStack)
}

// withQwenVision reads the image tower of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3.5,
// and of GLM-4.1V, which has the same form. The frames and patches of a token are the
// class's defaults, which older configs leave out.
func (r *reader) withQwenVision(m *Model, generation func(*tower, *Vision)) *Model {
	return r.withTower(m, func(t *tower, v *Vision) {
		t.Merge = cmp.Or(t.Merge, 2)
		v.Merge, v.TemporalPatch, v.Out = int(t.Merge), cmp.Or(t.TemporalPatch, 2), t.Out
		v.Ungated, v.Positions = false, 0
		generation(t, v)
		if v.FullLayers > v.Layers || v.DeepStack > v.Layers {
			r.addf("vision_config", "lists more layers than depth %d", v.Layers)
		}
	})
}

// parseQwen2VL reads Qwen2-VL, whose tower has no gate, a width of its own name and
// four times that inside.
func parseQwen2VL(r *reader) *Model {
	return r.withQwenVision(r.decoder(), func(t *tower, v *Vision) {
		ratio := cmp.Or(t.Ratio, 4)
		if !(ratio > 0 && ratio <= maxPatch) {
			r.addf("vision_config.mlp_ratio", "%g is implausible", ratio)
			ratio = 1
		}
		v.Hidden, v.Out = t.Embed, t.Hidden
		v.Intermediate = int(ratio * float64(min(max(t.Embed, 0), maxHidden)))
		v.Ungated = true
	})
}
