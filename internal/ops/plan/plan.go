package plan

import (
	"encoding/json"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Request asks how to serve a model within limits: which system, engine, mode and
// layout carry the most on a number of devices, or carry a load on the fewest.
type Request struct {
	Model string `json:"model"`
	// Config is the content of a model's config.json. The model is then only a name.
	Config json.RawMessage `json:"config,omitempty"`
	// Systems are compared; "all" is every one that an engine is known for.
	Systems []string `json:"systems"`

	// One of these: the devices there are, or the load to carry in requests per second, or sessions per second where
	// workloads are sessions, as one rate or as rates over equal parts of a day.
	Devices int       `json:"gpus,omitempty"`
	Rate    float64   `json:"rate,omitempty"`
	Daily   []float64 `json:"daily,omitempty"`
	// Process is how requests of a load come to a replica: poisson (the default), gamma or constant; Variation is the coefficient of variation
	// of the times between the requests that reach a replica with gamma arrivals, 1 as poisson, above it in bursts.
	Process   sim.Process `json:"arrival,omitempty"`
	Variation float64     `json:"arrival_variation,omitempty"`
	// Spare replicas are added to those that the load needs, so that as many may fail.
	Spare int `json:"spare,omitempty"`
	// ColdStart is the seconds to start a replica, for the schedule of Daily; null = by the size of the weights.
	ColdStart *float64 `json:"cold_start_s,omitempty"`
	// Utilization is the most share of the capacity that the load may take; 0 = 1.
	Utilization float64 `json:"utilization,omitempty"`

	// Workloads share the deployment.
	Workloads []session.Workload `json:"workloads"`

	// Limits, if none is set, are those usual for the presets of the workloads, or for chat.
	Limits workload.Limits `json:"limits,omitzero"`
	// NoLimits plans for throughput alone, whatever the latency.
	NoLimits bool `json:"no_limits,omitempty"`
	workload.Statistic

	// Confidence with which predictions must meet the limits; 0 = 0.5.
	Confidence float64 `json:"confidence,omitempty"`

	// Engines are compared, with their release where it is not the newest ("vllm@0.24.0"); nil = all that run on a system.
	Engines []string `json:"engines,omitempty"`
	// Modes are compared; nil = all.
	Modes []experiment.ServingMode `json:"modes,omitempty"`
	// EnginePreset names published settings of engines; those without such a preset run
	// with their defaults.
	EnginePreset string `json:"engine_preset,omitempty"`

	// Routing is policy that routes requests to replicas: round-robin (""), least-loaded, session, prefix, llm-d, dynamo or sglang.
	Routing string `json:"routing,omitempty"`
	// Host is memory of the hosts for what prefix caches evict.
	Host deployment.HostCache `json:"host_cache,omitzero"`

	Formats deployment.Formats `json:"formats,omitzero"`
	// Draft is how tokens are drafted: "auto" searches none and what the model has, "none" is the default; "mtp", "eagle3" and "ngram"
	// draft so, with the number of tokens behind a colon ("mtp:2") or the best of 1 to 3.
	Draft           string    `json:"draft,omitempty"`
	MTP             int       `json:"nextn,omitempty"` // the same as Draft mtp:N
	AcceptanceRates []float64 `json:"nextn_accept_rates,omitempty"`

	// Prices are US dollars for an hour of one device, by system; others have the list
	// price of their profile.
	Prices map[string]float64 `json:"prices,omitempty"`
	// EnergyPrice is US dollars for a kilowatt-hour, which costs add to the price of the
	// devices; null = 0.08, 0 leaves energy out.
	EnergyPrice *float64 `json:"energy_price,omitempty"`
	// API, if not null, is what an API charges for the same model: costs are set against it.
	API *APIPrice `json:"api_price,omitempty"`
	// NoChanges leaves out what would change the answer.
	NoChanges bool `json:"no_changes,omitempty"`
	session.Sources

	Jobs int `json:"-"` // workers, which no answer depends on; 0 = 8
}

// APIPrice is US dollars for a million tokens of an API.
type APIPrice struct {
	Input  float64 `json:"usd_per_million_input_tokens"`
	Output float64 `json:"usd_per_million_output_tokens"`
}

// RankedBy is what contenders are ranked by.
type RankedBy string

// The orders: throughput per device and fewest devices, or what either costs where
// systems with known prices are compared; prices of one class only, since those of others cannot be compared. A load over a day is ranked by the schedule that follows it.
const (
	ByThroughput RankedBy = "tokens/s per GPU"
	ByTokenCost  RankedBy = "cost of output tokens"
	ByDevices    RankedBy = "GPUs"
	ByCost       RankedBy = "cost per month"
	ByHours      RankedBy = "GPU-hours per day"
	ByDayCost    RankedBy = "cost per month of the schedule"
)

// NotRun is a system, engine and mode that cannot serve the model, with the reason.
type NotRun struct {
	System string `json:"system"`
	Engine string `json:"engine"`
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
}
