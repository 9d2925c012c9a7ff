package nvidia

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// precision is the requested formats, as in [deployment.Formats]; "" is not set.
type precision struct{ gemm, moe, kv string }

// Modes are formats in the tool's words: "fp8_block", "float16", "w4afp8". "" leaves one
// to the model's name, and "checkpoint" to its checkpoint.
type Modes struct{ GEMM, MoE, KVCache string }

// read finds what the words mean.
func (m Modes) read() (precision, error) {
	var errs []error
	for _, x := range []struct {
		key     field.Name
		word    string
		allowed []string
	}{
		{"gemm_quant_mode", m.GEMM, weightWords()}, {"moe_quant_mode", m.MoE, weightWords()}, {"kvcache_quant_mode", m.KVCache, cacheWords()},
	} {
		if x.word != "" {
			errs = append(errs, field.OneOf(x.key, x.word, x.allowed...))
		}
	}
	return precision{plain(m.GEMM), plain(m.MoE), plainCache(m.KVCache)}, errors.Join(errs...)
}

// Formats are the formats that a model's name and modes select on a device, with notes on
// the meaning of the name.
func Formats(name, system string, m Modes) (deployment.Formats, []string, error) {
	asked, err := m.read()
	var errs []error
	f := &finisher{
		block: &block{mode: experiment.Aggregated, Flags: Flags{Model: name, System: system}},
		complain: func(key, format string, args ...any) {
			errs = append(errs, field.Errorf("%s: "+format, append([]any{flagFor(key)}, args...)...))
		},
	}
	f.workers[0].precision = asked
	f.facts = listed(name)
	f.places()
	f.precisions()
	return f.workers[0].precision.formats(), f.notes, errors.Join(append(errs, err)...)
}

// listed is a model of the catalog, nil for any other name: directories and caches are opened when the experiment is run.
func listed(name string) *model.Model {
	m, err := model.Source{}.Open(name)
	if err != nil {
		return nil
	}
	return m
}

// checkpoint names the checkpoint's own format. The tool has no such name: it is the default,
// except for old names, which follow a rule.
const checkpoint = "checkpoint"

// wide are the words for 16 bits: both generations have one, and users mix them.
func wide() []string { return []string{"bfloat16", "float16", "bf16", "fp16", "half"} }

// weightWords are the words for formats of weights.
func weightWords() []string {
	return slices.Concat(wide(), dtype.WeightFormats()[1:], []string{"int4", "int8", checkpoint})
}

// cacheWords are those for formats of the KV cache.
func cacheWords() []string { return slices.Concat(wide(), []string{"fp8", "int8", checkpoint}) }

// plain is a word as [deployment.Formats] has it.
func plain(word string) string {
	switch {
	case slices.Contains(wide(), word):
		return "bf16"
	case word == "int4", word == "int8":
		return word + "_wo"
	}
	return word
}

// plainCache is the same for the cache, whose int8 is a format of its own.
func plainCache(word string) string {
	if word == "int8" {
		return word
	}
	return plain(word)
}

// over is p with unset fields from q.
func (p precision) over(q precision) precision {
	return precision{cmp.Or(p.gemm, q.gemm), cmp.Or(p.moe, q.moe), cmp.Or(p.kv, q.kv)}
}

// formats is the precision in a deployment's form.
func (p precision) formats() deployment.Formats {
	own := func(word string) string {
		if word == checkpoint {
			return ""
		}
		return word
	}
	return deployment.Formats{GEMM: own(p.gemm), MoE: own(p.moe), KV: own(p.kv)}
}

// String says the precision as a note does.
func (p precision) String() string {
	if p.gemm == p.moe {
		return fmt.Sprintf("weights in %s, KV cache in %s", p.gemm, p.kv)
	}
	return fmt.Sprintf("linear layers in %s, experts in %s, KV cache in %s", p.gemm, p.moe, p.kv)
}

// profiles are presets of precision, by the names of both generations.
func profiles() map[string]precision {
	fp8 := precision{"fp8", "fp8", "fp8"}
	wide := precision{"bf16", "bf16", "bf16"}
	nvfp4 := precision{"nvfp4", "nvfp4", "fp8"}
	return map[string]precision{
		"fp8_default": fp8, "fp8": fp8, "fp8_static": {"fp8_static", "fp8", "fp8"},
		"float16_default": wide, "float16": wide, "bfloat16_default": wide, "bfloat16": wide,
		"nvfp4_default": nvfp4, "nvfp4": nvfp4, "mxfp4": {gemm: "bf16", moe: "w4a16_mxfp4"},
	}
}

// isOldName reports whether a name is one of the old generation, which carries no
// precision.
func isOldName(name string) bool { return model.NamedBy(name) != "" }

// byDevice is the precision that the old generation chose for its names: the
// narrowest that the GPU computes, in blocks for models published so. A name of a
// model that has one checkpoint only (gpt-oss) keeps it.
func byDevice(name string, m *model.Model, d *device.Profile) precision {
	switch {
	case m == nil || d == nil || !isOldName(name) || m.Quant.Method == "mxfp4":
		return precision{}
	case d.Matrix[dtype.FP4] > 0 && d.Vendor == device.NVIDIA:
		return precision{"nvfp4", "nvfp4", "fp8"}
	case d.Matrix[dtype.FP8] > 0 && perTensor(name):
		return precision{"fp8", "fp8", "fp8"}
	case d.Matrix[dtype.FP8] > 0:
		return precision{"fp8_block", "fp8_block", "fp8"}
	}
	return precision{"bf16", "bf16", "bf16"}
}

// perTensor reports whether a model was published in FP8 with one scale a tensor.
func perTensor(name string) bool {
	return slices.ContainsFunc([]string{"LLAMA", "QWEN2", "MOE_MIXTRAL"}, func(prefix string) bool {
		return strings.HasPrefix(strings.ToUpper(name), prefix)
	})
}

// cacheNote says that the tool would have assumed another cache. It takes the cache of
// any narrow checkpoint for fp8; engines do so only where the checkpoint asks for it.
func cacheNote(m *model.Model, asked string) string {
	if m == nil || asked != "" || m.Quant.KV == dtype.FP8 {
		return ""
	}
	narrow := false
	for _, s := range []dtype.Scheme{m.Quant.Attention, m.Quant.Dense, m.Quant.Experts} {
		narrow = narrow || s.Weight == dtype.FP8 || s.Weight == dtype.FP4 && m.Quant.Method != "mxfp4"
	}
	if !narrow {
		return ""
	}
	return fmt.Sprintf("%s keeps its KV cache in %s, as engines do; AIConfigurator assumes fp8; kvcache_quant_mode fp8 asks for it", m.Name(), m.DType)
}
