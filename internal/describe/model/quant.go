package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// quantConfig is the union of the quantization notes that checkpoints carry:
// quantization_config of config.json in its many dialects, and the
// "quantization" object of ModelOpt's hf_quant_config.json.
type quantConfig struct {
	Method     string `json:"quant_method"`      // "fp8", "compressed-tensors", "modelopt", "gptq" …
	Block      []int  `json:"weight_block_size"` // fp8: rows and columns sharing a scale
	Activation string `json:"activation_scheme"` // fp8: "static", "dynamic"
	Bits       int    `json:"bits"`              // gptq, awq
	BitsOld    int    `json:"w_bit"`
	GroupSize  int    `json:"group_size"`
	GroupOld   int    `json:"q_group_size"`
	Load4      bool   `json:"load_in_4bit"` // bitsandbytes
	Load8      bool   `json:"load_in_8bit"`

	Groups map[string]quantGroup `json:"config_groups"` // compressed-tensors

	Algo     string                   `json:"quant_algo"`     // ModelOpt
	MoEAlgo  string                   `json:"moe_quant_algo"` // of the experts, where it differs
	Layers   map[string]quantizedPart `json:"quantized_layers"`
	KVAlgo   string                   `json:"kv_cache_quant_algo"`
	KVScheme json.RawMessage          `json:"kv_cache_scheme"` // "FP8" or an object

	quarkConfig

	// What stays unquantized, under each dialect's name.
	Ignore     []string `json:"ignore"`
	Exclude    []string `json:"exclude_modules"`
	NotConvert []string `json:"modules_to_not_convert"`
}

// quantizedPart is ModelOpt's note on one module.
type quantizedPart struct {
	Algo  string `json:"quant_algo"`
	Group int    `json:"group_size"`
}

// quantGroup is compressed-tensors' note on a set of modules.
type quantGroup struct {
	Targets []string     `json:"targets"`
	Weights *quantTensor `json:"weights"`
	Input   *quantTensor `json:"input_activations"`
}

type quantTensor struct {
	Bits  int    `json:"num_bits"`
	Type  string `json:"type"` // "int", "float"
	Group int    `json:"group_size"`
	Block []int  `json:"block_structure"`
	// true, false, or "local"
	Dynamic json.RawMessage `json:"dynamic"`
}

// quantFile is hf_quant_config.json. Our catalog also keeps a
// quantization_config of its own there, for shapes published in several forms.
type quantFile struct {
	Quantization *quantConfig `json:"quantization"`
	Config       *quantConfig `json:"quantization_config"`
}

// readQuantization fills m.Quant from the config's note and the file beside it.
func readQuantization(m *Model, r *reader, file []byte) error {
	plain := dtype.Unquantized(m.DType)
	m.Quant = Quantization{Attention: plain, Dense: plain, Experts: plain, Shared: plain, Head: plain}
	c, err := mergedQuant(r, file)
	if err != nil || c == nil {
		return err
	}
	names := familyTable().Modules[r.family.Modules]
	q := &quantizer{config: c, model: m, names: &names, plain: plain}
	if err := q.apply(); err != nil {
		return err
	}
	if r.outer.ExpertDType == "fp4" { // DeepSeek-V4: four-bit experts in an fp8 checkpoint
		if _, own := q.stated(expertsPart); !own && c.MoEAlgo == "" {
			if m.Quant.Experts, err = algoScheme("W4A8_MXFP4_FP8", 0, m.DType); err != nil {
				return err
			}
		}
	}
	kv, err := c.cacheFormat()
	m.Quant.KV = kv
	return err
}

// mergedQuant decodes config.json's note and lays the file's over it: where both
// speak, ModelOpt's own file is the newer.
func mergedQuant(r *reader, file []byte) (*quantConfig, error) {
	var c quantConfig
	found := false
	inner := header{}
	if r.path != "" && json.Unmarshal(r.text, &inner) != nil {
		inner.Quantization = nil
	}
	for _, raw := range []json.RawMessage{inner.Quantization, r.outer.Quantization} {
		if !present(raw) {
			continue
		}
		c, found = quantConfig{}, true
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, decodeError("config.json", "quantization_config.", err)
		}
		if err := c.fromQuark(); err != nil {
			return nil, err
		}
	}
	if len(file) == 0 {
		if !found {
			return nil, nil //nolint:nilnil // the checkpoint is not quantized
		}
		return &c, nil
	}
	var f quantFile
	if err := json.Unmarshal(plainJSON(file), &f); err != nil {
		return nil, decodeError("hf_quant_config.json", "", err)
	}
	switch {
	case f.Config != nil:
		return f.Config, nil
	case f.Quantization == nil:
		return nil, errors.New("hf_quant_config.json: quantization: missing")
	}
	c.overlay(f.Quantization)
	return &c, nil
}

// overlay lets the fields that f states win.
func (c *quantConfig) overlay(f *quantConfig) {
	c.Method = cmp.Or(c.Method, "modelopt")
	c.Algo = f.Algo
	c.KVAlgo = cmp.Or(f.KVAlgo, c.KVAlgo)
	if f.GroupSize > 0 {
		c.GroupSize = f.GroupSize
	}
	if f.Layers != nil {
		c.Layers = f.Layers
	}
	if f.Exclude != nil {
		c.Exclude, c.Ignore = f.Exclude, nil
	}
}

// cacheFormat is the KV cache's format, None where it follows the model's.
func (c *quantConfig) cacheFormat() (dtype.Format, error) {
	algo := c.KVAlgo
	if algo == "" && present(c.KVScheme) {
		var name string
		var t quantTensor
		switch {
		case json.Unmarshal(c.KVScheme, &name) == nil:
			algo = name
		case json.Unmarshal(c.KVScheme, &t) == nil && t.Bits == 8:
			algo = strings.ToUpper(map[string]string{"float": "fp8", "int": "int8"}[t.Type])
		}
	}
	switch strings.ToUpper(algo) {
	case "", "NONE":
		return dtype.None, nil
	case "FP8", "STATIC": // "static" in the fp8 dialect of AutoFP8 and Quark
		return dtype.FP8, nil
	case "INT8":
		return dtype.INT8, nil
	case "NVFP4", "FP4":
		return dtype.FP4, nil
	}
	return dtype.None, fmt.Errorf("quantization: kv_cache_quant_algo: %s is not supported; known: FP8, INT8, NVFP4", quoted(algo))
}

// excluded lists the patterns of what stays unquantized.
func (c *quantConfig) excluded() []string {
	return slices.Concat(c.Ignore, c.Exclude, c.NotConvert)
}
