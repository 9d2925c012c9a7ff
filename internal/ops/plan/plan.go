package plan

import (
	"encoding/json"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Request asks how to serve a model within limits: which system, engine, mode and
// layout carry the most on a number of devices, or carry a load on the fewest.
type Request struct {
	_ struct{} `anyOf:"model,config systems,device_file gpus,rate,daily"`

	Model string `json:"model"`
	// Config is the content of a model's config.json. The model is then only a name.
	Config json.RawMessage `json:"config,omitempty"`
	// Systems to compare; "all" means every system that an engine supports.
	Systems []string `json:"systems"`

	// One of these: the devices available, or the load to carry in requests per second (sessions per second if
	// workloads are sessions), as one rate or as rates over equal parts of a day.
	Devices int       `json:"gpus,omitempty" minimum:"1" maximum:"32768"`
	Rate    float64   `json:"rate,omitempty" exclusiveMinimum:"0" maximum:"1000000"`
	Daily   []float64 `json:"daily,omitempty" minimum:"0" maximum:"1000000" minItems:"1" maxItems:"1440"`
	// Process is the arrival process of a load at a replica: poisson (the default), gamma or constant; Variation is the coefficient of
	// variation of gamma arrivals at a replica: 1 is Poisson, higher is burstier.
	Process   traffic.Process `json:"arrival,omitempty"`
	Variation float64         `json:"arrival_variation,omitempty" minimum:"0" maximum:"100"`
	// Spare replicas are added to those that the load needs, so that this many may fail.
	Spare int `json:"spare,omitempty" minimum:"0" maximum:"32768"`
	// ColdStart is the time to start a replica in seconds, for the schedule of Daily; null = derived from the size of the weights.
	ColdStart *float64 `json:"cold_start_s,omitempty" minimum:"0" maximum:"86400"`
	// Utilization is the maximum share of the capacity that the load may use; 0 = 1.
	Utilization float64 `json:"utilization,omitempty" exclusiveMinimum:"0" maximum:"1"`

	// Workloads that share the deployment.
	Workloads []session.Workload `json:"workloads" required:"true" minItems:"1"`

	// Limits default to those usual for the presets of the workloads, or for chat.
	Limits workload.Limits `json:"limits,omitzero"`
	// NoLimits ignores latency and plans for throughput.
	NoLimits bool `json:"no_limits,omitempty"`
	workload.Statistic

	// Confidence is the minimum probability of meeting the limits; 0 = 0.5.
	Confidence float64 `json:"confidence,omitempty" exclusiveMinimum:"0" exclusiveMaximum:"1"`

	// Engines to compare, with a release if it is not the newest ("vllm@0.24.0"); nil = all that run on a system.
	Engines []string `json:"engines,omitempty"`
	// Modes to compare; nil = all.
	Modes []experiment.ServingMode `json:"modes,omitempty"`
	// EnginePreset names published engine settings; engines without this preset use
	// their defaults.
	EnginePreset string `json:"engine_preset,omitempty"`

	// Routing is the policy that routes requests to replicas; "" = round-robin.
	Routing string `json:"routing,omitempty" enum:",round-robin,least-loaded,session,prefix,llm-d,dynamo,sglang"`
	// Host is host memory for KV blocks evicted from prefix caches.
	Host deployment.HostCache `json:"host_cache,omitzero"`

	Formats deployment.Formats `json:"formats,omitzero"`
	// Draft is the drafting method: "none" (the default), "mtp", "eagle3" or "ngram", followed by the number of draft tokens ("mtp:2"; default
	// the best of 1 to 3), or "auto", which compares none with the methods of the model.
	Draft           string    `json:"draft,omitempty"`
	MTP             int       `json:"nextn,omitempty" minimum:"1" maximum:"9"` // the same as Draft mtp:N
	AcceptanceRates []float64 `json:"nextn_accept_rates,omitempty" minimum:"0" maximum:"1"`

	// Prices are US dollars per device-hour, by system; other systems have the list
	// price of their profile.
	Prices map[string]float64 `json:"prices,omitempty" exclusiveMinimum:"0" maximum:"1000000"`
	// EnergyPrice is US dollars per kilowatt-hour, added to the price of the
	// devices; null = 0.08, 0 ignores energy.
	EnergyPrice *float64 `json:"energy_price,omitempty" minimum:"0" maximum:"1000000"`
	// API is the price of an API for the same model, to compare costs with.
	API *APIPrice `json:"api_price,omitempty"`
	// NoChanges skips the changes to the answer.
	NoChanges bool `json:"no_changes,omitempty"`
	session.Sources

	Jobs int `json:"-" minimum:"1" maximum:"100000000"` // workers, which no answer depends on; 0 = 8
}

// APIPrice is the price of an API in US dollars per million tokens.
type APIPrice struct {
	Input  float64 `json:"usd_per_million_input_tokens" required:"true" minimum:"0" maximum:"1000000"`
	Output float64 `json:"usd_per_million_output_tokens" required:"true" minimum:"0" maximum:"1000000"`
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
