package model

import (
	"encoding/json"
	"maps"
	"slices"
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
	DType   string `json:"dtype"`      // fp4, fp8_e4m3, int8, int4
	Scheme  string `json:"qscheme"`    // per_group, per_channel, per_tensor
	Group   int    `json:"group_size"` // of per_group
	Dynamic bool   `json:"is_dynamic"`
}

// tensor is the tensor as compressed-tensors notes it.
func (t *quarkTensor) tensor() *quantTensor {
	if t == nil || t.DType == "" {
		return nil
	}
	out := &quantTensor{Type: "int", Dynamic: []byte("false")}
	if strings.HasPrefix(t.DType, "fp") {
		out.Type = "float"
	}
	if t.Dynamic {
		out.Dynamic = []byte("true")
	}
	out.Bits = 8
	if strings.Contains(t.DType, "4") && !strings.Contains(t.DType, "8") {
		out.Bits = 4
	}
	if t.Scheme == "per_group" {
		out.Group = t.Group
	}
	return out
}

// group is the layer's format as compressed-tensors notes it, for modules with these names.
func (l *quarkLayer) group(targets ...string) quantGroup {
	return quantGroup{Targets: targets, Weights: l.Weight.tensor(), Input: l.Input.tensor()}
}

// fromQuark restates Quark's note as one of compressed-tensors. Patterns with the same format are a group, which may then cover most of a part.
func (c *quantConfig) fromQuark() {
	if !strings.EqualFold(c.Method, "quark") {
		return
	}
	c.Groups = map[string]quantGroup{}
	for _, pattern := range slices.Sorted(maps.Keys(c.ByLayer)) {
		layer := c.ByLayer[pattern]
		format, _ := json.Marshal(layer) // plain values
		name := "layers " + string(format)
		c.Groups[name] = layer.group(slices.Concat(c.Groups[name].Targets, []string{pattern})...)
	}
	if c.Global != nil {
		c.Groups["others"] = c.Global.group("Linear") // after "layers": the first that covers a part counts
	}
	c.Ignore = append(c.Ignore, c.Excluded...)
	for _, layer := range c.KV {
		if t := layer.Output.tensor(); t != nil && t.Bits == 8 {
			c.KVAlgo = map[string]string{"float": "FP8", "int": "INT8"}[t.Type]
		}
	}
}
