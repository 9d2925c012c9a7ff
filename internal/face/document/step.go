package document

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// Step is a step for programs. Field names are part of the contract.
type Step struct {
	// Command is the command line of this answer, Request the request in JSON.
	Command string        `json:"command,omitempty"`
	Request *step.Request `json:"request"`

	Model  string `json:"model"`
	Device string `json:"device"`
	Layout string `json:"layout"`
	Policy string `json:"policy"`
	// Pricing is the cost model of operators that no kernel table covers.
	Pricing  string `json:"pricing"`
	Compiled bool   `json:"compiled"` // operators are fused

	TotalS          float64   `json:"total_s"`
	TotalInterval   *Interval `json:"total_s_80"` // holds a measurement with a probability of 0.8
	TokensPerSecond float64   `json:"tokens_per_s_per_device"`
	TokensInterval  *Interval `json:"tokens_per_s_per_device_80"`
	Basis           string    `json:"interval_basis"`

	Engine *step.EngineStep `json:"engine,omitempty"`
	// Energy is missing where the power of the device is unknown.
	Energy *step.Energy `json:"energy,omitempty"`

	WeightsGiB    float64 `json:"weights_gib"`
	KVGiB         float64 `json:"kv_gib"`
	ActivationGiB float64 `json:"activation_gib"`
	ReservedGiB   float64 `json:"reserved_gib"`
	AvailableGiB  float64 `json:"available_gib"`

	BoundS  Bound   `json:"bound_s"`
	FixedS  float64 `json:"fixed_s"`
	HiddenS float64 `json:"hidden_s"`
	// MeasuredS is the part of the step's time from kernel tables.
	MeasuredS float64 `json:"measured_s"`

	Operators []Operator    `json:"operators"`
	Artefacts []step.Effect `json:"artefacts"`
	Tier      string        `json:"tier"`
	Tables    *prices.Use   `json:"tables,omitempty"`
	Notes     []string      `json:"notes"`
}

// Bound is the time of operators by what bounds them, launches aside.
type Bound struct {
	Memory        float64 `json:"memory_bound"`
	Communication float64 `json:"communication_bound"`
	Cube          float64 `json:"compute_bound_mma"`
	Vector        float64 `json:"compute_bound_gp"`
}

// Operator is the sum of all calls of one operator.
type Operator struct {
	Name    string  `json:"name"`
	Calls   float64 `json:"calls"`
	TotalS  float64 `json:"total_s"`
	Bound   string  `json:"bound"`
	CubeS   float64 `json:"cube_s"`
	VectorS float64 `json:"vector_s"`
	MemoryS float64 `json:"memory_s"`
	CommS   float64 `json:"comm_s"`
	FixedS  float64 `json:"fixed_s"`
	// MeasuredS is the part from kernel tables, Kernels the kernels used.
	MeasuredS float64 `json:"measured_s"`
	Kernels   string  `json:"kernels,omitempty"`
}

// NewStep converts a response.
func NewStep(r *step.Response) *Step {
	s := &r.Result
	out := &Step{
		Request: &r.Request, Model: r.Model, Device: r.Device,
		Layout: r.Label, Policy: r.Policy, Pricing: string(r.Pricing), Compiled: r.Compiled,
		TotalS: float64(s.Time), TotalInterval: interval(r.Error, float64(s.Time)),
		TokensPerSecond: r.TokensPerSecond, TokensInterval: interval(r.Error.Inverse(), r.TokensPerSecond), Basis: r.Basis,
		WeightsGiB: r.Memory.Weights.GiB(), KVGiB: r.Memory.KV.GiB(), ActivationGiB: r.Memory.Activation.GiB(),
		ReservedGiB: r.Memory.Reserved.GiB(), AvailableGiB: r.Memory.Available.GiB(),
		BoundS: Bound{
			float64(s.Bound.Memory), float64(s.Bound.Comm), float64(s.Bound.Cube), float64(s.Bound.Vector),
		},
		FixedS: float64(s.Fixed), HiddenS: float64(s.Hidden), MeasuredS: float64(s.Measured),
		Operators: []Operator{}, Artefacts: append([]step.Effect{}, r.Artefacts...),
		Engine: r.Engine, Energy: r.Energy, Tier: string(r.Tier), Tables: r.Tables, Notes: append([]string{}, r.Notes...),
	}
	for i := range s.Operators {
		o := &s.Operators[i]
		out.Operators = append(out.Operators, Operator{
			o.Name, o.Calls, float64(o.Time), o.Bound.String(),
			float64(o.Parts.Matrix), float64(o.Parts.Vector), float64(o.Parts.Memory),
			float64(o.Parts.Comm), float64(o.Parts.Fixed), float64(o.Parts.Measured), r.Kernels[i],
		})
	}
	return out
}
