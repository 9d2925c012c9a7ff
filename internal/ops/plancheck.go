package ops

import (
	"errors"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// CheckPlan completes a request and reports everything that is wrong with it, with the
// lengths that its workloads come to. It answers nothing.
func (w *World) CheckPlan(r PlanRequest) (complete PlanRequest, about []PlanWorkload, err error) {
	errs := []error{w.completePlan(&r)}
	if r.Model != "" {
		_, err := w.Model(r.Model, "")
		errs = append(errs, err)
	}
	for _, name := range r.Engines {
		_, err := engine.LookupVersion(name, "")
		errs = append(errs, badInput(err))
	}
	if len(r.Workloads) > 0 {
		k, err := w.kinds(r.Workloads)
		if errs = append(errs, err); err == nil {
			about = k.About
		}
	}
	return r, about, errors.Join(errs...)
}

// CompleteOptimize is a request with its defaults filled in, and everything that is wrong
// with it.
func (w *World) CompleteOptimize(r OptimizeRequest) (OptimizeRequest, error) {
	_, _, err := w.asked(&r)
	return r, err
}
