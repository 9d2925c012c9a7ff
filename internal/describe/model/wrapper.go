package model

import (
	"cmp"
	"encoding/json"
	"math"
)

// noTower is the note of models whose vision tower is left out.
const noTower = "The vision tower is not modelled."

// asWide is the inner width of a projector of two matrices, in × n and n × out,
// that has as many weights as one of another form.
func asWide(in, out, weights int) int {
	if in <= 0 || out <= 0 || weights <= 0 || in+out > maxIntermediate {
		return 0
	}
	return int(math.Round(float64(weights) / float64(in+out)))
}

// tower is a vision_config. Its fields have the names that most publishers use;
// towerSpellings brings others to them.
type tower struct {
	Type          string `json:"model_type"`
	Layers        int    `json:"num_hidden_layers"`
	Hidden        int    `json:"hidden_size"`
	Intermediate  int    `json:"intermediate_size"`
	Heads         int    `json:"num_attention_heads"`
	Patch         side   `json:"patch_size"`
	Image         side   `json:"image_size"` // pixels
	TemporalPatch int    `json:"temporal_patch_size"`
	Merge         side   `json:"spatial_merge_size"`
	Out           int    `json:"out_hidden_size"`
	Rows          int    `json:"init_pos_emb_height"` // MoonViT
	Columns       int    `json:"init_pos_emb_width"`
	Positions     int    `json:"num_patches"`

	Window     int   `json:"window_size"`              // Qwen2.5-VL: pixels
	FullBlocks []int `json:"fullatt_block_indexes"`    // its layers without window
	DeepStack  []int `json:"deepstack_visual_indexes"` // Qwen3-VL

	plainLayers, plainHidden int // see Vision

	Embed int     `json:"embed_dim"` // Qwen2-VL: the tower's width; hidden_size is the language model's
	Ratio float64 `json:"mlp_ratio"`

	QKV        int   `json:"qkv_hidden_size"` // Kimi K3: wider than Hidden
	LinearBias *bool `json:"linear_bias"`     // Kimi: absent is true

	AxisPositions int `json:"position_embedding_size"` // Gemma 4: per axis
	Pool          int `json:"pooling_kernel_size"`     // Gemma 4
	Tokens        int `json:"default_output_length"`   // Gemma 4

	Shuffle   float64 `json:"pixel_shuffle_ratio"` // Llama 4
	Projector int     `json:"projector_output_dim"`

	// Llama 3.2 Vision: images are cut into tiles of image_size; the last layers see
	// all of them, as we count it for every layer.
	Global int     `json:"num_global_layers"`
	Tiles  int     `json:"max_num_tiles"`
	Ratios [][]int `json:"supported_aspect_ratios"`
	States int     `json:"vision_output_dim"` // width of several layers' outputs
}

// towerSpellings are names of fields: ours, then what others call it.
const towerSpellings = `
num_hidden_layers depth vt_num_hidden_layers
hidden_size vt_hidden_size
intermediate_size vt_intermediate_size
num_attention_heads num_heads vt_num_attention_heads attention_heads
patch_size spatial_patch_size
spatial_merge_size merge_kernel_size
num_patches num_position_embeddings
`

// side is a number of pixels, written once or for height and width.
type side int

// UnmarshalJSON takes either form.
func (s *side) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var list []int
		if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
			return err
		}
		*s = side(list[0])
		return nil
	}
	return json.Unmarshal(b, (*int)(s))
}

// joint is how a wrapper brings the tower's output to the language model, from the
// fields at its top level.
type joint struct {
	SpatialMerge int     `json:"spatial_merge_size"`
	Ratio        float64 `json:"downsample_ratio"`
	Factor       int     `json:"downsample_factor"`
	Scale        int     `json:"scale_factor"`
	Projection   int     `json:"projector_hidden_size"`
	Alignment    int     `json:"alignment_intermediate_size"`
}

// merge is the patches per side that become one token.
func (j *joint) merge(t *tower) int {
	for _, n := range []int{int(t.Merge), j.SpatialMerge, j.Factor, j.Scale} {
		if n > 0 {
			return n
		}
	}
	if j.Ratio > 0 && j.Ratio <= 1 {
		return int(math.Round(1 / j.Ratio))
	}
	return 1
}

// twoMatrices is the usual projector.
func twoMatrices(j *joint, v *Vision) { v.MergerHidden = cmp.Or(j.Projection, v.Out) }

// parseWholeImages reads wrappers in which every image is scaled to one size.
func parseWholeImages(r *reader) *Model {
	m := wrapped(twoMatrices)(r)
	if m != nil && m.Vision != nil {
		m.Vision.TokensPerImage = m.Vision.Positions / m.Vision.merged()
	}
	return m
}

// mergingMatrix is the projector of Mistral Small 3.1 and later: patches are merged by a matrix
// of their own.
func mergingMatrix(_ *joint, v *Vision) {
	in := v.Hidden * v.merged()
	v.MergerHidden = asWide(in, v.Out, in*v.Hidden+v.Hidden*v.Out+v.Out*v.Out)
}

// gatedProjector is that of Command A Vision and Aya Vision.
func gatedProjector(j *joint, v *Vision) {
	in, inner := v.Hidden*v.merged(), j.Alignment
	v.MergerHidden = asWide(in, v.Out, in*inner+inner/2*v.Out)
}

// wrapped reads the language model by its own family, and joins the image tower to it by a projector.
func wrapped(project func(*joint, *Vision)) func(*reader) *Model {
	return func(r *reader) *Model {
		var inner header
		if r.path == "" || json.Unmarshal(r.text, &inner) != nil {
			r.addf("text_config", "missing (family %s)", r.family.Name)
			return nil
		}
		f, name := findFamily(inner)
		if f == nil {
			r.errs = append(r.errs, unknownArchitecture(name))
			return nil
		}
		own := *r.family
		own.Modules = f.Modules
		r.family, r.style = &own, f.Style
		if !r.fill(f.Nested) {
			return nil
		}
		m := f.parse(r)
		var j joint
		if json.Unmarshal(r.config, &j) != nil {
			return m
		}
		return r.withTower(m, func(t *tower, v *Vision) {
			v.Merge = j.merge(t)
			project(&j, v)
		})
	}
}

// tower reads the vision_config, nil without one or with an error.
func (r *reader) tower() *tower {
	if !present(r.outer.VisionConfig) {
		return nil
	}
	var kind tower
	text, said, err := respelled(r.outer.VisionConfig, towerSpellings)
	if err == nil {
		err = json.Unmarshal(text, &kind)
	}
	t := familyTable().Towers[kind.Type]
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		r.errs = append(r.errs, decodeError("config.json", "vision_config.", err))
		return nil
	}
	if said["num_hidden_layers"] == "num_hidden_layers" {
		t.plainLayers = t.Layers
	}
	if said["hidden_size"] == "hidden_size" {
		t.plainHidden = t.Hidden
	}
	return &t
}

// withTower reads the image tower into m, as a family changes its usual form. A
// config without one is a text model.
func (r *reader) withTower(m *Model, family func(*tower, *Vision)) *Model {
	if m == nil {
		return nil
	}
	if t := r.tower(); t != nil {
		m.Vision = t.vision(max(int(t.Merge), 1), m.Hidden)
		family(t, m.Vision)
		r.vision(m.Vision)
	}
	if r.failed() {
		return nil
	}
	return m
}

// vision is the tower as we count it.
func (t *tower) vision(merge, out int) *Vision {
	v := &Vision{
		Layers: t.Layers, Hidden: t.Hidden, Intermediate: t.Intermediate, Heads: t.Heads,
		Patch: int(t.Patch), TemporalPatch: 1, Merge: merge, Out: out,
		Ungated: true, Bias: true, Positions: t.Positions,
		PlainLayers: t.plainLayers, PlainHidden: t.plainHidden,
	}
	switch {
	case t.Type == "pixtral": // rotary positions, gated, no biases
		v.Ungated, v.Bias, v.Positions = false, false, 0
	case t.Rows > 0 && t.Columns > 0 && t.Rows < maxPatch && t.Columns < maxPatch:
		v.Positions = t.Rows * t.Columns
	case v.Positions == 0:
		v.Positions = t.square()
	}
	return v
}

// square is the number of patches of a square image.
func (t *tower) square() int {
	n := min(max(int(t.Image)/max(int(t.Patch), 1), 0), maxPatch)
	return n * n
}

// minicpmv is the config of MiniCPM-V.
type minicpmv struct {
	decoder

	Version json.Number `json:"version"`
}

// parseMiniCPMV reads MiniCPM-V 2.5 to 4.5, whose language model's fields stand at
// the top level: its version says which family it is. A resampler turns each
// slice of an image, 32 patches a side, into 64 tokens.
func parseMiniCPMV(r *reader, c *minicpmv) *Model {
	version, err := c.Version.Float64()
	if err != nil {
		r.addf("version", "%s is not a version", quoted(c.Version.String()))
		return nil
	}
	r.style.Bias = version == 2.6 // as Qwen2
	if version >= 4.5 {           // as Qwen3
		r.style.QKNorm = PerHead
	}
	return r.withTower(r.build(&c.decoder, nil), func(_ *tower, v *Vision) {
		v.Merge = 4
		// Keys and values from the tower's width, attention, and a projection.
		v.MergerHidden = asWide(v.Hidden*v.merged(), v.Out, v.Hidden*v.Out+5*v.Out*v.Out)
	})
}
