package estimate

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Response is the figures of one deployment. Simulating the deployment at the concurrency
// gives the same, unless the mode is static.
type Response struct {
	Mode    string  `json:"mode"`    // in AIConfigurator's words
	Request Request `json:"request"` // complete

	Model       string                `json:"model"`
	Deployment  deployment.Deployment `json:"deployment"`
	Devices     int                   `json:"gpus"`
	Concurrency int                   `json:"concurrency"`
	// Figures that a static mode does not have are null.
	figures.Figures `json:"-"`
	figures.Record

	RequestRate float64 `json:"-"` // as in the record
	// Guide is the prediction of the formulas of Ascend's guide for the same deployment and load, on Ascend devices.
	Guide *simulate.Guide `json:"guide,omitempty"`
	// Energy is missing where the power of the device is unknown.
	Energy *simulate.Energy `json:"energy,omitempty"`
	Tier   device.Tier      `json:"tier"`
	// Pools are the workers that do both, or those for prefill and for decode.
	Pools  []Pool      `json:"pools"`
	Tables *prices.Use `json:"tables,omitempty"`
	Notes  []string    `json:"notes"`

	Caution string `json:"caution"`

	Experts  bool                 `json:"-"`
	Expected calibration.Expected `json:"-"`
}

// Pool is the workers of one role.
type Pool struct {
	Role     deployment.Role `json:"role"`
	System   string          `json:"system"`
	Workers  int             `json:"workers"`
	Layout   parallel.Layout `json:"layout"` // complete
	Batch    int             `json:"batch_size"`
	InUse    units.InGiB     `json:"memory_gib"` // in use at most
	KVPeak   float64         `json:"kv_use_peak"`
	KVTokens int             `json:"kv_tokens"` // of a data-parallel rank
	Memory   engine.Budget   `json:"memory"`
	// Steps are steps of a worker in detail, if they were requested.
	Steps []Step `json:"steps,omitempty"`
}

// Step is one step of a worker.
type Step struct {
	Phase    string `json:"phase"`
	Requests int    `json:"requests"` // of a data-parallel rank
	Query    int    `json:"new_tokens"`
	Cached   int    `json:"cached_tokens"`
	// Time is the time of the kernels, Limit the shortest time the data sheet allows.
	Time       units.InMs       `json:"time_ms"`
	Limit      units.InMs       `json:"limit_ms"`
	LimitShare float64          `json:"limit_share"`
	Engine     *step.EngineStep `json:"engine,omitempty"`
	// Bounds are what the step of the engine waits for, as shares of its time.
	Bounds    Bounds     `json:"bounds"`
	Operators []Operator `json:"operators"`
}

// Bounds are shares of a step's time: kernels by the bottleneck of each operator, and host work between them.
type Bounds struct {
	Memory  float64 `json:"memory"`
	Compute float64 `json:"compute"`
	Link    float64 `json:"link"`
	Host    float64 `json:"host"`
}

// bound adds what the step waits for. The kernels of an engine are those of the operators times what was fitted, which keeps their shares.
func (s *Step) bound() {
	var sum units.InMs
	kernels := 1.0
	if e := s.Engine; e != nil && e.Time > 0 {
		kernels = float64(e.Kernels / e.Time)
		s.Bounds.Host = 1 - kernels
	}
	for i := range s.Operators {
		sum += s.Operators[i].Time
	}
	if sum <= 0 {
		return
	}
	for i := range s.Operators {
		o := &s.Operators[i]
		share := kernels * float64(o.Time/sum)
		switch o.Bound {
		case cost.Compute.String():
			s.Bounds.Compute += share
		case cost.Communication.String():
			s.Bounds.Link += share
		default: // a free operator takes no time
			s.Bounds.Memory += share
		}
	}
}

// Operator is all calls of an operator in a step.
type Operator struct {
	Name       string     `json:"name"`
	Calls      float64    `json:"calls"`
	Time       units.InMs `json:"time_ms"`
	Share      float64    `json:"share"`
	Limit      units.InMs `json:"limit_ms"`
	LimitShare float64    `json:"limit_share"`
	Bound      string     `json:"bound"`
	Source     string     `json:"source"`
	Kernels    string     `json:"kernels,omitempty"`
}

// present adds what follows from the figures.
func (r *Response) present() {
	e := &r.Expected
	r.Record = figures.Record{
		Rates: e.Rates(r.Throughput, r.RequestRate, r.Devices, r.TPOT), Judged: e.Latencies(workload.Statistic{}, r.Times, r.Request.Experiment.Limits), Basis: e.Basis,
	}
	for i := range r.Pools {
		p := &r.Pools[i]
		p.InUse = p.Memory.InUse(p.KVPeak)
	}
	r.Notes = append([]string{}, r.Notes...)
}
