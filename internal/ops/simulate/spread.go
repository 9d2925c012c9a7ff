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

// spread widens the errors to expect by what settings could change that a preset gave:
// each is simulated at the values that such deployments also have. These are the ends of
// what four in five have, so their effects count like those of an 80 % interval. The
// errors of disaggregated deployments are those of rows that do not give their settings,
// and hold this already.
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
				return err
			}
			if err != nil || again.Result.Finished == 0 {
				continue // nobody runs it so: it does not fit
			}
			for k, x := range changes(out, again) {
				low[k], high[k] = min(low[k], x), max(high[k], x)
			}
		}
		const matters = 0.005 // less is not worth a word
		if slices.Max(high[:])-slices.Min(low[:]) > matters && !slices.Contains(keys, a.Key) {
			keys = append(keys, a.Key)
		}
		for k := range effects {
			sigma := calibration.Sigma(low[k], high[k])
			effects[k] += sigma * sigma
		}
	}
	if len(keys) > 0 {
		out.Expected.Wider(math.Sqrt(effects[0]), math.Sqrt(effects[1]), math.Sqrt(effects[2]),
			"deployments like the preset's differ in "+strings.Join(keys, ", "))
		out.Chance = out.Expected.Chance(out.Result.TTFT.Mean, out.Result.TPOT.Mean, r.Limits)
	}
	return nil
}

// having is the request with another value of a setting that was assumed.
func (r *Request) having(a *deployment.Assumption, value string) *Request {
	out := *r
	out.Records = false
	out.Deployment.Pools = slices.Clone(r.Deployment.Pools)
	for i := range out.Deployment.Pools {
		if p := &out.Deployment.Pools[i]; p.Role == a.Role {
			p.Settings = slices.Concat(p.Settings, []string{a.Key + "=" + value})
		}
	}
	return &out
}

// changes are the logarithms of how many times as large TTFT, TPOT and throughput are.
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
