package measured

import (
	"context"
	"errors"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Formulas predicts an aggregated row as throughput-optimizer does: by closed
// formulas over single steps, without an engine.
func (p *Predictor) Formulas(ctx context.Context, row *Row, a formulas.Accounting) Prediction {
	d, err := p.device(row.System)
	if err != nil {
		return Prediction{Err: err}
	}
	m, err := p.model(row.Model)
	if err != nil {
		return Prediction{Err: err}
	}
	asked := row.Deployment()
	resolved, err := asked.Resolve(deployment.Parts{Model: m, Device: d})
	if err != nil {
		return Prediction{Err: err}
	}
	spec, prices := resolved.Generates().Spec, p.Prices(d)
	about := caseOf(m, row, &row.Workers, d, prices)
	about.Subject = calibration.SubjectOf(&spec, "", d)
	about.Method, about.Steady = calibration.Formulas, a == formulas.Steady
	mean := func(tokens int) int { return int(math.Round(float64(tokens) * (1 + row.LengthLow) / 2)) }
	batch := max(1, spec.Layout.PerRank(row.Concurrency))
	problem := ascend.Formulas{
		Mode: search.Aggregated, Spec: spec, Coster: prices, Memory: d.Memory,
		Load:  formulas.Load{Input: mean(row.Input), Output: mean(row.Output), Budget: row.TokenBudget, Accounting: a},
		Range: search.Range{Min: batch, Max: batch, Given: true},
	}
	if row.TokenBudget == 0 {
		problem.Load.Budget = formulaBudget
	}
	r := problem.Evaluate(ctx, search.Candidate{Layout: spec.Layout}, math.Inf(-1))
	if !r.OK {
		return Prediction{Err: errors.New(r.Reason)}
	}
	return Prediction{TTFT: r.Best.TTFT, TPOT: r.Best.TPOT, Throughput: r.Best.Throughput, Case: about}
}

// formulaBudget is the default of throughput-optimizer's --max-batched-tokens.
const formulaBudget = 8192

// AllFormulas predicts rows so, in their order. Once ctx has ended predictions have its error.
func (p *Predictor) AllFormulas(ctx context.Context, rows []Row, a formulas.Accounting) []Compared {
	out := make([]Compared, len(rows))
	for i := range rows {
		if ctx.Err() != nil {
			out[i] = Compared{Row: &rows[i], Pred: Prediction{Err: ctx.Err()}}
			continue
		}
		out[i] = Compared{Row: &rows[i], Pred: p.Formulas(ctx, &rows[i], a)}
	}
	return out
}
