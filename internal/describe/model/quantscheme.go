package model

import (
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// algoScheme is the scheme of a ModelOpt algorithm; base is the format of what
// is not quantized, group the stated group size of four-bit formats or 0.
func algoScheme(algo string, group int, base dtype.Format) (dtype.Scheme, error) {
	nv, mx, integer := group, group, group
	if group <= 0 {
		nv, mx, integer = 16, 32, 128
	}
	channels := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8}
	tensor, micro := channels, channels
	tensor.Static = true
	micro.Group, micro.Scale = 32, dtype.FP8
	smooth, integers := dtype.Scheme{Weight: dtype.INT8, Activation: dtype.INT8}, dtype.Scheme{Weight: dtype.INT8, Activation: base}
	int4 := dtype.Scheme{Weight: dtype.INT4, Activation: base, Group: integer, Scale: base}
	int4FP8 := int4
	int4FP8.Activation = dtype.FP8
	s, ok := map[string]dtype.Scheme{
		"FP8": tensor, "FP8_STATIC": tensor, "FP8_PER_TENSOR": tensor, "FP8_PER_CHANNEL_PER_TOKEN": channels, "FP8_PER_CHANNEL": channels,
		"FP8_PB_WO": fp8Block(128, 128), "FP8_BLOCK_SCALES": fp8Block(128, 128), "FP8_PB_REAL": fp8Block(128, 128), "MXFP8": micro,
		"W8A16": integers, "INT8_WO": integers, "W8A8_SQ": smooth, "INT8_SQ": smooth, "W8A8_SQ_PER_CHANNEL": smooth,
		"NVFP4": fp4(nv, dtype.FP4), "NVFP4_AWQ": fp4(nv, dtype.FP4), "W4A16_NVFP4": fp4(nv, base), "W4A8_NVFP4_FP8": fp4(nv, dtype.FP8),
		"MXFP4": fp4(mx, base), "W4A16_MXFP4": fp4(mx, base), "W4A8_MXFP4_FP8": fp4(mx, dtype.FP8), "W4A8_MXFP4_MXFP8": fp4(mx, dtype.FP8),
		"W4A8_AWQ": int4FP8, "W4A16": int4, "W4A16_AWQ": int4, "INT4_AWQ": int4, "W4A16_GPTQ": int4,
	}[strings.ToUpper(algo)]
	if !ok {
		return s, fmt.Errorf("quantization: quant_algo: %s is not supported; known: FP8, MXFP8, NVFP4, MXFP4, W4A8_AWQ, W4A16_AWQ, W8A8_SQ, MIXED_PRECISION", quoted(algo))
	}
	return s, nil
}

func fp4(group int, activation dtype.Format) dtype.Scheme {
	return dtype.Scheme{Weight: dtype.FP4, Activation: activation, Group: group, Scale: dtype.FP8}
}

func fp8Block(rows, columns int) dtype.Scheme {
	return dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Group: columns, Rows: rows, Scale: dtype.F32}
}

// methodScheme is the scheme of the dialects that quantize all linear layers
// alike.
func (c *quantConfig) methodScheme(base dtype.Format) (dtype.Scheme, error) {
	group := max(c.GroupSize, c.GroupOld, 0)
	switch strings.ToLower(c.Method) {
	case "fp8", "fbgemm_fp8":
		if len(c.Block) == 2 && c.Block[0] > 0 && c.Block[1] > 0 {
			return fp8Block(c.Block[0], c.Block[1]), nil
		}
		return dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Static: c.Activation == "static"}, nil
	case "mxfp4":
		return fp4(32, base), nil
	case "awq", "gptq", "gptq_marlin", "awq_marlin":
		s := dtype.Scheme{Weight: dtype.INT4, Activation: base, Group: group, Scale: base}
		switch bits := max(c.Bits, c.BitsOld); bits {
		case 4, 0:
		case 8:
			s.Weight = dtype.INT8
		default:
			return s, fmt.Errorf("config.json: quantization_config.bits: %d is not supported; known: 4, 8", bits)
		}
		return s, nil
	case "bitsandbytes":
		if c.Load8 && !c.Load4 {
			return dtype.Scheme{Weight: dtype.INT8, Activation: dtype.INT8}, nil
		}
		return dtype.Scheme{Weight: dtype.INT4, Activation: base, Group: 64, Scale: dtype.F32}, nil
	}
	return dtype.Scheme{}, fmt.Errorf("config.json: quantization_config.quant_method: %s is not supported; known: fp8, fbgemm_fp8, mxfp4, awq, gptq, bitsandbytes, compressed-tensors, modelopt, quark", quoted(c.Method))
}

// scheme is what a compressed-tensors group asks for.
func (g quantGroup) scheme(base dtype.Format) (dtype.Scheme, error) {
	w := g.Weights
	if w == nil {
		return dtype.Unquantized(base), nil
	}
	s := dtype.Scheme{Activation: base, Group: max(w.Group, 0)}
	s.Weight = tensorFormat(w)
	switch {
	case s.Weight == dtype.None:
		return s, fmt.Errorf("config.json: quantization_config.config_groups: %d-bit %s weights are not supported; known: 4 or 8 bits, int or float", w.Bits, quoted(w.Type))
	case s.Weight == dtype.FP4:
		s.Scale = dtype.FP8
	case len(w.Block) == 2 && w.Block[0] > 0 && w.Block[1] > 0:
		s.Rows, s.Group, s.Scale = w.Block[0], w.Block[1], dtype.F32
	case s.Group > 0:
		s.Scale = base
	}
	if g.Input != nil {
		if f := tensorFormat(g.Input); f != dtype.None {
			s.Activation = f
		}
		s.Static = string(g.Input.Dynamic) == "false" && s.Weight != dtype.FP4
	}
	return s, nil
}

func tensorFormat(t *quantTensor) dtype.Format {
	switch {
	case t.Bits == 8 && t.Type == "float":
		return dtype.FP8
	case t.Bits == 4 && t.Type == "float":
		return dtype.FP4
	case t.Bits == 8:
		return dtype.INT8
	case t.Bits == 4:
		return dtype.INT4
	}
	return dtype.None
}
