package ascend

import (
	"context"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Formulas evaluates candidates by the closed formulas of throughput-optimizer. It
// holds everything but the layout.
type Formulas struct {
	Mode   search.Mode
	Spec   graph.Spec // without its layout and MTP
	Coster cost.Coster
	// Memory and Reserved are per device.
	Memory, Reserved units.Bytes
	Load             formulas.Load // without what depends on the layout
	// AutoBudget tries 4, 2 and 1 prompts' worth of tokens as the step's budget.
	AutoBudget bool
	Rates      []float64 // acceptance of draft tokens
	// Block and Accepted describe a draft model in place of Rates: the tokens of
	// a decode step and how many of them are accepted on average.
	Block    int
	Accepted float64
	Suffix   string // behind every label
	// Matched says that the phase is to be matched with another one.
	Matched bool
	Judge   search.Judge
	Range   search.Range
	Images  graph.Images
}

var _ search.Evaluator = (*Formulas)(nil)

// Bound implements [search.Evaluator]: nothing is known before a candidate is evaluated.
func (p *Formulas) Bound(*search.Candidate) float64 { return math.Inf(1) }

// Label is a candidate as printed.
func (p *Formulas) Label(c search.Candidate) string {
	return c.Label(p.Spec.Model.HasExperts()) + p.Suffix
}

// Explore implements [search.Evaluator].
func (p *Formulas) Explore(context.Context, search.Candidate, float64) (most, least float64) {
	return math.Inf(1), math.Inf(-1)
}

// Evaluate implements [search.Evaluator]: it finds the best batch of one candidate. When ctx ends
// the result has its error.
func (p *Formulas) Evaluate(ctx context.Context, c search.Candidate, _ float64) search.Result {
	r := search.Result{Candidate: c, Label: p.Label(c)}
	spec := p.Spec
	spec.Layout, spec.MTP = c.Layout, c.MTP
	r.Spec = spec
	r.Load = p.load(c)
	exact, err := p.deploy(spec)
	if err != nil {
		r.Refuse(err)
		return r
	}
	relaxed := exact
	if spec.JumpsWithBatch() {
		if relaxed, err = p.deploy(spec.WithoutJumps()); err != nil {
			r.Refuse(err)
			return r
		}
	}
	var f found
	for _, budget := range p.budgets() {
		r.Load.Budget = budget
		f = p.search(ctx, exact, relaxed, &r.Load)
		// A smaller budget helps only where the prefill step itself does not fit.
		if f.ok || f.first.OOM != figures.Prefill {
			break
		}
	}
	r.Best, r.OK, r.Binds, r.First, r.Points = f.best, f.ok, f.binds, f.first, f.points
	if !r.OK {
		r.Reason = p.reason(&r)
	}
	r.MostQPS, r.Score = r.Best, r.Best.Throughput
	// Several waves within a limit lower the mean TTFT of the requests in flight,
	// and so raise what the guide counts.
	if r.OK && p.Matched && p.Mode == search.PrefillOnly && p.Judge.Limits.TTFT > 0 && r.Load.Distribution == nil {
		r.MostQPS = p.searchBy(ctx, exact, relaxed, &r.Load, func(o *figures.Outcome) float64 { return r.Load.Prompts(o) }).best
	}
	if err := ctx.Err(); err != nil {
		r.Refuse(err)
	}
	return r
}

// search finds the batch with the most throughput under one load.
func (p *Formulas) search(ctx context.Context, exact, relaxed *Steps, l *formulas.Load) found {
	if l.Distribution != nil && p.Mode != search.DecodeOnly {
		return bisectBatch(p.outcome(ctx, exact, l), p.batches(l), &p.Judge)
	}
	return p.searchBy(ctx, exact, relaxed, l, throughput)
}

// searchBy finds the batch with the best rating under one load of equal prompts.
func (p *Formulas) searchBy(ctx context.Context, exact, relaxed *Steps, l *formulas.Load, rate rating) found {
	s := p.batchSearch(ctx, exact, relaxed, l, rate)
	return s.run()
}

func (p *Formulas) batchSearch(ctx context.Context, exact, relaxed *Steps, l *formulas.Load, rate rating) batchSearch {
	return batchSearch{
		exact: p.outcome(ctx, exact, l), relaxed: p.outcome(ctx, relaxed, l), r: p.batches(l), judge: p.Judge,
		rate: rate, window: p.window(l), waves: p.Mode == search.PrefillOnly && !l.Chunked(),
	}
}

func (p *Formulas) deploy(spec graph.Spec) (*Steps, error) {
	return NewSteps(spec, p.Coster, p.Memory, p.Reserved, p.Images)
}

// load fills in what depends on the layout.
func (p *Formulas) load(c search.Candidate) formulas.Load {
	l := p.Load
	l.DP, l.PP, l.Devices = c.Layout.DP, c.Layout.PP, c.Layout.Devices
	l.DecodeQuery = 1 + c.MTP
	l.Fold = deployment.AcceptedPerStep(c.MTP, p.Rates)
	if p.Block > 0 {
		l.DecodeQuery, l.Fold = p.Block, 1+p.Accepted
	}
	return l
}

// budgets are the token budgets to try.
func (p *Formulas) budgets() []int {
	if !p.AutoBudget {
		return []int{p.Load.Budget}
	}
	n := p.Load.Input
	if d := p.Load.Distribution; d != nil {
		n = d.MeanEffective(p.Load.HitRate)
	}
	return []int{4 * n, 2 * n, n}
}

// batches is the range to search. Where prompts are computed in chunks, every
// request of a batch runs: it has begun before the first has ended. Engines run no
// more requests than a step has tokens, for each in decode takes one (vLLM refuses
// max_num_seqs above max_num_batched_tokens). A prefill without a limit would queue
// prompts without end and gain nothing: it is searched for a few full steps only, and
// one of unequal prompts, each step of which is another, for no more than many.
func (p *Formulas) batches(l *formulas.Load) search.Range {
	r := p.Range
	most := func(n int, ends search.Verdict) {
		if n = max(1, n); n < r.Max && n >= r.Min {
			r.Max, r.Ends = n, ends
		}
	}
	switch {
	case p.Mode == search.Aggregated && l.Chunked():
		most(l.Budget/l.PP, search.OverBudget)
	case p.Mode == search.PrefillOnly && p.Judge.Limits.TTFT == 0 && !r.Given:
		const few = 4
		most(few*max(1, l.Budget/l.EffectiveInput()), search.Saturated)
	case p.Mode == search.PrefillOnly && l.Distribution != nil:
		const many = 1024
		most(max(r.Min, many*l.Budget/l.EffectiveInput()), search.Saturated)
	}
	return r
}

// window is smaller where an evaluation simulates every step, and holds a whole
// wave of prompts, with which throughput repeats.
func (p *Formulas) window(l *formulas.Load) int {
	switch {
	case p.Mode == search.DecodeOnly:
		return window
	case p.Mode == search.Aggregated && l.Chunked():
		return mixedWindow
	case p.Mode == search.Aggregated:
		return min(max(window, l.Budget*l.DP/l.EffectiveInput()+1), wide)
	}
	input := l.EffectiveInput()
	last := 1 + (input-1)%l.Budget // tokens of the last chunk, whose waves are the largest
	return min(max(window, l.Budget*l.DP/last+1), max(mixedWindow, widest*l.Budget/max(input, l.Budget)))
}

// outcome evaluates batches. Once ctx has ended none fits, so that a search soon ends too.
func (p *Formulas) outcome(ctx context.Context, e formulas.Engine, l *formulas.Load) evaluate {
	of := p.of(e, l)
	return func(b int) figures.Outcome {
		if ctx.Err() != nil {
			return figures.Outcome{Batch: b, OOM: figures.Decode}
		}
		return of(b)
	}
}

func (p *Formulas) of(e formulas.Engine, l *formulas.Load) evaluate {
	switch p.Mode {
	case search.PrefillOnly:
		return func(b int) figures.Outcome { return formulas.PrefillOnly(e, l, b) }
	case search.DecodeOnly:
		return func(b int) figures.Outcome { return formulas.DecodeOnly(e, l, b) }
	case search.Aggregated:
	}
	return func(b int) figures.Outcome {
		o := formulas.Aggregated(e, l, b)
		if o.Throughput > 0 { // by Little's law, as the accounting counts throughput
			o.Latency = units.Seconds(float64(o.Concurrency) * float64(l.Output) / o.Throughput)
		}
		return o
	}
}

// reason says why a candidate has no feasible batch.
func (p *Formulas) reason(r *search.Result) string {
	r.Binds = p.Judge.Verdict(&r.First, nil)
	return p.Judge.Reason(r.Binds, &r.First)
}
