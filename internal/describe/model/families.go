package model

import (
	_ "embed" // for the file below
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

// familyFile lists the families and the names of their matrices.
//
//go:embed families.json
var familyFile []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files {
	return embedded.Files{"families.json": familyFile, "shapes.txt": []byte(shapeSources)}.With(catalogFiles)
}

// family is a group of architectures whose config.json has the same form.
type family struct {
	Name          string
	Architectures string // separated by spaces
	Types         string // of models, likewise
	Form          string // the form of its configs, of [forms]
	Modules       string // the naming of its matrices
	Style         style
	// Defaults are fields of the language model that configs leave out because they equal the class's
	// default, Nested those that only the configs inside another leave out.
	Defaults, Nested map[string]json.RawMessage
	Blind            bool   // images are left out
	Note             string // what else is not modelled
}

// familyData is the content of the file.
type familyData struct {
	Modules  map[string]modules
	Towers   map[string]tower // what vision configs of a model_type leave out
	Families []family
}

//nolint:gochecknoglobals // read once, never changed
var familyTable = embedded.Once("model: families.json", familyFile, embedded.JSON[familyData])

// families lists what is supported, by name. The first entry that names an
// architecture has it, unless a later one also names the config's model_type.
func families() []family { return familyTable().Families }

// parse reads a config in the family's form.
func (f *family) parse(r *reader) *Model {
	if !r.fill(f.Defaults) {
		return nil
	}
	return forms()[f.Form](r)
}

// as reads a config as a T.
func as[T any](parse func(*reader, *T) *Model) func(*reader) *Model {
	return func(r *reader) *Model {
		c := new(T)
		if !r.decode(c) {
			return nil
		}
		return parse(r, c)
	}
}

// forms are the readers of configs: "" is the common form, in which families differ in
// style alone.
func forms() map[string]func(*reader) *Model {
	return map[string]func(*reader) *Model{
		"":               (*reader).decoder,
		"arctic":         as(parseArctic),
		"bamba":          as(func(r *reader, c *graniteHybrid) *Model { return r.hybrid(c, c.Attention.has) }),
		"chatglm":        as(parseChatGLM),
		"cohere_vision":  wrapped(gatedProjector),
		"dbrx":           as(parseDBRX),
		"deepseek":       as(parseDeepSeek),
		"deepseek_v4":    as(parseDeepSeekV4),
		"exaone4":        parseEXAONE4,
		"falcon_h1":      as(parseFalconH1),
		"gemma":          as((*reader).gemmaModel),
		"generic":        as(parseGeneric),
		"glm4_moe":       as(parseGLM4MoE),
		"glm4v":          func(r *reader) *Model { return r.withGLMVision(r.decoder()) },
		"glm4v_moe":      func(r *reader) *Model { return r.withGLMVision(as(parseGLM4MoE)(r)) },
		"gpt":            as(parseGPT),
		"granite_hybrid": as(parseGraniteHybrid),
		"idefics3":       wrapped(func(_ *joint, v *Vision) { v.Joined = true }), // one matrix
		"jamba":          as(parseJamba),
		"kimi_k25":       func(r *reader) *Model { return r.withKimiVision(as(parseDeepSeek)(r)) },
		"kimi_k3":        func(r *reader) *Model { return r.withKimiVision(as(parseKimiLinear)(r)) },
		"kimi_linear":    as(parseKimiLinear),
		"kimi_vl":        wrapped(func(*joint, *Vision) {}), // the projector is as wide as the merged patches
		"lfm2":           as(parseLFM2),
		"lfm2_moe":       as((*reader).lfm2Model),
		"lightning":      as(parseLightning),
		"llama4":         as(parseLlama4),
		"longcat":        as(parseLongcat),
		"mamba":          as(func(r *reader, c *pureMamba) *Model { return r.alike(c, r.mamba1(&c.base, &c.mamba)) }),
		"mamba2":         as(parseMamba2),
		"mimo_v2":        as(parseMiMoV2),
		"minicpm3":       as(parseMiniCPM3),
		"minicpmv":       as(parseMiniCPMV),
		"minimax_m2":     as(parseMiniMaxM2),
		"minimax_m3":     as(parseMiniMaxM3),
		"mistral3":       wrapped(mergingMatrix),
		"mllama":         as(parseMllama),
		"nemotron_h":     as(parseNemotronH),
		"nemotron_nas":   as(parseNemotronNAS),
		"paligemma":      wrapped(func(_ *joint, v *Vision) { v.Joined, v.TokensPerImage = true, v.Positions }), // images of one size
		"phi3_v":         parsePhi3V,
		"qwen":           as(parseQwenV1),
		"qwen2_5_vl":     parseQwen25VL,
		"qwen2_vl":       parseQwen2VL,
		"qwen3_5":        func(r *reader) *Model { return r.withQwenVision(as(parseQwenNext)(r), newerTower) },
		"qwen3_next":     as(parseQwenNext),
		"qwen3_vl":       func(r *reader) *Model { return r.withQwenVision(r.decoder(), newerTower) },
		"stablelm":       as(parseStableLM),
		"step3":          as(parseStep3),
		"whole_images":   parseWholeImages,
		"wrapper":        wrapped(twoMatrices),
	}
}

// UnmarshalText reads a norm of families.json.
func (n *QKNorm) UnmarshalText(text []byte) (err error) {
	*n, err = oneOf(text, map[string]QKNorm{"head": PerHead, "whole": WholeVector})
	return err
}

// UnmarshalText reads a router of families.json.
func (r *Router) UnmarshalText(text []byte) (err error) {
	*r, err = oneOf(text, map[string]Router{"raw": RawRouter, "group": GroupRouter, "sigmoid": SigmoidRouter})
	return err
}

func oneOf[T any](text []byte, words map[string]T) (T, error) {
	v, ok := words[string(text)]
	if !ok {
		return v, fmt.Errorf("unknown word %q", text)
	}
	return v, nil
}

// matrices are the names of a part's matrices in a checkpoint, after "layers.N.": written
// as a module's path and the names in it.
type matrices []string

// UnmarshalText joins the path and the names.
func (m *matrices) UnmarshalText(text []byte) error {
	path, names, _ := strings.Cut(string(text), " ")
	for name := range strings.FieldsSeq(names) {
		*m = append(*m, path+"."+name)
	}
	return nil
}
