package dtype

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Scheme is the quantization of a linear layer: the stored weights, the inputs of
// the matrix unit, and the scales of the weights.
type Scheme struct {
	Weight     Format // storage of the weights
	Activation Format // activations fed to the matrix unit
	// Group is the number of weights along the reduction axis that share one
	// scale; 0 means one scale per tensor or channel, which we do not count.
	Group int
	// Rows is the number of output rows that share a scale block (128 for
	// DeepSeek's 128×128 blocks); 0 or 1 means each row has its own.
	Rows int
	// Scale is the format of one scale.
	Scale Format
	// Static marks activation scales fixed at conversion time.
	Static bool
	// Action is the Ascend action this scheme came from, "" for a checkpoint's
	// own scheme. It is kept for display and for the policy that repeats
	// TensorCast's treatment of each action.
	Action Action
}

// Unquantized returns the scheme of plain weights in one format.
func Unquantized(f Format) Scheme { return Scheme{Weight: f, Activation: f} }

// Quantized reports whether weights are stored narrower than they are used
// unquantized, that is in eight bits or fewer.
func (s Scheme) Quantized() bool { return s.Weight >= FP8 }

// WeightOnly reports whether weights are narrow while activations stay wide.
func (s Scheme) WeightOnly() bool { return s.Quantized() && s.Activation < FP8 }

// MXFP8 reports weights in 8 bits with a scale for every 32 of a row.
func (s Scheme) MXFP8() bool { return s.Weight == FP8 && s.Group == 32 && s.Rows <= 1 }

// MXFP4 reports weights in 4 bits with a scale for every 32 of a row.
func (s Scheme) MXFP4() bool { return s.Weight == FP4 && s.Group == 32 }

// WeightBytes is the storage of a rows × depth weight with its scales.
func (s Scheme) WeightBytes(rows, depth float64) units.Bytes {
	b := s.Weight.Bytes(rows * depth)
	if s.Group > 0 && s.Scale != None {
		r := rows
		if s.Rows > 1 {
			r = rows / float64(s.Rows)
		}
		b += s.Scale.Bytes(r * depth / float64(s.Group))
	}
	return b
}

// Name is the scheme's short name as shown to people: "bf16", "w8a8 int8",
// "fp8 block 128", "nvfp4", "mxfp4", "w4a16 g128".
func (s Scheme) Name() string {
	switch {
	case !s.Quantized():
		return s.Weight.String()
	case s.Weight == FP8:
		return s.fp8Name()
	case s.Weight == FP4 && s.Group == 16:
		return suffixWeightOnly("nvfp4", s)
	case s.Weight == FP4:
		return suffixWeightOnly("mxfp4", s)
	case s.Weight == INT4 && s.Activation == INT8:
		return "w4a8 int4"
	case s.Weight == INT4 && s.Activation == FP8:
		return "w4a8 int4 fp8"
	case s.Weight == INT4:
		return "w4a16 int4"
	case s.WeightOnly():
		return "w8a16 int8"
	default:
		return "w8a8 int8"
	}
}

func (s Scheme) fp8Name() string {
	switch {
	case s.WeightOnly():
		return "w8a16 fp8"
	case s.Group > 0:
		return "fp8 block"
	}
	return "fp8"
}

func suffixWeightOnly(name string, s Scheme) string {
	if s.WeightOnly() {
		return name + " w4a16"
	}
	return name
}
