package draft

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

//go:embed drafts.yaml
var file []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"drafts.yaml": file} }

// Method is a way to draft tokens.
type Method string

// The methods.
const (
	MTP    Method = "mtp"    // the model's own modules for multi-token prediction
	EAGLE3 Method = "eagle3" // a head of one layer, published for the model
	NGram  Method = "ngram"  // what followed the last tokens when they came before
)

// Methods lists them.
func Methods() []Method { return []Method{MTP, EAGLE3, NGram} }

// Words lists the ways.
func (Method) Words() []string { return field.Texts(Methods()) }

// Text is what is generated, which decides how often drafts are kept.
type Text string

// The texts.
const (
	Real   Text = "real"   // what people ask and models answer
	Random Text = "random" // answers to random words, as of benchmarks
)

// Acceptance is how often drafts of a method are kept.
type Acceptance struct {
	// Models are families; none is every other model.
	Models []string  `yaml:"models"`
	Method Method    `yaml:"method"`
	Text   Text      `yaml:"text"`
	Kept   []float64 `yaml:"kept"` // share of steps in which the first, second, … draft is kept
	Source string    `yaml:"source"`
}

// Head is a published EAGLE-3 head.
type Head struct {
	Name   string   `yaml:"name"`
	Models []string `yaml:"models"` // that it drafts for
	// Instead says that engines draft with the head, though the checkpoint counts MTP modules.
	Instead bool      `yaml:"instead"`
	Shape   Shape     `yaml:"shape"`
	Kept    []float64 `yaml:"kept"` // of real text
	Source  string    `yaml:"source"`

	model *model.Model
}

// Shape is the sizes of a head.
type Shape struct {
	Hidden  int `yaml:"hidden"`
	Inner   int `yaml:"inner"`
	Heads   int `yaml:"heads"`
	KVHeads int `yaml:"kv_heads"`
	HeadDim int `yaml:"head_dim"`
	Vocab   int `yaml:"vocab"`
}

// Catalog is all that is known of drafts.
type Catalog struct {
	Acceptance []Acceptance `yaml:"acceptance"`
	Heads      []Head       `yaml:"heads"`
}

//nolint:gochecknoglobals // read once, never changed
var catalog = embedded.Once("draft: drafts.yaml", file, read)

// Known returns the catalog, which must not be changed.
func Known() *Catalog { return catalog() }

func read(data []byte) (*Catalog, error) {
	c, err := embedded.YAML[Catalog](data)
	if err != nil {
		return nil, err
	}
	var errs []error
	for i := range c.Acceptance {
		a := &c.Acceptance[i]
		errs = append(errs, check(string(a.Method), a.Kept, a.Source))
		if !slices.Contains(Methods(), a.Method) || a.Text != Real && a.Text != Random {
			errs = append(errs, fmt.Errorf("%s of %s text", a.Method, a.Text))
		}
	}
	for i := range c.Heads {
		h := &c.Heads[i]
		var err error
		h.model, err = h.Shape.parse()
		errs = append(errs, err, check(h.Name, h.Kept, h.Source))
	}
	return &c, errors.Join(errs...)
}

// check reports figures that do not fall with the position, or have no source.
func check(of string, kept []float64, source string) error {
	if len(kept) == 0 || kept[0] >= 1 || kept[len(kept)-1] <= 0 || !slices.IsSortedFunc(kept, func(a, b float64) int { return int(1e6 * (b - a)) }) {
		return fmt.Errorf("%s: kept %v", of, kept)
	}
	if source == "" {
		return fmt.Errorf("%s: no source", of)
	}
	return nil
}

// parse is the head as a model of one layer.
func (s *Shape) parse() (*model.Model, error) {
	return model.Parse(fmt.Appendf(nil, `{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16", "num_hidden_layers": 1,
		"hidden_size": %d, "intermediate_size": %d, "num_attention_heads": %d, "num_key_value_heads": %d, "head_dim": %d, "vocab_size": %d,
		"max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "tie_word_embeddings": false}`, s.Hidden, s.Inner, s.Heads, s.KVHeads, s.HeadDim, s.Vocab), nil)
}

// Model is the head as a model of one layer; always the same one.
func (h *Head) Model() *model.Model { return h.model }

// HeadOf is the EAGLE-3 head of a model, nil if none is known.
func HeadOf(m *model.Model) *Head {
	all := Known().Heads
	i := slices.IndexFunc(all, func(h Head) bool { return slices.Contains(h.Models, m.ID) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Ways are the methods that a model can be drafted for, but n-grams, which depend on the text alone and fit any.
func Ways(m *model.Model) []Method {
	var out []Method
	h := HeadOf(m)
	if m.MTP.Layers > 0 && (h == nil || !h.Instead) {
		out = append(out, MTP)
	}
	if h != nil {
		out = append(out, EAGLE3)
	}
	return out
}

// Of is what is known of a model's drafts: the figures of its head or family, else the usual ones.
func Of(m *model.Model, by Method, t Text) Acceptance {
	if h := HeadOf(m); h != nil && by == EAGLE3 && t == Real {
		return Acceptance{Models: []string{m.ID}, Method: by, Text: t, Kept: h.Kept, Source: h.Source}
	}
	var usual Acceptance
	for _, a := range Known().Acceptance {
		switch {
		case a.Method != by || a.Text != t:
		case slices.Contains(a.Models, m.Family):
			return a
		case len(a.Models) == 0:
			usual = a
		}
	}
	return usual
}

// Rates are the shares of steps in which each of n drafts is kept.
func (a *Acceptance) Rates(n int) []float64 {
	out := slices.Clone(a.Kept[:min(max(0, n), len(a.Kept))])
	for len(out) < n {
		last := a.Kept[len(a.Kept)-1]
		if k := len(a.Kept); k > 1 {
			last /= a.Kept[k-2] // of steps in which those before it are
		}
		out = append(out, out[len(out)-1]*last)
	}
	return out
}
