package model

import "cmp"

// parseQwen25VL reads Qwen2.5-VL, whose text fields stand at the top level or in
// text_config.
func parseQwen25VL(r *reader) *Model {
	m := parseQwen2(r)
	return r.withQwenVision(m, func(t *tower, v *Vision) {
		v.Window = t.Window
		v.FullLayers = len(t.FullBlocks)
	})
}

func parseQwen3VL(r *reader) *Model { return r.withQwenVision(parseQwen3(r), newerTower) }

func parseQwen3VLMoE(r *reader) *Model { return r.withQwenVision(parseQwen3MoE(r), newerTower) }

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
