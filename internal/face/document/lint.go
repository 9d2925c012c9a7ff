package document

import (
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Lint is the check of a launch command or of launch files, for programs; times in
// milliseconds.
type Lint struct {
	Request    *lint.Request          `json:"request"`
	Deployment *deployment.Deployment `json:"deployment"`

	Model   string      `json:"model"`
	Device  string      `json:"device"`
	Engine  string      `json:"engine"`
	Version string      `json:"engine_version,omitempty"`
	Devices int         `json:"devices"`
	Pools   []lint.Pool `json:"pools"`

	// Capacity and Prediction are null if unknown. Prediction is the one of "plimsoll simulate".
	Capacity   *Capacity      `json:"capacity"`
	Prediction *Simulate      `json:"prediction"`
	Errors     int            `json:"errors"`
	Findings   []lint.Finding `json:"findings"`
	Better     []Improvement  `json:"better"`
}

// Capacity is the capacity of the engines that generate: memory of one device, the rest
// over all ranks and replicas.
type Capacity struct {
	Memory  Budget  `json:"memory"`
	FreeGiB float64 `json:"free_gib"`
	Ranks   int     `json:"ranks"`
	Tokens  int     `json:"kv_tokens"`
	Limit   int     `json:"batch_limit"`
	Held    int     `json:"cache_holds"`
	Safe    int     `json:"safe_concurrency"`
}

// Improvement is a change of settings that raises throughput within the limits.
type Improvement struct {
	Change      string   `json:"change"`
	Settings    []string `json:"settings"`
	Note        string   `json:"note,omitempty"`
	Gain        float64  `json:"gain"` // 0 if the files meet the limits at no concurrency
	Concurrency int      `json:"concurrency"`
	TTFT        float64  `json:"ttft_ms"`
	TPOT        float64  `json:"tpot_ms"`
	Throughput  float64  `json:"output_tokens_per_s"`
}

// NewLint converts a response.
func NewLint(r *lint.Response) *Lint {
	out := &Lint{
		Request: &r.Request, Deployment: &r.Deployment, Model: r.Model, Device: r.Device, Engine: r.Deployment.Engine.Name,
		Version: r.Version, Devices: r.Devices, Pools: append([]lint.Pool{}, r.Pools...), Errors: r.Errors(),
		Findings: append([]lint.Finding{}, r.Findings...), Better: []Improvement{},
	}
	if c := r.Capacity; c != nil {
		out.Capacity = &Capacity{budgetOf(&c.Memory), c.Free.GiB(), c.Ranks, c.Tokens, c.Limit, c.Held, c.Safe}
	}
	if r.Simulated != nil {
		out.Prediction = NewSimulate(r.Simulated)
	}
	for _, b := range r.Better {
		out.Better = append(out.Better, Improvement{b.Change, b.Settings, b.Note, b.Gain, b.Concurrency, b.TTFT.Ms(), b.TPOT.Ms(), b.Throughput})
	}
	return out
}
