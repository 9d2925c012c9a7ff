package model

import "encoding/json"

// mllama is the text_config of Llama 3.2 Vision: Llama with further layers that
// attend to the image.
type mllama struct {
	decoder

	Cross indices `json:"cross_attention_layers"`
}

// mllamaVision is its vision_config. Images are cut into tiles; the last layers
// see all of them, as we count it for every layer.
type mllamaVision struct {
	Layers       int     `json:"num_hidden_layers"`
	Global       int     `json:"num_global_layers"`
	Hidden       int     `json:"hidden_size"`
	Intermediate int     `json:"intermediate_size"`
	Heads        int     `json:"attention_heads"`
	Patch        int     `json:"patch_size"`
	Image        int     `json:"image_size"` // pixels of a tile's side
	Tiles        int     `json:"max_num_tiles"`
	Ratios       [][]int `json:"supported_aspect_ratios"`
	Out          int     `json:"vision_output_dim"`
}

// parseMllama reads Llama 3.2 Vision.
func parseMllama(r *reader) *Model {
	var c mllama
	if !r.decode(&c) {
		return nil
	}
	m := r.build(&c.decoder, style{layer: func(i int, l *Layer) {
		if c.Cross.has(i) {
			l.Attention.Kind, l.Attention.QKNorm, l.Attention.RopeDim = Cross, PerHead, 0
		}
	}})
	if m == nil || !present(r.outer.VisionConfig) {
		return m
	}
	v := mllamaVision{Patch: 14, Tiles: 4}
	if err := json.Unmarshal(r.outer.VisionConfig, &v); err != nil {
		r.errs = append(r.errs, decodeError("config.json", "vision_config.", err))
		return nil
	}
	m.Vision = r.mllamaTower(&v, m.Hidden)
	m.note("Layers that attend to images run for prompts with images; in decode steps they are left out, and so is their cache.")
	return m
}

func (r *reader) mllamaTower(c *mllamaVision, out int) *Vision {
	r.may("image_size", c.Image, maxHidden)
	r.may("max_num_tiles", c.Tiles, maxPatch)
	side := min(max(c.Image, 0), maxHidden) / max(c.Patch, 1)
	rows := min(side*side+1, maxVocab)
	tiles := min(max(c.Tiles, 1), maxPatch)
	v := &Vision{
		Layers: c.Layers + c.Global, Hidden: c.Hidden, Intermediate: c.Intermediate, Heads: c.Heads,
		Patch: c.Patch, TemporalPatch: 1, Merge: 1, Out: out, Ungated: true, Joined: true,
		TokensPerImage: 1, PatchesPerImage: tiles * rows,
		// Of a tile's patches, and of all tiles for each shape of the image.
		Positions: min(rows+(len(c.Ratios)+1)*tiles*rows, maxVocab),
	}
	r.vision(v)
	if c.Hidden > 0 && c.Out%c.Hidden == 0 && v.Joined { // the projector reads several layers' outputs
		v.Joined = false
		v.MergerHidden = asWide(c.Hidden, out, c.Out*out)
	}
	return v
}
