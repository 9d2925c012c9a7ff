package simulate

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Remembered is a simulation from the memo, with the probability of meeting the request's
// limits, or a new one.
func Remembered(w *session.Session, r *Request, sources *session.Sources, simulate func() (*Response, error)) (*Response, error) {
	if w.Memo == nil || w.Memo.Size < 1 {
		return simulate()
	}
	asked := *r
	asked.Sources = *sources
	if r.Goodput == 0 { // figures do not depend on limits
		asked.Limits = workload.Limits{}
	}
	known, err := session.Recall(w.Memo, "simulations", w.Memo.Size, asked, func() (*Response, error) {
		out, err := simulate()
		if err == nil {
			out.Result.Series, out.Result.Records = nil, nil
		}
		return out, err
	})
	if err != nil {
		return nil, err
	}
	out := *known
	out.Request = *r
	out.present()
	return &out, nil
}
