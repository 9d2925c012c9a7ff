package plimsoll

import (
	"context"
	"encoding/json"

	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// PredictRequest is a deployment and its load: one of Concurrency, Rate and Trace.
type PredictRequest struct {
	Deployment  Deployment `json:"deployment"`
	Concurrency int        `json:"concurrency,omitempty"` // clients, each with one request in flight
	Rate        float64    `json:"rate,omitempty"`        // requests per second
	Trace       string     `json:"trace,omitempty"`       // a file
	// Input and Output are lengths in tokens, uniform from LengthLow of them to all; 0 are 1024, 256 and 1. Workloads replace them.
	Input     int        `json:"input_length,omitempty"`
	Output    int        `json:"output_length,omitempty"`
	LengthLow float64    `json:"length_ratio_low,omitempty"`
	Workloads []Workload `json:"workloads,omitempty"`
	// Requests is the number of a benchmark, which starts with all clients at once; 0 is steady state.
	Requests int `json:"num_prompts,omitempty"`
	// Limits affect only the probability of meeting them. Percentile is what they apply to; 0 is the mean.
	Limits     Limits  `json:"limits,omitzero"`
	Percentile float64 `json:"percentile,omitempty"`
	// More is further fields in JSON, such as arrival, seed, device_file and calibration.
	More json.RawMessage `json:"-"`
}

// MarshalJSON writes the fields and those of More.
func (r PredictRequest) MarshalJSON() ([]byte, error) {
	type fields PredictRequest
	return withMore(fields(r), r.More)
}

// Prediction is a simulated run.
type Prediction struct {
	Finished int   `json:"finished"` // requests
	TTFT     Times `json:"ttft_ms"`
	// TPOT is nil if requests generate one token.
	TPOT     *Times   `json:"tpot_ms"`
	Latency  Times    `json:"latency_ms"`
	Requests float64  `json:"requests_per_s"`
	Tokens   Estimate `json:"output_tokens_per_s"`
	// Judged are the latencies that limits apply to.
	Judged Latencies `json:"judged"`
	// Tier is what operator times rest on: measured, calibrated, transferred or datasheet; Basis what the intervals rest on.
	Tier  string `json:"tier"`
	Basis string `json:"basis"`
	// JSON is the whole answer, as "plimsoll simulate --json" prints it.
	JSON json.RawMessage `json:"-"`
}

// Predict simulates requests on a deployment.
func (p *Planner) Predict(ctx context.Context, r PredictRequest) (*Prediction, error) {
	out := &Prediction{}
	data, err := ask[simulate.Request](ctx, p, "simulate", r, out)
	if err != nil {
		return nil, err
	}
	out.JSON = data
	return out, nil
}
