package deployment

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Acceptance are the shares of steps in which each of n drafted tokens is kept where nobody says: on
// Ascend's devices those of its tools, elsewhere what is published for real text. It is the
// only default.
func Acceptance(m *model.Model, d *device.Profile, by draft.Method, n int) []float64 {
	if d.FollowsAscend() {
		return UsualAcceptance(n)
	}
	a := draft.Of(m, by, draft.Real)
	return a.Rates(n)
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
