package experiment

import (
	"context"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// naiveBatch is the batch of a configuration without a search, as AIConfigurator has it.
const naiveBatch = 128

// Unsearched gives a deployment that works, without a search: as many copies as there is
// room for of the smallest worker whose cache holds a few requests, with the usual way
// to cut such a model. Its figures are simulated.
func Unsearched(ctx context.Context, w *session.Session, how *How, e Experiment) (*Result, error) {
	x, err := begin(w, how, e)
	if err != nil {
		return nil, err
	}
	x.space.Decode = x.fitting(&x.e.Workers, search.Usual(x.layouts(&x.e.Workers, x.stage.Device, x.e.Devices), x.stage.Model), naiveBatch, false)
	if len(x.space.Decode) == 0 {
		return nil, session.BadInput(x.nothingRuns(e.Devices))
	}
	c, requests, err := x.smallest()
	if err != nil {
		return nil, err
	}
	o := figures.Outcome{Batch: c.Batch(requests), Concurrency: requests * c.Copies}
	row, about, err := x.option(ctx, &search.Result{Candidate: c}, &o)
	if err != nil {
		return nil, err
	}
	x.out.Rows, x.out.Tier, x.out.Notes, x.out.Frontier = []Option{row}, about.tier, about.notes, []Speed{}
	x.out.present()
	return &x.out, nil
}

// smallest is the smallest worker whose cache holds a few requests of a rank, or else
// the largest there is, and how many requests it then serves.
func (x *run) smallest() (search.Candidate, int, error) {
	const few = 8
	e := x.e
	c, requests := search.Candidate{}, 0
	for _, l := range x.space.Decode {
		c = search.Candidate{Layout: l, Y: 1, Copies: e.Devices / l.Devices, MTP: e.MTP, Drafter: e.Drafter}
		d := x.Subject.Deployment(c, naiveBatch)
		_, f, err := x.stage.Fleet(&d)
		if err != nil {
			return c, 0, session.BadInput(err)
		}
		holds := f.Generates().KVTokens / (e.Input + e.Output)
		requests = max(1, min(naiveBatch, holds)) * max(1, l.DP)
		if holds >= few {
			break
		}
	}
	return c, requests, nil
}
