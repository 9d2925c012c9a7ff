package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// quarkConfig is AMD Quark's dialect of quantization_config (quant_method "quark"): a format for all linear layers, formats for layers by
// patterns of their names, and what is excluded (vLLM's quantization/quark/quark.py, ATOM's config.py).
type quarkConfig struct {
	Global   *quarkLayer           `json:"global_quant_config"`
	ByLayer  map[string]quarkLayer `json:"layer_quant_config"`
	KV       map[string]quarkLayer `json:"kv_cache_quant_config"`
	Excluded []string              `json:"exclude"`
}

// quarkLayer is the format of a layer's tensors; output tensors are those of the KV cache.
type quarkLayer struct {
	Weight *quarkTensor `json:"weight"`
	Input  *quarkTensor `json:"input_tensors"`
	Output *quarkTensor `json:"output_tensors"`
}

type quarkTensor struct {
	DType   string `json:"dtype"`
	Scheme  string `json:"qscheme"`    // per_group, per_channel, per_tensor
	Group   int    `json:"group_size"` // of per_group
	Dynamic bool   `json:"is_dynamic"`
}

// tensor is the tensor as compressed-tensors notes it.
func (t *quarkTensor) tensor() (*quantTensor, error) {
	if t == nil || t.DType == "" {
		return nil, nil //nolint:nilnil // not quantized
	}
	out := &quantTensor{Type: "int", Dynamic: []byte(strconv.FormatBool(t.Dynamic))}
	switch t.DType {
	case "fp4":
		out.Type, out.Bits = "float", 4
	case "fp8_e4m3", "fp8_e5m2":
		out.Type, out.Bits = "float", 8
	case "int4", "uint4":
		out.Bits = 4
	case "int8", "uint8":
		out.Bits = 8
	default:
		return nil, fmt.Errorf("config.json: quantization_config: Quark's dtype %s is not supported; known: fp4, fp8_e4m3, fp8_e5m2, int4, uint4, int8, uint8", quoted(t.DType))
	}
	if t.Scheme == "per_group" {
		out.Group = t.Group
	}
	return out, nil
}

// group is the layer's format as compressed-tensors notes it, for modules with these names.
func (l *quarkLayer) group(targets ...string) (quantGroup, error) {
	weights, err := l.Weight.tensor()
	input, wrong := l.Input.tensor()
	return quantGroup{Targets: targets, Weights: weights, Input: input}, cmp.Or(err, wrong)
}

// fromQuark restates Quark's note as one of compressed-tensors. Patterns with the same format are a group, which may then cover most of a part.
func (c *quantConfig) fromQuark() (err error) {
	if !strings.EqualFold(c.Method, "quark") {
		return nil
	}
	if c.Global == nil && len(c.ByLayer) == 0 {
		return errors.New("config.json: quantization_config: quark needs global_quant_config or layer_quant_config, which say how weights are stored")
	}
	c.Groups = map[string]quantGroup{}
	for _, pattern := range slices.Sorted(maps.Keys(c.ByLayer)) {
		layer := c.ByLayer[pattern]
		format, _ := json.Marshal(layer) // plain values
		name := "layers " + string(format)
		if c.Groups[name], err = layer.group(slices.Concat(c.Groups[name].Targets, []string{pattern})...); err != nil {
			return err
		}
	}
	if c.Global != nil {
		if c.Groups["others"], err = c.Global.group("Linear"); err != nil { // after "layers": the first that covers a part counts
			return err
		}
	}
	c.Ignore = append(c.Ignore, c.Excluded...)
	for _, pattern := range slices.Sorted(maps.Keys(c.KV)) {
		t, err := c.KV[pattern].Output.tensor()
		if err != nil {
			return err
		}
		if t != nil && t.Bits == 8 {
			c.KVAlgo = map[string]string{"float": "FP8", "int": "INT8"}[t.Type]
		}
	}
	return nil
}
