package ops

import "github.com/plimsoll-project/plimsoll/internal/describe/model"

// onLength are the notes on requests longer than the model was trained on.
func (r *OptimizeRequest) onLength(m *model.Model) []string {
	if r.Distribution != nil {
		return onLength(m, longest(r.Distribution)+r.Output)
	}
	return onLength(m, r.Input+r.Output+r.imageTokens(m))
}

func (r *OptimizeRequest) imageTokens(m *model.Model) int {
	return imageTokens(m, r.ImageBatch, r.ImageHeight, r.ImageWidth)
}

func (r *OptimizeRequest) checkPositions(m *model.Model) error {
	if r.Distribution != nil {
		return nil
	}
	return within(m, span{inputLength, r.Input}, span{outputLength, r.Output}, r.imageTokens(m))
}
