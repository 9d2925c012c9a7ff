package model

import (
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// algoScheme is the scheme of a ModelOpt algorithm; base is the format of what
// is not quantized, group the stated group size or 0.
func algoScheme(algo string, group int, base dtype.Format) (dtype.Scheme, error) {
	name := strings.ToUpper(algo)
	for _, of := range []func(string, int, dtype.Format) (dtype.Scheme, bool){eightBit, floatFour, integerFour} {
		if s, ok := of(name, group, base); ok {
			return s, nil
		}
	}
	return dtype.Scheme{}, fmt.Errorf("quantization: quant_algo: %s is not supported; known: FP8, MXFP8, NVFP4, MXFP4, W4A8_AWQ, W4A16_AWQ, W8A8_SQ, MIXED_PRECISION", quoted(algo))
}

func eightBit(algo string, _ int, base dtype.Format) (dtype.Scheme, bool) {
	fp8 := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8}
	switch algo {
	case "FP8", "FP8_STATIC", "FP8_PER_TENSOR":
		fp8.Static = true
		return fp8, true
	case "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PER_CHANNEL":
		return fp8, true
	case "FP8_PB_WO", "FP8_BLOCK_SCALES", "FP8_PB_REAL":
		return fp8Block(128, 128), true
	case "MXFP8":
		fp8.Group, fp8.Scale = 32, dtype.FP8
		return fp8, true
	case "W8A16", "INT8_WO":
		return dtype.Scheme{Weight: dtype.INT8, Activation: base}, true
	case "W8A8_SQ", "INT8_SQ", "W8A8_SQ_PER_CHANNEL":
		return dtype.Scheme{Weight: dtype.INT8, Activation: dtype.INT8}, true
	}
	return dtype.Scheme{}, false
}

func floatFour(algo string, group int, base dtype.Format) (dtype.Scheme, bool) {
	nv, mx := group, group
	if group <= 0 {
		nv, mx = 16, 32
	}
	switch algo {
	case "NVFP4", "NVFP4_AWQ":
		return fp4(nv, dtype.FP4), true
	case "W4A16_NVFP4":
		return fp4(nv, base), true
	case "W4A8_NVFP4_FP8":
		return fp4(nv, dtype.FP8), true
	case "MXFP4", "W4A16_MXFP4":
		return fp4(mx, base), true
	case "W4A8_MXFP4_FP8", "W4A8_MXFP4_MXFP8":
		return fp4(mx, dtype.FP8), true
	}
	return dtype.Scheme{}, false
}

func integerFour(algo string, group int, base dtype.Format) (dtype.Scheme, bool) {
	if group <= 0 {
		group = 128
	}
	switch algo {
	case "W4A8_AWQ":
		return dtype.Scheme{Weight: dtype.INT4, Activation: dtype.FP8, Group: group, Scale: base}, true
	case "W4A16", "W4A16_AWQ", "INT4_AWQ", "W4A16_GPTQ":
		return dtype.Scheme{Weight: dtype.INT4, Activation: base, Group: group, Scale: base}, true
	}
	return dtype.Scheme{}, false
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
