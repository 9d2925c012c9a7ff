package document

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
)

// Recommend is how many devices a load needs, for programs; times in milliseconds.
type Recommend struct {
	Rate        float64 `json:"target_request_rate,omitempty"`
	Concurrency int     `json:"target_concurrency,omitempty"`
	// Best names the experiment that needs the fewest devices; nil if none carries the
	// load within its limits. GPUs is how many.
	Best        *string        `json:"best"`
	GPUs        *int           `json:"total_gpus_needed"`
	Experiments []NeedsOfModes `json:"experiments"`
	Caution     string         `json:"caution"`
}

// NeedsOfModes is the result of one experiment.
type NeedsOfModes struct {
	Request  experiment.Experiment `json:"request"`
	Failure  string                `json:"failure,omitempty"`
	Tier     string                `json:"tier,omitempty"`
	Rows     []Need                `json:"rows"`
	Nearest  *Option               `json:"nearest,omitempty"`
	Feasible *Limits               `json:"nearest_limits,omitempty"` // that it meets
	Notes    []string              `json:"notes"`
}

// Need is a deployment that carries the load. Latencies are at the load; throughput and
// rates are its capacity.
type Need struct {
	Replicas int     `json:"replicas_needed"`
	GPUs     int     `json:"total_gpus_needed"`
	Least    int     `json:"replicas_by_capacity"`
	Load     float64 `json:"load"` // share of the capacity in use
	Option
}

// NewRecommend makes the document.
func NewRecommend(r *recommend.Response) *Recommend {
	out := &Recommend{Rate: r.Request.Rate, Concurrency: r.Request.Concurrency, Experiments: []NeedsOfModes{}, Caution: Caution}
	if r.Best >= 0 {
		best := &r.Results[r.Best]
		out.Best, out.GPUs = &best.Experiment.Name, &best.Rows[0].Used
	}
	for i := range r.Results {
		x := &r.Results[i]
		found := NeedsOfModes{Request: x.Experiment, Failure: x.Failure, Tier: string(x.Tier), Rows: []Need{}, Notes: append([]string{}, x.Notes...)}
		for k := range x.Rows {
			n := &x.Rows[k]
			found.Rows = append(found.Rows, Need{n.Copies, n.Used, n.Least, n.Load, optionOf(n.PerDevice(&x.Experiment), n)})
		}
		found.Nearest, found.Feasible = nearestOf(&x.Experiment, x.Near, x.Nearest)
		out.Experiments = append(out.Experiments, found)
	}
	return out
}

// TargetLoad is the load in words.
func TargetLoad(r *recommend.Request) string {
	if r.Concurrency > 0 {
		return fmt.Sprintf("%d concurrent requests", r.Concurrency)
	}
	return fmt.Sprintf("%g req/s", r.Rate)
}
