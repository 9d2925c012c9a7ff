package simulate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// spread widens the expected errors by the effect of settings taken from a preset: each is
// simulated at the other values in the preset's sources. These are the ends of the range of
// four in five deployments, so their effects count like those of an 80 % interval. The errors
// of disaggregated deployments come from rows without settings and include this already.
func spread(ctx context.Context, w *session.Session, s *session.Stage, r *Request, out *Response) error {
	if r.Deployment.Disaggregated() {
		return nil
	}
	quiet := *w
	quiet.Progress = nil
	var effects [3]float64 // variances of the logarithms of TTFT, TPOT and throughput
	var keys []string
	for i := range out.Assumed {
		a := &out.Assumed[i]
		var low, high [3]float64
		for _, value := range a.Others {
			w.Tell(session.Progress{Task: fmt.Sprintf("testing %s=%s", a.Key, value), Done: i, Of: len(out.Assumed), What: "settings"})
			again, err := On(ctx, &quiet, s, r.having(a, value))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil || again.Result.Finished == 0 {
				continue // does not fit
			}
			for k, x := range changes(out, again) {
				low[k], high[k] = min(low[k], x), max(high[k], x)
			}
		}
		const matters = 0.005 // smaller effects are not reported
		if slices.Max(high[:])-slices.Min(low[:]) > matters && !slices.Contains(keys, a.Key) {
			keys = append(keys, a.Key)
		}
		for k := range effects {
			sigma := calibration.Sigma(low[k], high[k])
			effects[k] += sigma * sigma
		}
	}
	if len(keys) > 0 {
		for _, e := range []*calibration.Expected{&out.Expected, &out.Means} {
			e.Wider(math.Sqrt(effects[0]), math.Sqrt(effects[1]), math.Sqrt(effects[2]), "the preset's sources vary in "+strings.Join(keys, ", "))
		}
		out.present()
	}
	return nil
}

// having is the request with another value of an assumed setting.
func (r *Request) having(a *deployment.Assumption, value string) *Request {
	out := *r
	out.Records, out.Timeline = false, false
	out.Deployment.Pools = slices.Clone(r.Deployment.Pools)
	for i := range out.Deployment.Pools {
		if p := &out.Deployment.Pools[i]; p.Role == a.Role {
			p.Settings = slices.Concat(p.Settings, []string{a.Key + "=" + value})
		}
	}
	return &out
}

// changes are the logarithms of the ratios of TTFT, TPOT and throughput.
func changes(from, to *Response) [3]float64 {
	ratio := func(a, b float64) float64 {
		if a <= 0 || b <= 0 {
			return 0
		}
		return math.Log(b / a)
	}
	a, b := &from.Result, &to.Result
	return [3]float64{
		ratio(float64(a.TTFT.Mean), float64(b.TTFT.Mean)), ratio(float64(a.TPOT.Mean), float64(b.TPOT.Mean)), ratio(a.OutputRate, b.OutputRate),
	}
}
