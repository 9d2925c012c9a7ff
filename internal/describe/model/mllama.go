package model

import "cmp"

// mllama is the text_config of Llama 3.2 Vision: Llama with further layers that
// attend to the image.
type mllama struct {
	decoder

	Cross indices `json:"cross_attention_layers"`
}

// parseMllama reads Llama 3.2 Vision.
func parseMllama(r *reader, c *mllama) *Model {
	m := r.build(&c.decoder, func(i int, l *Layer) {
		if c.Cross.has(i) {
			l.Attention.Kind, l.Attention.QKNorm, l.Attention.RopeDim = Cross, PerHead, 0
		}
	})
	return r.withTower(m, func(t *tower, v *Vision) {
		r.mllamaTower(t, v)
		m.note("Layers that attend to images run for prompts with images; in decode steps they are left out, and so is their cache.")
	})
}

func (r *reader) mllamaTower(t *tower, v *Vision) {
	t.Patch, t.Tiles = cmp.Or(t.Patch, 14), cmp.Or(t.Tiles, 4) // the class's defaults
	r.may("image_size", int(t.Image), maxHidden)
	r.may("max_num_tiles", t.Tiles, maxPatch)
	rows := t.square() + 1
	tiles := min(max(t.Tiles, 1), maxPatch)
	v.Layers, v.Patch = v.Layers+t.Global, int(t.Patch)
	v.Bias, v.TokensPerImage, v.PatchesPerImage = false, 1, tiles*rows
	// Of a tile's patches, and of all tiles for each shape of the image.
	v.Positions = min(rows+(len(t.Ratios)+1)*tiles*rows, maxVocab)
	if t.Hidden > 0 && t.States%t.Hidden == 0 { // the projector reads several layers' outputs
		v.MergerHidden = asWide(t.Hidden, v.Out, t.States*v.Out)
	} else {
		v.Joined = true
	}
}
