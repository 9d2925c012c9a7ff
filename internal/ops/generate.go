package ops

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// naiveBatch is the batch of a configuration without a search, as AIConfigurator has it.
const naiveBatch = 128

// Generate gives a deployment that works, without a search: as many copies as there is
// room for of the smallest worker whose cache holds a few requests, with the usual way
// to cut such a model. Its figures are simulated.
func (w *World) Generate(ctx context.Context, e Experiment, s Sources) (*ConfigureResponse, error) {
	e.Mode = Aggregated
	r := ConfigureRequest{Experiments: []Experiment{e}, Sources: s, Top: 1}
	x, err := w.experiment(&r, e)
	if err != nil {
		return nil, err
	}
	x.space.Decode = x.fitting(&x.e.Workers, x.usual(), naiveBatch, false)
	if len(x.space.Decode) == 0 {
		return nil, badInput(x.nothingRuns(e.Devices))
	}
	c, requests, err := x.smallest()
	if err != nil {
		return nil, err
	}
	o := formulas.Outcome{Batch: c.Batch(requests), Concurrency: requests * c.Copies}
	row, about, err := x.option(ctx, &search.Result{Candidate: c}, &o)
	if err != nil {
		return nil, err
	}
	x.out.Rows, x.out.Tier, x.out.Notes = []Option{row}, about.tier, about.notes
	return &ConfigureResponse{Request: r, Results: []ExperimentResult{x.out}}, nil
}

// usual are the layouts of workers in the order of their size: tensor parallelism for
// dense models; experts are spread over all devices where attention is latent, whose
// cache tensor parallelism would copy, and cut elsewhere.
func (x *experiment) usual() []parallel.Layout {
	m := x.stage.Model
	latent := slices.ContainsFunc(m.Kinds, func(l model.Layer) bool { return l.Attention.Kind == model.MLA })
	all := x.layouts(&x.e.Workers, x.stage.Device, x.e.Devices)
	all = slices.DeleteFunc(all, func(l parallel.Layout) bool {
		switch {
		case !m.HasExperts():
			return l.DP > 1
		case latent:
			return l.TP > 1 || l.EP < l.Devices
		}
		return l.DP > 1 || l.EP > 1
	})
	slices.SortStableFunc(all, func(a, b parallel.Layout) int { return cmp.Compare(a.Devices, b.Devices) })
	return all
}

// smallest is the smallest worker whose cache holds a few requests of a rank, or else
// the largest there is, and how many requests it then serves.
func (x *experiment) smallest() (search.Candidate, int, error) {
	const few = 8
	e := x.e
	c, requests := search.Candidate{}, 0
	for _, l := range x.space.Decode {
		c = search.Candidate{Layout: l, Y: 1, Copies: e.Devices / l.Devices, MTP: e.MTP}
		d := x.subject.Deployment(c, naiveBatch)
		_, f, err := x.stage.Fleet(&d)
		if err != nil {
			return c, 0, badInput(err)
		}
		holds := f.Generates().KVTokens / (e.Input + e.Output)
		requests = max(1, min(naiveBatch, holds)) * max(1, l.DP)
		if holds >= few {
			break
		}
	}
	return c, requests, nil
}
