package model

import "encoding/json"

// qwenVision is the vision_config of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3.5, and
// of GLM-4.1V, which has the same form.
type qwenVision struct {
	Depth         int   `json:"depth"`
	Hidden        int   `json:"hidden_size"`
	Intermediate  int   `json:"intermediate_size"`
	Heads         int   `json:"num_heads"`
	Patch         int   `json:"patch_size"`
	SpatialPatch  int   `json:"spatial_patch_size"` // an older name of Patch
	TemporalPatch int   `json:"temporal_patch_size"`
	Merge         int   `json:"spatial_merge_size"`
	Out           int   `json:"out_hidden_size"`
	Image         int   `json:"image_size"` // GLM-4.1V: pixels per side
	Positions     int   `json:"num_position_embeddings"`
	DeepStack     []int `json:"deepstack_visual_indexes"`
	Window        int   `json:"window_size"`           // Qwen2.5-VL: pixels
	FullBlocks    []int `json:"fullatt_block_indexes"` // its layers without window

	Embed int     `json:"embed_dim"` // Qwen2-VL: the tower's width; hidden_size is the language model's
	Ratio float64 `json:"mlp_ratio"`
}

// parseQwen25VL reads Qwen2.5-VL, whose text fields stand at the top level or in
// text_config.
func parseQwen25VL(r *reader) *Model {
	m := parseQwen2(r)
	return r.withQwenVision(m, func(c *qwenVision, v *Vision) {
		v.Window = c.Window
		v.FullLayers = len(c.FullBlocks)
	})
}

func parseQwen3VL(r *reader) *Model { return r.withQwenVision(parseQwen3(r), newerTower) }

func parseQwen3VLMoE(r *reader) *Model { return r.withQwenVision(parseQwen3MoE(r), newerTower) }

// newerTower is what Qwen3-VL changed: a plain MLP, learned positions, and
// projectors from inner layers into the first decoder layers.
func newerTower(c *qwenVision, v *Vision) {
	v.Ungated = true
	v.Positions = c.Positions
	v.DeepStack = len(c.DeepStack)
}

// withQwenVision reads the image tower into m. A config without one is a text
// model.
func (r *reader) withQwenVision(m *Model, generation func(*qwenVision, *Vision)) *Model {
	if m == nil || !present(r.outer.VisionConfig) {
		return m
	}
	var c qwenVision
	if err := json.Unmarshal(r.outer.VisionConfig, &c); err != nil {
		r.errs = append(r.errs, decodeError("config.json", "vision_config.", err))
		return nil
	}
	if c.Patch == 0 {
		c.Patch = c.SpatialPatch
	}
	if c.TemporalPatch == 0 {
		c.TemporalPatch = 2 // the class's default, which older configs leave out
	}
	if c.Merge == 0 {
		c.Merge = 2
	}
	v := &Vision{
		Layers: c.Depth, Hidden: c.Hidden, Intermediate: c.Intermediate, Heads: c.Heads,
		Patch: c.Patch, TemporalPatch: c.TemporalPatch, Merge: c.Merge, Out: c.Out,
		Bias: true,
	}
	generation(&c, v)
	r.vision(v)
	if v.FullLayers > v.Layers || v.DeepStack > v.Layers {
		r.addf("vision_config", "lists more layers than depth %d", v.Layers)
	}
	m.Vision = v
	return m
}
