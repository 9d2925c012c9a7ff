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
	out := fmt.Sprintf("Against an API at $%s per million input and $%s per million output tokens ($%s per request) a request costs %s times as much",
		units.Figure(r.API.Input), units.Figure(r.API.Output), units.Figure(x.PerRequest), units.Figure(x.Ratio))
	if x.BreakEvenLoad > 1 {
		return out + ": the API costs less at any load that this deployment carries."
	}
	return out + fmt.Sprintf("; from %s requests per second, %.0f %% of the capacity, these GPUs cost less than the API.", units.Figure(x.BreakEven), 100*x.BreakEvenLoad)
}
