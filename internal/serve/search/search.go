package search

import (
	"context"
	"fmt"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
)

// Mode is what a deployment does.
type Mode uint8

// The modes.
const (
	Aggregated Mode = iota
	PrefillOnly
	DecodeOnly
)

// Evaluator finds the best operating point of a candidate. It must be safe for
// concurrent use, and may stop early when ctx ends.
type Evaluator interface {
	Evaluate(ctx context.Context, c Candidate) Result
}

// Result is the result of a candidate.
type Result struct {
	Candidate Candidate
	Label     string
	// Best is the outcome with the most throughput within the limits, if OK.
	Best formulas.Outcome
	OK   bool
	// MostQPS is the outcome of a phase that is to be matched: the one with the most
	// requests per second as the guide counts them. Elsewhere it is Best.
	MostQPS formulas.Outcome
	// Binds is what limits the batch, or why there is no best.
	Binds  Verdict
	Reason string // of a rejection, one sentence
	// First is the outcome at the smallest batch.
	First  formulas.Outcome
	Points []formulas.Outcome
	Load   formulas.Load
	Spec   graph.Spec
}

// sentence is why a candidate is refused, in the words of its label.
func sentence(err error) string { return field.Say(err, parallel.Word) }

// Run evaluates candidates with a number of workers. Results come in the order of
// the candidates, whatever that number is; progress, if not nil, reports how many
// are done after each. When ctx ends it returns its error.
func Run(ctx context.Context, e Evaluator, candidates []Candidate, workers int, progress func(done int)) ([]Result, error) {
	results := make([]Result, len(candidates))
	var mu sync.Mutex
	done := 0
	err := pool.Each(ctx, len(candidates), workers, func(i int) {
		results[i] = e.Evaluate(ctx, candidates[i])
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done)
		}
	})
	if err == nil {
		err = ctx.Err() // an evaluation may have ended early
	}
	return results, err
}

// Label is the layout as printed, draft tokens and replicas included.
func (c *Candidate) Label(experts bool) string {
	l := c.Layout
	dcp := l.DCP
	l.DCP = 1
	s := l.Label(experts)
	if c.MTP > 0 {
		s += fmt.Sprintf(" | MTP=%d", c.MTP)
	}
	if dcp > 1 {
		s += fmt.Sprintf(" | DCP=%d", dcp)
	}
	if c.Replicas > 1 {
		s = fmt.Sprintf("%d × (%s)", c.Replicas, s)
	}
	return s
}
