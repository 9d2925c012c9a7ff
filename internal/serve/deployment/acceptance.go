package deployment

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Acceptance are the chances that each of n drafted tokens is kept where nobody says: on
// Ascend's devices those of its tools, elsewhere what measured deployments show. It is the
// only default.
func Acceptance(m *model.Model, d *device.Profile, n int) []float64 {
	if d.FollowsAscend() {
		return UsualAcceptance(n)
	}
	return MeasuredAcceptance(m, n)
}

// UsualAcceptance are the default acceptance rates of n draft tokens on Ascend devices: those
// of the Ascend tools, and half of the last for every further token.
func UsualAcceptance(n int) []float64 {
	usual := []float64{0.9, 0.6, 0.4, 0.2}
	for len(usual) < n {
		usual = append(usual, usual[len(usual)-1]/2)
	}
	return usual[:max(0, n)]
}

// MeasuredAcceptance are the default acceptance rates of a model on other devices: each token
// is accepted with the same probability if those before it were. The probabilities explain
// the median TPOT of rows that draft tokens in InferenceX's database of 20 July 2026 (652 rows
// of four models, random prompts); other models use their median. Acceptance is higher for
// prompts that are not random words.
func MeasuredAcceptance(m *model.Model, n int) []float64 {
	chance := 0.7
	switch m.Family {
	case "deepseek_v3":
		chance = 0.65
	case "minimax_m3":
		chance = 0.75
	case "qwen3_5", "qwen3_5_moe":
		chance = 0.77
	}
	out, kept := make([]float64, max(0, n)), 1.0
	for i := range out {
		kept *= chance
		out[i] = kept
	}
	return out
}
