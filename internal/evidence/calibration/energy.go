package calibration

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// PowerKind names what decides which kernels run, and so what they draw: the engine, the
// device generation, the class of model, the number format of most weights, and whether
// prefill and decode are apart.
func (s *Subject) PowerKind() string {
	words := []string{s.Engine, s.Generation, string(s.Class), s.Weights}
	if s.Disaggregated {
		words = append(words, disaggregated)
	}
	return strings.Join(words, separator)
}

// PowerFactor is what the kernels of the subject draw above idle, over what is usual.
func (s *Subject) PowerFactor() float64 {
	f, _ := power.Shipped().Factor(s.PowerKind())
	return f
}

// unmeasuredPower is the standard deviation that is added where no row is from the
// device's generation: a judgement, about what generations with rows differ in.
const unmeasuredPower = 0.25

// ExpectJoules is the error to expect of joules per output token, as the tier of the
// device's power constants has it.
func ExpectJoules(s *Subject, tier device.Tier) Error {
	f := power.Shipped()
	_, known := f.Factor(s.PowerKind())
	switch {
	case known:
		return Error{f.Known[0], f.Known[1]}
	case tier == device.Calibrated:
		return Error{f.Unseen[0], f.Unseen[1]}
	}
	return Error{f.Unseen[0], f.Unseen[1]}.widen(unmeasuredPower)
}
