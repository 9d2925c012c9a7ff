package plan

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Schema names the format of a [Response]; an incompatible change gets a new number.
const Schema = "plimsoll/plan/2"

// Response is the record of a plan: request, answer and the data behind it. The same
// program gives the same bytes for the same request through every interface. Reports
// are made from it alone.
type Response struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // of the program
	Data    []Data `json:"data"`    // embedded data behind the figures
	// Command is the command line of this plan, Request the request in JSON.
	Command string  `json:"command"`
	Request Request `json:"request"`

	Model  string `json:"model"`
	Answer Answer `json:"answer"`
	// Contenders are the best deployments of each system, engine and mode (of each system, if there are more than
	// eight), ranked by RankedBy; those that do not meet the limits come last.
	RankedBy   RankedBy    `json:"ranked_by"`
	Contenders []Contender `json:"contenders"`
	NotRun     []NotRun    `json:"not_run"`

	// The rest describes the first contender. Where it does not meet the limits, or there is none because the model does not fit,
	// the changes are those that help, and their requests compare engines and modes as this one does.

	Changes   []Change               `json:"changes"`
	Loads     []Load                 `json:"loads"`
	Pools     []estimate.Pool        `json:"pools"`
	Why       *Why                   `json:"why,omitempty"`
	Drafting  *Drafting              `json:"drafting,omitempty"` // missing without drafts
	Timeline  []Moment               `json:"timeline"`
	Minute    *statistics.Timeline   `json:"minute,omitempty"` // of some of its replicas
	Workloads []session.PlanWorkload `json:"workloads"`
	Day       *Day                   `json:"day,omitempty"`
	Next      []Next                 `json:"next"`
	Notes     []string               `json:"notes"`
	Caution   string                 `json:"caution"`
}

// Data is embedded data by its hash.
type Data struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Answer is the result of a plan in words.
type Answer struct {
	Meets bool `json:"meets_limits"`
	// Sentence is the answer in a sentence, Reason what limits it.
	Sentence string `json:"sentence"`
	Reason   string `json:"reason"`
	// UsualLimits are the limits used because none were given.
	UsualLimits string `json:"usual_limits,omitempty"`
	// Nearest are the closest limits that can be met, if the requested ones cannot.
	Nearest *session.Limits `json:"nearest_limits,omitempty"`
	// Certainty is the probability that the limits are met, missing without limits. Safe is the answer at 90 % confidence, missing if
	// this answer has it, and without changes.
	Certainty *Certainty `json:"certainty,omitempty"`
	Safe      *Safe      `json:"safe,omitempty"`
	// AgainstAPI compares the cost with the price of an API, if one is given.
	AgainstAPI string `json:"against_api,omitempty"`
}

// Contender is the best deployment of one system, engine and mode.
type Contender struct {
	Name          string `json:"name"` // "h200_sxm vllm disagg"
	System        string `json:"system"`
	Engine        string `json:"engine"`
	EngineTitle   string `json:"engine_title"`
	EngineVersion string `json:"engine_version,omitempty"`
	Mode          string `json:"mode"`     // agg or disagg
	Deployment    string `json:"in_words"` // "4 replicas of TP 8"
	// Command is the command line of a plan with only this system, engine and mode.
	Command string `json:"command,omitempty"`
	Meets   bool   `json:"meets_limits"`
	// Spare replicas exceed what the load needs; figures are those with this many replicas down.
	Spare       int `json:"spare_replicas,omitempty"`
	GPUs        int `json:"gpus_used"`
	GPUsGiven   int `json:"gpus"`
	NodeGPUs    int `json:"gpus_per_node"` // of a node of the system
	Concurrency int `json:"concurrency"`
	Batch       int `json:"batch_size"`

	// The figures, and the means and 95th percentiles of latencies beside those that limits apply to.
	figures.Record

	Mean figures.Latencies `json:"mean"`
	P95  figures.Latencies `json:"p95"`
	// GoodShare is the share of the simulated requests within all limits, Goodput their rate in requests per second; null
	// without limits.
	GoodShare *float64 `json:"good_share"`
	Goodput   *float64 `json:"goodput_per_s"`
	BoundBy   string   `json:"bound_by,omitempty"`
	// Load is the share of its capacity in use, if a rate was requested. All figures but those of Capacity are then at that
	// rate.
	Load     *float64  `json:"load,omitempty"`
	Capacity *Carried  `json:"capacity,omitempty"`
	Cost     *Cost     `json:"cost"` // null if no price is known
	Sessions *Sessions `json:"sessions,omitempty"`
	// CachedShare is the prefix-cache hit rate in prompt tokens, of requests outside sessions.
	CachedShare float64            `json:"prefix_cached_share,omitempty"`
	Energy      *simulate.Energy   `json:"energy,omitempty"`
	Memory      engine.Budget      `json:"memory"`
	KVPeak      float64            `json:"kv_use_peak"`
	KVTokens    int                `json:"kv_tokens"`
	Tier        device.Tier        `json:"tier"`
	Nearest     *session.Limits    `json:"nearest_limits,omitempty"`
	Frontier    []experiment.Speed `json:"frontier"`
	// Guide is the prediction of the formulas of Ascend's guide for the same deployment and load, on Ascend devices.
	Guide *simulate.Guide `json:"guide,omitempty"`
	// Why explains its figures; for the first contender see the plan's. Missing without changes.
	Why *Why `json:"why,omitempty"`

	// Links are the levels of the system's interconnect, outermost first. KVFlow is missing if no KV caches are sent.
	Links  []device.LinkFacts    `json:"links,omitempty"`
	KVFlow *KVFlow               `json:"kv_flow,omitempty"`
	Run    deployment.Deployment `json:"deployment"`

	Found Found `json:"-"`
}

// Cost is what a deployment costs in US dollars.
type Cost struct {
	PerGPUHour float64 `json:"usd_per_gpu_hour"`
	Source     string  `json:"source"`
	// Class is the kind of price: on_demand and gpu_cloud (list prices of large clouds and of GPU clouds), reserved, spot or yours. Apart says
	// why it is not compared with prices of another class; "" if it is.
	Class      device.PriceClass `json:"price_class"`
	Date       string            `json:"price_date,omitempty"`
	Region     string            `json:"price_region,omitempty"`
	Apart      string            `json:"not_compared,omitempty"`
	PerMillion figures.Estimate  `json:"usd_per_million_output_tokens"`
	PerRequest figures.Estimate  `json:"usd_per_request"`
	PerMonth   float64           `json:"usd_per_month"` // 730 hours
	// Energy is the energy part of the cost of output tokens, EnergyPrice the price of a
	// kilowatt-hour; missing if the power of the device is unknown.
	Energy      float64 `json:"energy_usd_per_million_output_tokens,omitempty"`
	EnergyPrice float64 `json:"energy_usd_per_kwh,omitempty"`
	// Scaled is the cost per month if the number of GPUs follows the load over the day.
	Scaled *float64 `json:"usd_per_month_scaled,omitempty"`
	// API compares the cost with the price of an API, if one is given.
	API *AgainstAPI `json:"api,omitempty"`
}

// AgainstAPI compares the cost of a deployment with that of an API.
type AgainstAPI struct {
	PerRequest float64 `json:"api_usd_per_request"`
	// Ratio is the cost of a request over that of the API, at the same throughput as the other costs.
	Ratio float64 `json:"ratio"`
	// BreakEven is the request rate above which the deployment is cheaper, with all its GPUs paid for, and BreakEvenLoad the same as a share of
	// its capacity: above 1 the API is cheaper at any load.
	BreakEven     float64 `json:"break_even_rate"`
	BreakEvenLoad float64 `json:"break_even_load"`
}

// Change is the answer with one parameter changed.
type Change struct {
	What string `json:"what"`
	// Command is the command line of the changed plan, Request its request.
	Command string  `json:"command"`
	Request Request `json:"request"`
	Meets   bool    `json:"meets_limits"`
	Failure string  `json:"failure,omitempty"`
	// Ratio is tokens per second per GPU over that of the answer, or the number of GPUs if a
	// load was given. Unavailable values are null.
	TokensPerGPU *float64 `json:"tokens_per_second_gpu"`
	GPUs         *int     `json:"gpus_used"`
	RequestRate  *float64 `json:"request_rate"`
	PerMillion   *float64 `json:"usd_per_million_output_tokens"`
	PerMonth     *float64 `json:"usd_per_month"`
	Ratio        *float64 `json:"ratio"`
	// WithinError reports whether the difference is within the prediction error.
	WithinError bool   `json:"within_error"`
	Deployment  string `json:"in_words,omitempty"`
	// Nearest are the closest limits it meets, if the model fits but misses the limits.
	Nearest *session.Limits `json:"nearest_limits,omitempty"`
	// Safe marks the change to a higher confidence.
	Safe bool `json:"safe,omitempty"`

	Found *Found `json:"-"` // nil if it cannot be run
}

// Carried is the largest load that a deployment carries within the limits.
type Carried struct {
	RequestRate figures.Estimate `json:"request_rate"`
	Tokens      figures.Estimate `json:"tokens_per_second"`
	Concurrency int              `json:"concurrency"`
}

// Load is the answer's deployment at a concurrency.
type Load struct {
	Concurrency int              `json:"concurrency"`
	Tokens      figures.Estimate `json:"tokens_per_second"`
	RequestRate float64          `json:"request_rate"`
	// Judged are the latencies that limits apply to; the following are means and 95th percentiles.
	Judged figures.Latencies `json:"judged"`
	Mean   figures.Latencies `json:"mean"`
	P95    figures.Latencies `json:"p95"`
}

// Moment is the state of the cluster in the simulated run.
type Moment struct {
	At      units.Seconds `json:"second"`
	Waiting int           `json:"waiting"`
	Running int           `json:"running"`
	KV      float64       `json:"kv_use"`
}

// Day is the number of GPUs over the day for a varying load, and a schedule that follows it.
type Day struct {
	Rates []float64 `json:"rates"`
	GPUs  []int     `json:"gpus"` // that each part needs
	// ColdStart is the time to start a replica in seconds. Scheduled replicas start this long before they are needed.
	ColdStart float64 `json:"cold_start_s"`
	Schedule  []Shift `json:"schedule"`
	// Mean and Hours are the schedule's average number of GPUs and its GPU-hours per day, SavedHours the savings against
	// running the peak fleet all day, with their price; null if none is known.
	Mean          float64  `json:"mean_gpus"`
	Hours         float64  `json:"gpu_hours_per_day"`
	SavedHours    float64  `json:"saved_gpu_hours_per_day"`
	SavedPerDay   *float64 `json:"saved_usd_per_day"`
	SavedPerMonth *float64 `json:"saved_usd_per_month"`
}

// Shift is a period of the day with a constant number of replicas, serving or starting.
type Shift struct {
	From     string `json:"from"` // 05:57:14
	Until    string `json:"until"`
	Replicas int    `json:"replicas"`
	GPUs     int    `json:"gpus"`
}

// Next is a command to run next.
type Next struct {
	What    string `json:"what"`
	Command string `json:"command"`
}

// newResponse is a response without contenders.
func newResponse(r Request) *Response {
	return &Response{
		Schema: Schema, Data: dataHashes(), Request: r, Contenders: []Contender{}, NotRun: []NotRun{}, Changes: []Change{}, Loads: []Load{},
		Pools: []estimate.Pool{}, Timeline: []Moment{}, Workloads: []session.PlanWorkload{}, Next: []Next{}, Notes: []string{}, Caution: session.Caution,
	}
}

// Complete adds the version of the program and the command lines of requests.
func (r *Response) Complete(version string) {
	r.Version, r.Command = version, r.Request.CommandLine()
	for i := range r.Contenders {
		alone := r.Request.Alone(&r.Contenders[i])
		r.Contenders[i].Command = alone.CommandLine()
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.Command = c.Request.CommandLine(); c.Safe && r.Answer.Safe != nil {
			r.Answer.Safe.Command = c.Command
		}
	}
	r.Next = nextOf(r)
}

// Alone is the request for a contender alone, which then comes first and with all details.
func (r *Request) Alone(c *Contender) Request {
	out := *r
	out.Engines, out.Modes, out.NoChanges = []string{c.InRelease()}, []experiment.ServingMode{experiment.ServingMode(c.Mode)}, true
	if r.DeviceFile == "" {
		out.Systems = []string{c.System}
	}
	return out
}

// dataHashes lists the data that answers depend on: not those of tests, nor the words and pictures of faces.
func dataHashes() []Data {
	out := []Data{}
	for _, e := range provenance.Entries() {
		if strings.Contains(e.Path, "/testdata") || strings.HasPrefix(e.Path, "internal/face/") {
			continue
		}
		out = append(out, Data{e.Path, e.SHA256})
	}
	return out
}
