package searchrun

import (
	"cmp"
	"context"
	"iter"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Evaluation is how the candidates of a search are evaluated.
type Evaluation string

// The ways.
const (
	ByFormulas   Evaluation = "formulas"   // of the documented contract
	BySimulation Evaluation = "simulation" // of whole deployments under an engine
)

// Words lists the ways.
func (Evaluation) Words() []string { return []string{string(ByFormulas), string(BySimulation)} }

// Run is a search in progress: a space, who evaluates its candidates, and what is best of them. Every operation that searches
// does it with a run; they differ in these.
type Run struct {
	// Evaluator gives candidates their figures: the guide's formulas, or after [Run.Simulate] and [Run.Carry] simulations.
	Evaluator search.Evaluator
	Judge     search.Judge // of the limits
	// Subject is what candidates have in common that are simulated, Simulated evaluates them; nil with formulas.
	Subject   *Subject
	Simulated *search.Simulated

	// Space is the candidates.
	Space func(context.Context) []search.Branch
	// Group tells apart the candidates that are compared with each other: the best of each group has a row. Nil is every candidate
	// for itself.
	Group func(*search.Candidate) any
	// Top is how many rows are wanted; 0 is all.
	Top  int
	Jobs int // workers, which no answer depends on; 0 = 8
	// Progress, if not nil, reports how many candidates are done.
	Progress func(done int)

	// Results are all candidates in the order of enumeration that were not dropped, Rows the best of each group, best first.
	Results []search.Result
	Rows    []*search.Result
}

// Simulate evaluates candidates by simulations on a bench.
func (r *Run) Simulate(s *Subject, bench *search.Bench, batches search.Range, label func(*search.Candidate) string) {
	r.Subject = s
	r.Simulated = &search.Simulated{Bench: bench, Judge: r.Judge, Errors: s.Errors, Range: batches, Label: label}
	r.Evaluator = r.Simulated
}

// Sure evaluates candidates as the run does, which simulates them, with another confidence.
func (r *Run) Sure(confidence float64) *search.Simulated {
	s := r.Simulated
	j := s.Judge
	j.Confidence = confidence
	return &search.Simulated{Bench: s.Bench, Judge: j, Errors: s.Errors, Range: s.Range, Devices: s.Devices, Label: s.Label}
}

// Carry evaluates simulated candidates by the devices that a load needs.
func (r *Run) Carry(l Load, maxDevices int, m search.Margin) *search.Sized {
	turns := r.Subject.Stage.Kinds.Turns() // the load is in sessions where requests belong to some
	s := &search.Sized{Simulated: r.Simulated, Rate: l.Rate * turns, Requests: l.Requests, MaxDevices: maxDevices, Margin: m}
	r.Evaluator = s
	return s
}

// waits says that of deployments that carry nearly the same, the one with the shorter TTFT is better: where simulated deployments are
// to carry the most.
func (r *Run) waits() bool { return r.Simulated != nil && r.Evaluator == search.Evaluator(r.Simulated) }

// Workers is how many candidates are evaluated at a time.
func (r *Run) Workers() int { return cmp.Or(r.Jobs, session.DefaultJobs) }

// Find searches the space.
func (r *Run) Find(ctx context.Context) error {
	s := search.Search{Evaluator: r.Evaluator, Group: r.Group, Near: r.waits(), Rows: r.Top, Workers: r.Workers(), Progress: r.Progress}
	results, err := s.Run(ctx, r.Space(ctx))
	if err != nil {
		return err
	}
	r.Results = results
	r.Rank()
	return nil
}

// Rank finds the rows among the results.
func (r *Run) Rank() {
	order := search.Waiting[any]
	if r.Simulated != nil && !r.waits() {
		order = search.Earliest[any]
	}
	r.Rows = order(r.Results, func(x *search.Result) any {
		if r.Group == nil {
			return x.Label
		}
		return r.Group(&x.Candidate)
	})
}

// Together searches the spaces of several runs with groups as one, so that only what may be the best of all is evaluated precisely. A run
// that is nil has no space.
func Together(ctx context.Context, runs []*Run) error {
	several := make(search.Several, len(runs))
	var space []search.Branch
	s := search.Search{Evaluator: several, Rows: 1, Group: func(c *search.Candidate) any { return [2]any{c.Of, runs[c.Of].Group(c)} }}
	for i, r := range runs {
		if r != nil {
			several[i], s.Near, s.Workers = r.Evaluator, r.waits(), r.Workers()
			space = append(space, several.Branches(i, r.Space(ctx))...)
		}
	}
	results, err := s.Run(ctx, space)
	if err != nil {
		return err
	}
	for _, x := range results {
		r := runs[x.Candidate.Of]
		x.Candidate.Of = 0
		r.Results = append(r.Results, x)
	}
	for _, r := range runs {
		if r != nil {
			r.Rank()
		}
	}
	return nil
}

// Nearest is the candidate that comes nearest to the limits; nil where none fits in memory.
func (r *Run) Nearest() *search.Result { return search.Near(r.Results, &r.Judge) }

// Points are the loads of results that were tried and that have a TPOT, whatever the limits.
func Points(results []search.Result) iter.Seq2[*search.Result, *figures.Outcome] {
	return func(yield func(*search.Result, *figures.Outcome) bool) {
		for i := range results {
			r := &results[i]
			for k := range r.Points {
				if o := &r.Points[k]; o.TPOT > 0 && o.OOM == "" && !yield(r, o) {
					return
				}
			}
		}
	}
}
