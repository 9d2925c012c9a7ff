package model

import "cmp"

// Models with audio input and output. Their text comes from the thinker, a language
// model with an image tower; the other parts are not modelled.

const thinkerOnly = "The audio tower and the speech output are not modelled."

// parseQwen25Omni reads Qwen2.5-Omni.
func parseQwen25Omni(r *reader) *Model {
	r.notes = append(r.notes, thinkerOnly)
	return parseQwen25VL(r)
}

// parseQwen3Omni reads Qwen3-Omni.
func parseQwen3Omni(r *reader) *Model {
	r.notes = append(r.notes, thinkerOnly)
	return parseQwen3VLMoE(r)
}

// parseQwen2VL reads Qwen2-VL, whose tower has no gate, a width of its own name and
// four times that inside.
func parseQwen2VL(r *reader) *Model {
	return r.withQwenVision(parseQwen2(r), func(t *tower, v *Vision) {
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
