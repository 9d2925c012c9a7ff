package dtype

import "cmp"

// weights are the schemes of weight formats by their names: bf16 for unquantized weights, fp8 for whole
// tensors or blocks of 128×128, and 4 bits with the activations in the name; "wo" is weights
// only. sq is the INT8 of SmoothQuant. A format that is not said is that of unquantized tensors.
//
//nolint:gochecknoglobals // a constant table
var weights = []struct {
	name   string
	scheme Scheme
}{
	{"bf16", Scheme{}},
	{"fp8", Scheme{Weight: FP8, Activation: FP8}},
	{"fp8_static", Scheme{Weight: FP8, Activation: FP8, Static: true}},
	{"fp8_block", Scheme{Weight: FP8, Activation: FP8, Group: 128, Rows: 128, Scale: F32}},
	{"nvfp4", Scheme{Weight: FP4, Activation: FP4, Group: 16, Scale: FP8}},
	{"w4afp8", Scheme{Weight: INT4, Activation: FP8, Group: 128, Scale: BF16}},
	{"w4a16_mxfp4", Scheme{Weight: FP4, Group: 32, Scale: FP8}},
	{"w4a8_mxfp4_mxfp8", Scheme{Weight: FP4, Activation: FP8, Group: 32, Scale: FP8}},
	{"int8_wo", Scheme{Weight: INT8}},
	{"int4_wo", Scheme{Weight: INT4, Group: 128, Scale: BF16}},
	{"sq", Scheme{Weight: INT8, Activation: INT8, Static: true}},
}

// WeightFormats are the names of weight formats.
func WeightFormats() []string {
	var names []string
	for i := range weights {
		names = append(names, weights[i].name)
	}
	return names
}

// Weights is the scheme that a name of [WeightFormats] means, with unquantized tensors in base.
func Weights(name string, base Format) (s Scheme, ok bool) {
	for i := range weights {
		if weights[i].name == name {
			s = weights[i].scheme
			s.Weight, s.Activation = cmp.Or(s.Weight, base), cmp.Or(s.Activation, base)
			return s, true
		}
	}
	return s, false
}
