package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Scales of the residuals: errors of this size count as one; beyond, the loss
// grows linearly.
const (
	ttftScale = 0.12
	tpotScale = 0.08
	// ttftWeight is that of TTFT where it was measured in aggregated deployments or derived from
	// other measurements (half of the latter are within 8 %, a tenth beyond 30 %). Where prompts
	// have workers of their own it says all there is about them.
	ttftWeight = 0.8
)

// Work is how rows are simulated.
type Work struct {
	Iterations, Workers int
	// Progress, if not nil, is called when a task begins, and after each of its rows.
	Progress func(task string, done, of int)
}

func (w *Work) tell(task string, done, of int) {
	if w.Progress != nil {
		w.Progress(task, done, of)
	}
}

// Linear is the residuals of a row near some parameters: two, of TTFT and TPOT,
// in units of their scales, and what each parameter changes in them.
type Linear struct {
	At       calibration.Logs
	Residual [2]float64
	Slope    [calibration.Parameters][2]float64
	Known    [2]bool // measured, and the row could be predicted
}

// mostInFlight is the concurrency above which rows are predicted but not fitted: there are
// few, and they would take most of the time.
const mostInFlight = 1024

// slopeStep is wide because a simulation is only piecewise smooth.
const slopeStep = 0.15

// Linearize simulates rows at and around their parameters, in an iteration.
func (w *Work) Linearize(ctx context.Context, rows []measured.Prepared, o *calibration.Overlay, iteration int) ([]Linear, error) {
	task := fmt.Sprintf("fitting, iteration %d of %d", iteration+1, w.Iterations)
	w.tell(task, 0, 0)
	var done atomic.Int64
	out := make([]Linear, len(rows))
	err := pool.Each(ctx, len(rows), w.Workers, func(i int) {
		defer func() { w.tell(task, int(done.Add(1)), len(rows)) }()
		r, l := &rows[i], &out[i]
		l.At = o.Sum(r.Subject)
		if r.Row.Concurrency > mostInFlight {
			return
		}
		if l.Residual, l.Known = residuals(ctx, r, l.At); !l.Known[0] && !l.Known[1] {
			return
		}
		for k := range calibration.Parameters {
			if parts := calibration.Parts(k); parts != nil { // moves them, and needs no simulation
				for _, p := range parts {
					for j := range l.Slope[k] {
						l.Slope[k][j] += l.Slope[p][j]
					}
				}
				continue
			}
			if !r.Subject.Matters(k) {
				continue
			}
			up, down := l.At, l.At
			up[k] += slopeStep
			down[k] -= slopeStep
			a, okA := residuals(ctx, r, up)
			b, okB := residuals(ctx, r, down)
			for j := range a {
				if okA[j] && okB[j] {
					l.Slope[k][j] = (a[j] - b[j]) / (2 * slopeStep)
				}
			}
		}
	})
	return out, cmp.Or(err, ctx.Err()) // a simulation may have ended early
}

// residuals simulates a row.
func residuals(ctx context.Context, p *measured.Prepared, z calibration.Logs) (out [2]float64, known [2]bool) {
	q := p.Simulate(ctx, z.Multipliers())
	if q.Err != nil {
		return out, known
	}
	add := func(j int, predicted, measured units.Seconds, weight float64) {
		if predicted > 0 && measured > 0 {
			out[j], known[j] = weight*math.Log(float64(predicted/measured)), true
		}
	}
	weight := ttftWeight
	if p.Subject.Disaggregated {
		weight = 1
	}
	if add(0, q.TTFT, p.Row.TTFT, weight/ttftScale); !known[0] {
		add(0, q.TTFTMean, p.Row.TTFTEstimate, ttftWeight/ttftScale)
	}
	add(1, q.TPOT, p.Row.TPOT, 1/tpotScale)
	return out, known
}
