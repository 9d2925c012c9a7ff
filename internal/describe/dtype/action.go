package dtype

import "slices"

// Action is a quantization action of the Ascend command line
// (--quantize-linear-action).
type Action string

// The actions, in the order of the Ascend guide. Auto is ours: the checkpoint's
// own scheme.
const (
	Auto         Action = "AUTO"
	Disabled     Action = "DISABLED"
	W8A16Static  Action = "W8A16_STATIC"
	W8A8Static   Action = "W8A8_STATIC"
	W4A8Static   Action = "W4A8_STATIC"
	W8A16Dynamic Action = "W8A16_DYNAMIC"
	W8A8Dynamic  Action = "W8A8_DYNAMIC"
	W4A8Dynamic  Action = "W4A8_DYNAMIC"
	FP8Action    Action = "FP8"
	MXFP4Action  Action = "MXFP4"
)

// LinearActions lists what --quantize-linear-action accepts.
func LinearActions() []Action {
	return []Action{
		Auto, Disabled, W8A16Static, W8A8Static, W4A8Static,
		W8A16Dynamic, W8A8Dynamic, W4A8Dynamic, FP8Action, MXFP4Action,
	}
}

// Attention actions: the format of the KV cache and of the attention inputs.
const (
	AttentionInt8 Action = "INT8"
	AttentionFP8  Action = "FP8"
)

// AttentionActions lists what --quantize-attention-action accepts.
func AttentionActions() []Action {
	return []Action{Auto, Disabled, AttentionInt8, AttentionFP8}
}

// Words lists all actions.
func (Action) Words() []string {
	var out []string
	for _, a := range slices.Concat(LinearActions(), AttentionActions()) {
		if !slices.Contains(out, string(a)) {
			out = append(out, string(a))
		}
	}
	return out
}

// Scheme returns the scheme of the action, with unquantized tensors in base.
// mxfp4Group is the number of elements that share one MXFP4 scale.
func (a Action) Scheme(base Format, mxfp4Group int) Scheme {
	s := Scheme{Weight: base, Activation: base, Action: a}
	switch a {
	case W8A16Static, W8A16Dynamic:
		s.Weight = INT8
	case W8A8Static, W8A8Dynamic:
		s.Weight, s.Activation = INT8, INT8
	case W4A8Static, W4A8Dynamic:
		s.Weight, s.Activation = INT4, INT8
	case FP8Action:
		s.Weight, s.Activation = FP8, FP8
	case MXFP4Action:
		s.Weight, s.Activation = FP4, FP4
		s.Group, s.Scale = mxfp4Group, FP8 // e8m0: one byte a scale
	default: // Auto, Disabled: plain tensors
	}
	s.Static = a == W8A16Static || a == W8A8Static || a == W4A8Static
	return s
}
