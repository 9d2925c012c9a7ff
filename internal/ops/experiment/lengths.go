package experiment

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// lengths reads the workloads of an experiment, whose lengths are then their means. A
// single one whose requests are all alike is no more than those.
func lengths(w *session.Session, e *Experiment) (*session.Kinds, error) {
	if e.Workloads == nil {
		return nil, nil
	}
	e.Workloads = slices.Clone(e.Workloads)
	k, err := w.Kinds(e.Workloads)
	if err != nil {
		return nil, err
	}
	e.Input, e.Output, e.Prefix = k.Input, k.Output, k.Prefix
	if k.Plain(e.Workloads) {
		e.Workloads, k = nil, nil
	}
	return k, nil
}

// fits reports requests longer than the model's positions.
func fits(m *model.Model, tokens int) error {
	if tokens <= m.Context() {
		return nil
	}
	return fmt.Errorf("the longest requests have %d tokens, more than the %d positions of %s", tokens, m.Context(), m.Name())
}
