package plan

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
)

// against sets the costs of a contender against the price of an API; nil without one.
func (c *Contender) against(a *APIPrice) *AgainstAPI {
	if a == nil || c.Cost == nil || c.RequestRate.Value == 0 {
		return nil
	}
	e := &c.Found.Experiment
	const million = 1e6
	out := &AgainstAPI{PerRequest: (float64(e.Input)*a.Input + float64(e.Output)*a.Output) / million}
	out.Ratio = c.Cost.PerRequest.Value / out.PerRequest
	out.BreakEven = money.BreakEven(c.Cost.PerMonth, out.PerRequest)
	carries := c.RequestRate.Value
	if c.Capacity != nil {
		carries = c.Capacity.RequestRate.Value
	}
	out.BreakEvenLoad = out.BreakEven / carries
	return out
}

// againstAPI says whether the deployment or the API costs less, "" without a price.
func (r *Request) againstAPI(c *Contender) string {
	if c.Cost == nil || c.Cost.API == nil {
		return ""
	}
	x := c.Cost.API
	out := fmt.Sprintf("A request costs %s times as much as from an API at $%s per million input and $%s per million output tokens ($%s per request)",
		units.Figure(x.Ratio), units.Figure(r.API.Input), units.Figure(r.API.Output), units.Figure(x.PerRequest))
	if x.BreakEvenLoad > 1 {
		return out + ": the API is cheaper at any load this deployment carries."
	}
	return out + fmt.Sprintf("; these GPUs are cheaper from %s requests per second, %.0f %% of the capacity.", units.Figure(x.BreakEven), 100*x.BreakEvenLoad)
}
