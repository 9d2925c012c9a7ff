package ops

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// prepared is the workers of an experiment with their bounds.
type prepared struct {
	units           search.Units
	prefill, decode []parallel.Layout
	rejected        []string
}

// maxPrepared bounds the workers that are remembered: some ten kilobytes each.
const maxPrepared = 512

// forget drops the step models of workers, which are large; bounded workers need them no
// more.
func forget(workers []search.Worker) {
	for i := range workers {
		workers[i].Pool.Stepper = nil
	}
}

// recalled is the workers of an experiment, from memory or made. A nil Memo makes them.
func (x *experiment) recalled(m *session.Memo, find func() (*search.Units, error)) (*search.Units, error) {
	if m == nil || x.r.PerfData.Dir != "" {
		return find()
	}
	e := *x.e
	e.Name, e.Limits, e.Percentile, e.Confidence = "", workload.Limits{}, 0, 0
	known, err := session.Recall(m, "workers", maxPrepared, []any{e, x.r.Sources}, func() (*prepared, error) {
		s, err := find()
		if err != nil {
			return nil, err
		}
		s.Prepare()
		forget(s.Prefill)
		forget(s.Decode)
		return &prepared{s.Clone(), slices.Clip(x.prefill), slices.Clip(x.decode), slices.Clip(x.out.Rejected)}, nil
	})
	if err != nil {
		return nil, err
	}
	x.prefill, x.decode, x.out.Rejected = known.prefill, known.decode, known.rejected
	s := known.units.Clone()
	return &s, nil
}
