package model

import (
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

// tower is the vision_config of models that join a published image tower (CLIP,
// SigLIP, InternViT, Pixtral, MoonViT) to a language model of another family.
type tower struct {
	Type         string `json:"model_type"`
	Layers       int    `json:"num_hidden_layers"`
	Hidden       int    `json:"hidden_size"`
	Intermediate int    `json:"intermediate_size"`
	Heads        int    `json:"num_attention_heads"`
	Patch        side   `json:"patch_size"`
	Image        side   `json:"image_size"`
	Rows         int    `json:"init_pos_emb_height"` // MoonViT
	Columns      int    `json:"init_pos_emb_width"`
	Merge        side   `json:"merge_kernel_size"`
	Positions    int    `json:"num_patches"` // SigLIP 2
}

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

// parseWrapper reads a language model of another family with an image tower and a
// projector of two matrices.
func parseWrapper(r *reader) *Model {
	return r.wrapped(func(j *joint, v *Vision) {
		if v.MergerHidden = j.Projection; v.MergerHidden == 0 {
			v.MergerHidden = v.Out
		}
	})
}

// parseWholeImages reads likewise where every image is scaled to the same size.
func parseWholeImages(r *reader) *Model {
	m := parseWrapper(r)
	if m != nil && m.Vision != nil {
		m.Vision.TokensPerImage = m.Vision.Positions / m.Vision.merged()
	}
	return m
}

// parseIdefics3 reads Idefics 3 and SmolVLM: one matrix.
func parseIdefics3(r *reader) *Model {
	return r.wrapped(func(_ *joint, v *Vision) { v.Joined = true })
}

// parsePaliGemma reads PaliGemma: one matrix, images of one size.
func parsePaliGemma(r *reader) *Model {
	return r.wrapped(func(_ *joint, v *Vision) { v.Joined, v.TokensPerImage = true, v.Positions })
}

// parseMistral3 reads Mistral Small 3.1 and later: patches are merged by a matrix
// of their own.
func parseMistral3(r *reader) *Model {
	return r.wrapped(func(_ *joint, v *Vision) {
		in := v.Hidden * v.merged()
		v.MergerHidden = asWide(in, v.Out, in*v.Hidden+v.Hidden*v.Out+v.Out*v.Out)
	})
}

// parseCohereVision reads Command A Vision and Aya Vision: a gated projector.
func parseCohereVision(r *reader) *Model {
	return r.wrapped(func(j *joint, v *Vision) {
		in, inner := v.Hidden*v.merged(), j.Alignment
		v.MergerHidden = asWide(in, v.Out, in*inner+inner/2*v.Out)
	})
}

// parseKimiVL reads Kimi-VL: the projector is as wide as the merged patches.
func parseKimiVL(r *reader) *Model { return r.wrapped(func(*joint, *Vision) {}) }

// wrapped reads the language model by its own family and joins the tower to it.
func (r *reader) wrapped(project func(*joint, *Vision)) *Model {
	var inner header
	if r.path == "" || json.Unmarshal(r.text, &inner) != nil {
		r.addf("text_config", "missing (family %s)", r.family.name)
		return nil
	}
	f, name := findFamily(inner)
	if f == nil {
		r.errs = append(r.errs, unknownArchitecture(name))
		return nil
	}
	own := *r.family
	own.modules = f.modules
	r.family = &own
	if !r.defaults(f.name) {
		return nil
	}
	m := f.parse(r)
	if m == nil || !present(r.outer.VisionConfig) {
		return m
	}
	t := r.tower()
	var j joint
	if t == nil || json.Unmarshal(r.config, &j) != nil {
		return m
	}
	m.Vision = t.vision(j.merge(t), m.Hidden)
	r.vision(m.Vision)
	if r.failed() {
		return nil
	}
	project(&j, m.Vision)
	return m
}

// towerDefaults are what published configs leave out because it equals the class's
// default.
func towerDefaults(kind string) tower {
	switch kind {
	case "clip_vision_model":
		return tower{Layers: 12, Hidden: 768, Intermediate: 3072, Heads: 12, Patch: 32, Image: 224}
	case "siglip_vision_model", "siglip2_vision_model":
		return tower{Layers: 12, Hidden: 768, Intermediate: 3072, Heads: 12, Patch: 16, Image: 224}
	case "pixtral":
		return tower{Layers: 24, Hidden: 1024, Intermediate: 4096, Heads: 16, Patch: 16, Image: 1024}
	case "idefics3_vision", "idefics3", "smolvlm_vision":
		return tower{Layers: 12, Hidden: 1152, Intermediate: 3072, Heads: 16, Patch: 32, Image: 224}
	}
	return tower{}
}

// tower reads the vision_config.
func (r *reader) tower() *tower {
	var kind tower
	err := json.Unmarshal(r.outer.VisionConfig, &kind)
	t := towerDefaults(kind.Type)
	if err == nil {
		err = json.Unmarshal(r.outer.VisionConfig, &t)
	}
	if err != nil {
		r.errs = append(r.errs, decodeError("config.json", "vision_config.", err))
		return nil
	}
	return &t
}

// vision is the tower as we count it.
func (t *tower) vision(merge, out int) *Vision {
	v := &Vision{
		Layers: t.Layers, Hidden: t.Hidden, Intermediate: t.Intermediate, Heads: t.Heads,
		Patch: int(t.Patch), TemporalPatch: 1, Merge: merge, Out: out,
		Ungated: true, Bias: true, Positions: t.Positions,
	}
	switch {
	case t.Type == "pixtral": // rotary positions, gated, no biases
		v.Ungated, v.Bias, v.Positions = false, false, 0
	case t.Rows > 0 && t.Columns > 0 && t.Rows < maxPatch && t.Columns < maxPatch:
		v.Positions = t.Rows * t.Columns
	case v.Positions == 0 && t.Patch > 0:
		n := min(max(int(t.Image)/int(t.Patch), 0), maxPatch)
		v.Positions = n * n
	}
	return v
}

// defaults fills in what nested configs of a family leave out because it equals
// the class's default.
func (r *reader) defaults(family string) bool {
	const llama = `{"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000, `
	var text string
	switch family {
	case "llama":
		text = llama + `"intermediate_size": 11008, "max_position_embeddings": 2048}`
	case "mistral":
		text = llama + `"num_key_value_heads": 8, "intermediate_size": 14336, "max_position_embeddings": 131072}`
	case "qwen2":
		text = `{"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
			"intermediate_size": 22016, "vocab_size": 151936, "max_position_embeddings": 32768}`
	case "gemma":
		text = `{"head_dim": 256, "vocab_size": 256000, "max_position_embeddings": 8192, "tie_word_embeddings": true}`
	case "gemma2":
		text = `{"head_dim": 256, "vocab_size": 256000, "max_position_embeddings": 8192, "tie_word_embeddings": true, "sliding_window": 4096}`
	default:
		return true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil || !r.decode(&fields) {
		return false
	}
	text2, err := json.Marshal(fields)
	if err == nil {
		r.text = text2
	}
	return err == nil
}

// parseMiniCPMV reads MiniCPM-V 2.5 to 4.5, whose language model's fields stand at
// the top level: its version tells of which family it is. A resampler turns each
// slice of an image, 32 patches a side, into 64 tokens.
func parseMiniCPMV(r *reader) *Model {
	var c struct {
		decoder

		Version json.Number `json:"version"`
	}
	if !r.decode(&c) {
		return nil
	}
	version, err := c.Version.Float64()
	if err != nil {
		r.addf("version", "%s is not a version", quoted(c.Version.String()))
		return nil
	}
	s := style{bias: version == 2.6} // as Qwen2
	if version >= 4.5 {              // as Qwen3
		s.qkNorm = PerHead
	}
	m := r.build(&c.decoder, s)
	if m == nil || !present(r.outer.VisionConfig) {
		return m
	}
	t := r.tower()
	if t == nil {
		return nil
	}
	const merged = 4
	m.Vision = t.vision(merged, m.Hidden)
	r.vision(m.Vision)
	if r.failed() {
		return nil
	}
	// Keys and values from the tower's width, attention, and a projection.
	out := m.Hidden
	m.Vision.MergerHidden = asWide(m.Vision.Hidden*merged*merged, out, m.Vision.Hidden*out+5*out*out)
	return m
}
