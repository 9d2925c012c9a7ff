package plimsoll

import (
	"context"
	"encoding/json"

	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// PlanRequest asks how to serve a model within limits: which system, engine, mode and layout carry the most on a number of
// devices, or carry a load on the fewest. Model, Systems, one of Devices and Rate, and Workloads are required.
type PlanRequest struct {
	Model   string   `json:"model,omitempty"`   // a name of [Models], or a directory with a config.json
	Systems []string `json:"systems,omitempty"` // names of [Systems], or "all"
	Devices int      `json:"gpus,omitempty"`
	Rate    float64  `json:"rate,omitempty"` // requests per second
	// Workloads share the deployment.
	Workloads []Workload `json:"workloads,omitempty"`
	// Limits default to those usual for the presets of the workloads, or for chat.
	Limits Limits `json:"limits,omitzero"`
	// Percentile is what limits apply to, as 95; 0 is the mean. Confidence is the least probability of meeting them; 0 is 0.5.
	Percentile float64 `json:"percentile,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	// Engines and Modes to compare, an engine with a release if it is not the newest ("vllm@0.24.0"); nil is all.
	Engines []string `json:"engines,omitempty"`
	Modes   []Mode   `json:"modes,omitempty"`
	// Prices are US dollars per device-hour by system; others have list prices.
	Prices map[string]float64 `json:"prices,omitempty"`
	// NoChanges leaves out what would change the answer, which takes most of the time.
	NoChanges bool `json:"no_changes,omitempty"`
	// More is further fields in JSON, such as daily, formats, draft, routing, device_file and calibration.
	More json.RawMessage `json:"-"`
}

// MarshalJSON writes the fields and those of More.
func (r PlanRequest) MarshalJSON() ([]byte, error) {
	type fields PlanRequest
	return withMore(fields(r), r.More)
}

// Mode is how the work of a deployment is divided.
type Mode string

// The modes.
const (
	Aggregated    Mode = "agg" // prefill and decode on the same workers
	Disaggregated Mode = "disagg"
)

// Plan is the answer to a [PlanRequest].
type Plan struct {
	Answer Answer `json:"answer"`
	// Contenders are the best deployments of each system, engine and mode, ranked; those that do not meet the limits come last.
	Contenders []Contender `json:"contenders"`
	// JSON is the whole record, as "plimsoll plan --json" prints it, without the version of the program.
	JSON json.RawMessage `json:"-"`
}

// Answer is a plan in words.
type Answer struct {
	Meets    bool   `json:"meets_limits"`
	Sentence string `json:"sentence"`
	// Nearest are the closest limits that can be met, nil if those of the request can.
	Nearest *Limits `json:"nearest_limits"`
}

// Contender is the best deployment of one system, engine and mode. Its figures are at the load, if one was given, else at capacity.
type Contender struct {
	Name    string `json:"name"` // "h200_sxm vllm disagg"
	System  string `json:"system"`
	Engine  string `json:"engine"`
	Mode    Mode   `json:"mode"`
	InWords string `json:"in_words"` // "4 replicas of TP=2"
	Meets   bool   `json:"meets_limits"`
	GPUs    int    `json:"gpus_used"`
	// Concurrency is the requests in flight.
	Concurrency int      `json:"concurrency"`
	Requests    Estimate `json:"request_rate"`      // per second
	Tokens      Estimate `json:"tokens_per_second"` // output
	// Judged are the latencies that limits apply to, beside the means and the 95th percentiles.
	Judged Latencies `json:"judged"`
	Mean   Latencies `json:"mean"`
	P95    Latencies `json:"p95"`
	// Cost is nil if no price is known.
	Cost *Cost `json:"cost"`
	// Tier is what operator times rest on: measured, calibrated, transferred or datasheet; Basis what the intervals rest on.
	Tier  string `json:"tier"`
	Basis string `json:"basis"`
	// Deployment can be predicted under other loads, and have its files made.
	Deployment Deployment `json:"deployment"`
}

// Cost is what a deployment costs in US dollars.
type Cost struct {
	PerGPUHour       float64  `json:"usd_per_gpu_hour"`
	PerMillionTokens Estimate `json:"usd_per_million_output_tokens"`
	PerMonth         float64  `json:"usd_per_month"` // 730 hours
}

// Plan finds how to serve a model within limits.
func (p *Planner) Plan(ctx context.Context, r PlanRequest) (*Plan, error) {
	out := &Plan{}
	data, err := ask[plan.Request](ctx, p, "plan", r, out)
	if err != nil {
		return nil, err
	}
	out.JSON = data
	return out, nil
}
