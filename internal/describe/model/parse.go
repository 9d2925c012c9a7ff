package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// header holds the fields read before the family is known.
type header struct {
	Architectures []string `json:"architectures"`
	ModelType     string   `json:"model_type"`

	// A multimodal wrapper keeps its language model in one of these.
	TextConfig     json.RawMessage `json:"text_config"`
	LLMConfig      json.RawMessage `json:"llm_config"`
	LanguageConfig json.RawMessage `json:"language_config"`
	VisionConfig   json.RawMessage `json:"vision_config"`
	// One that also speaks keeps both in here.
	Thinker *struct {
		TextConfig   json.RawMessage `json:"text_config"`
		VisionConfig json.RawMessage `json:"vision_config"`
	} `json:"thinker_config"`

	TorchDType   string          `json:"torch_dtype"`
	DType        string          `json:"dtype"`
	Tied         *bool           `json:"tie_word_embeddings"`
	Quantization json.RawMessage `json:"quantization_config"`
	ExpertDType  string          `json:"expert_dtype"`

	// A diffusers folder has these instead of an architecture.
	ClassName string `json:"_class_name"`
	Diffusers string `json:"_diffusers_version"`
}

// name is what a config calls its architecture: the first it lists, or its
// model_type when it lists none.
func (h *header) name() string {
	if len(h.Architectures) > 0 && h.Architectures[0] != "" {
		return h.Architectures[0]
	}
	return h.ModelType
}

// Parse reads a config.json. Quant is the hf_quant_config.json beside it, nil
// when there is none. All problems of the config are reported, one a line.
func Parse(config, quant []byte) (*Model, error) { return ParseAs(config, quant, "") }

// ParseAs reads a config.json in the form of a named family, whatever its
// architecture; "" is the family that has the architecture.
func ParseAs(config, quant []byte, as string) (*Model, error) {
	for _, text := range [][]byte{config, quant} {
		if n := int64(len(text)); n > bound.Config.Bytes() {
			return nil, &bound.TooLargeError{Name: "config.json", Kind: bound.Config, Size: n}
		}
		if err := bound.JSON(text, bound.JSONObjects); err != nil {
			return nil, fmt.Errorf("config.json: %w", err)
		}
	}
	config = plainJSON(config)
	var h header
	if err := json.Unmarshal(config, &h); err != nil {
		return nil, decodeError("config.json", "", err)
	}
	if h.ClassName != "" || h.Diffusers != "" {
		return nil, &PipelineError{"config.json", h.ClassName}
	}
	r, err := newReader(config, h, as)
	if err != nil {
		return nil, err
	}
	var m *Model
	if r.respell() {
		m = r.parse()
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	m.Architecture, m.Family = r.architecture, r.family.Name
	m.Notes = append(m.Notes, r.notes...)
	if err := readQuantization(m, r, quant); err != nil {
		return nil, err
	}
	if n := m.Parameters().Total(); n > maxParameters {
		return nil, fmt.Errorf("config.json: its fields give %.3g parameters, more than any model has", n)
	}
	return m, nil
}

// maxParameters keeps sums exact and catches configs whose fields are each
// plausible but not together.
const maxParameters = 1e15

// reader hands a family's parser its config and collects the problems.
type reader struct {
	family       *family
	style        style // the family's, as its form and the config change it
	architecture string
	outer        header
	config       []byte // the whole file
	text         []byte // the object with the language model's fields
	path         string // where text is: "" or "text_config."
	// said is what the config calls a field that respell renamed.
	said  map[string]string
	notes []string
	errs  []error
}

func newReader(config []byte, h header, as string) (*reader, error) {
	if t := h.Thinker; t != nil {
		h.TextConfig, h.VisionConfig = t.TextConfig, t.VisionConfig
	}
	r := &reader{outer: h, config: config, text: config}
	for _, nested := range []struct {
		name string
		raw  json.RawMessage
	}{
		{"text_config", h.TextConfig},
		{"llm_config", h.LLMConfig},
		{"language_config", h.LanguageConfig},
	} {
		if present(nested.raw) {
			r.text, r.path = nested.raw, nested.name+"."
			break
		}
	}
	if as != "" {
		return r, r.readAs(as)
	}
	f, name := findFamily(h)
	if f == nil {
		f, name = r.innerFamily(name)
	}
	if f == nil {
		return nil, unknownArchitecture(name)
	}
	r.family, r.architecture = f, name
	return r, nil
}

// parse reads the config in the family's form.
func (r *reader) parse() *Model {
	f := r.family
	r.style = f.Style
	if f.Note != "" {
		r.notes = append(r.notes, f.Note)
	}
	if f.Blind {
		r.outer.VisionConfig = nil
	}
	return f.parse(r)
}

// readAs takes the requested family.
func (r *reader) readAs(as string) error {
	f, err := familyNamed(as)
	if err != nil {
		return err
	}
	r.family, r.architecture = f, r.outer.name()
	r.notes = append(r.notes, fmt.Sprintf("%s is read as family %s, as requested; differences from it are not modelled.",
		cmp.Or(r.architecture, "The config"), f.Name))
	return nil
}

// innerFamily reads an unknown wrapper as its language model alone when that is
// known.
func (r *reader) innerFamily(outer string) (*family, string) {
	if r.path == "" {
		return nil, outer
	}
	var inner header
	if json.Unmarshal(r.text, &inner) != nil {
		return nil, outer
	}
	f, _ := findFamily(inner)
	if f != nil {
		r.notes = append(r.notes, fmt.Sprintf(
			"%s is not a known architecture; its language model is modelled as family %s, its other parts are not modelled.",
			quoted(outer), f.Name))
		r.outer.VisionConfig = nil
	}
	return f, outer
}

// decode fills v from the language model's object.
func (r *reader) decode(v any) bool {
	if err := json.Unmarshal(r.text, v); err != nil {
		r.errs = append(r.errs, decodeError("config.json", r.path, err))
		return false
	}
	return true
}

// fill gives fields that the language model's object leaves out their default values.
func (r *reader) fill(defaults map[string]json.RawMessage) bool {
	if len(defaults) == 0 {
		return true
	}
	var stated map[string]json.RawMessage
	if !r.decode(&stated) {
		return false
	}
	for name, value := range defaults {
		if !present(stated[name]) {
			stated[name] = value
		}
	}
	r.text, _ = json.Marshal(stated) // of what was read as JSON
	return true
}

// failed reports whether anything was wrong so far.
func (r *reader) failed() bool { return len(r.errs) > 0 }

// format finds the checkpoint's compute format; inner is the language model's
// own statement, which wins over the wrapper's.
func (r *reader) format(inner ...string) dtype.Format {
	for _, s := range append(inner, r.outer.TorchDType, r.outer.DType) {
		if s == "" || s == "auto" {
			continue
		}
		switch f := torchFormat(s); f {
		case dtype.None:
		case dtype.F32: // vLLM's and SGLang's "auto" do so
			r.notes = append(r.notes, "The checkpoint is stored in float32; engines compute in float16.")
			return dtype.F16
		default:
			return f
		}
		r.errs = append(r.errs, fmt.Errorf("config.json: %sdtype: %s is not a known number format", r.path, quoted(s)))
		return dtype.None
	}
	return dtype.BF16
}

// torchFormat is a number format by PyTorch's name or a short one, None for others.
func torchFormat(s string) dtype.Format {
	return map[string]dtype.Format{
		"bfloat16": dtype.BF16, "bf16": dtype.BF16, "float16": dtype.F16, "fp16": dtype.F16, "half": dtype.F16,
		"float32": dtype.F32, "fp32": dtype.F32, "float": dtype.F32, "float8_e4m3fn": dtype.FP8, "float8_e5m2": dtype.FP8, "fp8": dtype.FP8,
	}[strings.TrimPrefix(s, "torch.")]
}

// present tells an object from an absent or null one.
func present(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}

// decodeError turns a decoder's error into one line that names the field.
func decodeError(file, path string, err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if t.Field == "" {
			return fmt.Errorf("%s: %s: want %s, got %s", file, cmp.Or(strings.TrimSuffix(path, "."), "top level"), typeName(t.Type.Kind().String()), t.Value)
		}
		return fmt.Errorf("%s: %s%s: want %s, got %s", file, path, fieldName(t.Field), typeName(t.Type.Kind().String()), t.Value)
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s: not valid JSON at byte %d: %w", file, s.Offset, err)
	}
	return fmt.Errorf("%s: %w", file, err)
}

// fieldName drops the names of our embedded structs, which start the path.
func fieldName(field string) string {
	for _, own := range []string{"decoder.", "base.", "latent.", "routed.", "selector.", "linear.", "mamba."} {
		field = strings.TrimPrefix(field, own)
	}
	return field
}

func typeName(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"):
		return "an integer"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "slice":
		return "a list"
	case kind == "struct", kind == "map":
		return "an object"
	case kind == "bool":
		return "true or false"
	}
	return "a " + kind
}

// quoted prints a name from a file, cut to a length fit for one line.
func quoted(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return fmt.Sprintf("%q", s)
}
