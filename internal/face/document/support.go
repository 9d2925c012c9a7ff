package document

import "github.com/plimsoll-project/plimsoll/internal/ops/support"

// Supported is what can be predicted, for programs.
type Supported struct {
	Rows    []SupportRow `json:"rows"`
	Caution string       `json:"caution"`
}

// SupportRow is a model on a system under an engine.
type SupportRow struct {
	Model  string `json:"model"`
	System string `json:"system"`
	Engine string `json:"backend"`
	// GPUs is the smallest number that holds a worker; null if none does, for the reason Why.
	GPUs          *int   `json:"gpus"`
	Why           string `json:"why,omitempty"`
	Tier          string `json:"tier"`
	Aggregated    *Trust `json:"agg"`
	Disaggregated *Trust `json:"disagg"`
}

// Trust is the expected error of predictions: the factors on a figure that contain the
// measured value with a probability of 0.8.
type Trust struct {
	TTFT       *Interval `json:"ttft_factor"`
	TPOT       *Interval `json:"tpot_factor"`
	Throughput *Interval `json:"tokens_per_second_factor"`
	Compared   bool      `json:"compared"` // measured deployments of this combination exist
	Basis      string    `json:"basis"`
}

// NewSupported makes the document.
func NewSupported(r *support.Response) *Supported {
	out := &Supported{Rows: []SupportRow{}, Caution: Caution}
	for i := range r.Rows {
		s := &r.Rows[i]
		row := SupportRow{Model: s.Model, System: s.System, Engine: s.Engine, Why: s.Why, Tier: string(s.Tier), Aggregated: trustOf(s.Aggregated), Disaggregated: trustOf(s.Disaggregated)}
		if s.Devices > 0 {
			row.GPUs = &s.Devices
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func trustOf(t *support.Trust) *Trust {
	if t == nil {
		return nil
	}
	return &Trust{interval(t.TTFT, 1), interval(t.TPOT, 1), interval(t.Throughput, 1), t.Compared, t.Basis}
}
