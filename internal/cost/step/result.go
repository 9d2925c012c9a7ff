package step

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Operator is the sum of all calls of one name in a step.
type Operator struct {
	Name  string        `json:"name"`
	Calls float64       `json:"calls"`
	Time  units.Seconds `json:"total_s"`
	Bound cost.Bound    `json:"bound"`
	// Estimate is summed over the calls; its Total equals Time except where an
	// operator runs beside another.
	cost.Estimate
	// Kernels names the measured kernels used, if any.
	Kernels string `json:"kernels,omitempty"`
}

// Result is a step in detail.
type Result struct {
	Totals
	// Hidden is the time saved by a second stream for communication.
	Hidden units.Seconds
	// Times is Time by part.
	Times Times
	// Operators in the order of their first call.
	Operators []Operator
	// Items and Costs are every operator of the step with its price.
	Items []op.Item
	Costs []cost.Estimate
}

// Evaluate evaluates a step in detail. Unlike Totals it allocates. With
// multistream, communication has a stream of its own.
func (e *Evaluator) Evaluate(b graph.Batch, multistream bool) *Result {
	r := &Result{Items: e.graph.Append(nil, b)}
	r.Costs = make([]cost.Estimate, len(r.Items))
	at := map[op.Name]int{}
	var before units.Seconds
	for i := range r.Items {
		it := &r.Items[i]
		c := e.coster.Cost(&it.Op)
		r.Costs[i] = c
		was := r.Time
		r.add(it, c, before)
		r.Times[part(it)] += r.Time - was
		before = c.Total
		k, ok := at[it.Op.Name]
		if !ok {
			k = len(r.Operators)
			at[it.Op.Name] = k
			r.Operators = append(r.Operators, Operator{Name: it.Op.Name.String()})
		}
		r.Operators[k].add(it, &c, r.Time-was)
	}
	for i := range r.Operators {
		o := &r.Operators[i]
		o.Bound = o.Estimate.Bound()
	}
	if multistream {
		hidden := behindExchanges
		if e.graph.Spec().Policy.LostOrder {
			hidden = byTokens
		}
		r.Hidden = hidden(r.Items, r.Costs, &r.Times)
		r.Time -= r.Hidden
	}
	return r
}

func (o *Operator) add(it *op.Item, c *cost.Estimate, time units.Seconds) {
	n := units.Seconds(it.Count)
	if !it.Continues {
		o.Calls += it.Count
	}
	o.Time += time
	o.Total += n * c.Total
	o.Matrix += n * c.Matrix
	o.Vector += n * c.Vector
	o.Memory += n * c.Memory
	o.Comm += n * c.Comm
	o.Fixed += n * c.Fixed
	o.Measured += n * c.Measured
}
