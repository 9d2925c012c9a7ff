package plan

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Request asks how to serve a model within limits: which system, engine, mode and
// layout carry the most on a number of devices, or carry a load on the fewest.
type Request struct {
	Model string `json:"model"`
	// Systems are compared; "all" is every one that an engine is known for.
	Systems []string `json:"systems"`

	// One of these: the devices there are, or the load to carry in requests per second,
	// as one rate or as rates over equal parts of a day.
	Devices int       `json:"gpus,omitempty"`
	Rate    float64   `json:"rate,omitempty"`
	Daily   []float64 `json:"daily,omitempty"`

	// Workloads share the deployment.
	Workloads []session.Workload `json:"workloads"`

	Limits workload.Limits `json:"limits,omitzero"`
	// Percentile at which latencies are held to the limits; 0 = their mean.
	Percentile float64 `json:"percentile,omitempty"`
	// Confidence with which predictions must meet the limits; 0 = 0.5.
	Confidence float64 `json:"confidence,omitempty"`

	// Engines and Modes are compared; nil = all that run on a system.
	Engines []string                 `json:"engines,omitempty"`
	Modes   []experiment.ServingMode `json:"modes,omitempty"`
	// EnginePreset names published settings of engines; those without such a preset run
	// with their defaults.
	EnginePreset string `json:"engine_preset,omitempty"`

	Formats         deployment.Formats `json:"formats,omitzero"`
	MTP             int                `json:"nextn,omitempty"`
	AcceptanceRates []float64          `json:"nextn_accept_rates,omitempty"`

	// Prices are US dollars for an hour of one device, by system; others have the list
	// price of their profile.
	Prices map[string]float64 `json:"prices,omitempty"`
	// EnergyPrice is US dollars for a kilowatt-hour, which costs add to the price of the
	// devices; null = 0.08, 0 leaves energy out.
	EnergyPrice *float64 `json:"energy_price,omitempty"`
	// NoChanges leaves out what would change the answer.
	NoChanges bool `json:"no_changes,omitempty"`
	session.Sources

	Jobs int `json:"-"` // workers, which no answer depends on; 0 = 8
}

// Response is the answer to a Request.
type Response struct {
	Request Request // complete
	Model   string
	// RankedBy says what the contenders are ranked by.
	RankedBy  RankedBy
	Workloads []session.PlanWorkload
	// Contenders are the best deployments of every system, engine and mode: those
	// within the limits first, the best of them first.
	Contenders []Contender
	// Failed are the systems, engines and modes without one.
	Failed []NotRun

	// What follows is about the first contender.

	// Changes are what would change the answer, one change each.
	Changes []Change
	// Loads are its figures with fewer and with more requests in flight.
	Loads []LoadPoint
	// Pools are its workers, with a prefill and a decode step by operator.
	Pools []estimate.Pool
	// Series is the state of the cluster over the simulated run.
	Series []sim.Point
	// Day is the devices and the cost over a day; nil unless rates over a day were given.
	Day   *Day
	Notes []string
}

// Contender is the best deployment of one system, engine and mode.
type Contender struct {
	Experiment experiment.Experiment // complete
	experiment.Option

	// Meets says that the limits are met with the confidence asked for. Where they are
	// not, the option is the nearest one, and Nearest are limits that it meets.
	Meets    bool
	Nearest  workload.Limits
	Experts  bool
	Tier     device.Tier
	Cost     money.Cost
	Frontier []experiment.Speed
	Notes    []string
}

// RankedBy is what contenders are ranked by.
type RankedBy string

// The orders: throughput per device and fewest devices, or what either costs where
// systems with known prices are compared.
const (
	ByThroughput RankedBy = "tokens/s per GPU"
	ByTokenCost  RankedBy = "cost of output tokens"
	ByDevices    RankedBy = "GPUs"
	ByCost       RankedBy = "cost per month"
)

// NotRun is a system, engine and mode that cannot serve the model, with the reason.
type NotRun struct {
	System string `json:"system"`
	Engine string `json:"engine"`
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
}

// Change is the answer with one thing changed.
type Change struct {
	What string // "TPOT limit 20 ms instead of 10 ms"
	// Request asks for it.
	Request Request
	// Best is the contender then, nil if none meets the limits and Failure says why it
	// cannot be run.
	Best    *Contender
	Failure string
	// Ratio is the throughput per device over that of the answer; where a load is given,
	// the devices needed over those of the answer. 0 where either does not meet the limits.
	Ratio       float64
	WithinError bool
}

// LoadPoint is the figures of a deployment with a number of requests in flight.
type LoadPoint struct {
	Concurrency    int
	TTFT, TPOT     units.Seconds
	TTFT95, TPOT95 units.Seconds
	Throughput     float64 // output tokens per second
	RequestRate    float64
	Chance         float64
	Expected       calibration.Expected
}

// Day is what a fleet needs over a day.
type Day struct {
	Devices []int // that each part of the day needs
	Mean    float64
	// PerMonth is the cost in US dollars with only these; 0 where no price is known.
	PerMonth float64
}
