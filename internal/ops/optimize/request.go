package optimize

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Request asks for the deployments with the most throughput.
type Request struct {
	_ struct{} `anyOf:"input_length,length_distribution"`

	Model      string   `json:"model" required:"true" minLength:"1"`
	AsFamily   string   `json:"as_family,omitempty"`                                   // as in a deployment
	Devices    []string `json:"devices,omitempty"`                                     // nil = TEST_DEVICE
	NumDevices int      `json:"num_devices,omitempty" minimum:"1" maximum:"100000000"` // 0 = 1
	session.Sources

	Formats   deployment.Formats   `json:"formats,omitzero"`
	Modelling deployment.Modelling `json:"modelling,omitzero"`

	Input        int                    `json:"input_length,omitempty" minimum:"1" maximum:"100000000"`
	Distribution *workload.Distribution `json:"length_distribution,omitempty"`
	Output       int                    `json:"output_length" required:"true" minimum:"1" maximum:"100000000"`

	Disagg         bool `json:"disagg,omitempty"`
	PDRatio        bool `json:"pd_ratio,omitempty"`
	PrefillDevices int  `json:"prefill_devices_per_instance,omitempty" minimum:"1" maximum:"100000000"`
	DecodeDevices  int  `json:"decode_devices_per_instance,omitempty" minimum:"1" maximum:"100000000"`

	// Limits: 0 is none; infinity is no limit either, but if disaggregated it still
	// requests its phase.
	Limits        workload.Limits `json:"limits,omitzero"`
	Budget        int             `json:"max_batched_tokens,omitempty" minimum:"1" maximum:"100000000"` // of a step and DP rank; 0 = 8192, or the engine's
	AutoBudget    bool            `json:"auto_budget,omitempty"`                                        // from the prompt length instead
	PrefixHitRate float64         `json:"prefix_cache_hit_rate,omitempty" minimum:"0" exclusiveMaximum:"1"`
	ServingCost   units.Seconds   `json:"serving_cost_s,omitempty" minimum:"0" maximum:"1000000"`
	BatchRange    []int           `json:"batch_range,omitempty" minimum:"1" maximum:"100000000" maxItems:"2"`
	// ReservedGiB is kept free on each device. Nil is 10 on Ascend devices, and what
	// the engine leaves free elsewhere.
	ReservedGiB *float64            `json:"reserved_memory_gb,omitempty" minimum:"0" maximum:"1000000"`
	Accounting  formulas.Accounting `json:"accounting,omitempty"` // "" = documented

	Space           search.Space `json:"space,omitzero"`
	AcceptanceRates []float64    `json:"mtp_acceptance_rates,omitempty" minimum:"0" maximum:"1"`
	Draft           Draft        `json:"draft,omitzero"`

	ImageHeight int `json:"image_height,omitempty" minimum:"1" maximum:"65536"`
	ImageWidth  int `json:"image_width,omitempty" minimum:"1" maximum:"65536"`
	ImageBatch  int `json:"image_batch_size,omitempty" minimum:"1" maximum:"100000000"`

	// Evaluate is how candidates are evaluated; "" = by simulation on devices whose
	// operator times are fitted to measured kernels, by the formulas elsewhere and for
	// what only they support. The others are for simulations: the engine, "" = vLLM;
	// the share of a length from which lengths are uniform, 0 = 1; and the probability
	// with which a row must meet the limits, 0 = 0.5.
	Evaluate   Evaluation        `json:"evaluate,omitempty"`
	Engine     deployment.Engine `json:"engine,omitzero"`
	LengthLow  float64           `json:"length_ratio_low,omitempty" exclusiveMinimum:"0" maximum:"1"`
	Confidence float64           `json:"confidence,omitempty" exclusiveMinimum:"0" exclusiveMaximum:"1"`

	// Price is the price of a device per hour, in USD; 0 = the profile's list price.
	Price float64 `json:"price,omitempty" exclusiveMinimum:"0" maximum:"1000000"`

	// Explain and Traces request explanations, and the steps behind the rows.
	Explain bool `json:"explain,omitempty"`
	Traces  bool `json:"traces,omitempty"`
	Jobs    int  `json:"-" minimum:"1" maximum:"100000000"` // workers, which no answer depends on; 0 = 8
}

// Evaluation is how candidates of a search are evaluated.
type Evaluation = searchrun.Evaluation

// The ways.
const (
	ByFormulas   = searchrun.ByFormulas
	BySimulation = searchrun.BySimulation
)

// The defaults of the Ascend guide.
const (
	DefaultBudget   = simulate.GuideBudget
	DefaultReserved = 10.0
)

// evaluation is how candidates are evaluated on a device; why says why a request
// that leaves it open is not simulated although the device could be.
func (r *Request) evaluation(d *device.Profile) (e Evaluation, why string) {
	switch {
	case r.Evaluate != "":
		return r.Evaluate, ""
	case d.FollowsAscend() || !prices.Best(d).Fitted():
		return ByFormulas, ""
	}
	if why = r.formulasOnly(); why != "" {
		return ByFormulas, "evaluated by the guide's formulas: " + why
	}
	return BySimulation, ""
}

// Simulates reports whether a search on a device simulates deployments.
func (r *Request) Simulates(d *device.Profile) bool {
	e, _ := r.evaluation(d)
	return e == BySimulation
}

// formulasOnly is why only the formulas support a request, "" if simulation does too.
func (r *Request) formulasOnly() string {
	switch {
	case r.PDRatio, r.Disagg:
		return "searches simulate aggregated deployments only"
	case r.Draft.Method != "":
		return "simulation does not support draft models"
	case r.ImageHeight > 0:
		return "simulation does not support images"
	case r.PrefixHitRate > 0:
		return "simulation does not support a fixed hit rate of the prefix cache"
	case r.ServingCost > 0:
		return "simulation has no serving cost"
	case r.Accounting != "":
		return "accounting chooses between formulas"
	case r.Modelling.Policy != "" && r.Modelling.Policy != graph.Physical().Name:
		return "engine times were not fitted with this policy"
	case r.Modelling.Pricing == prices.Roofline:
		return "engine times were not fitted with the roofline cost model"
	}
	return ""
}

// Completed is the request with its defaults filled in, as a response has it.
func (r Request) Completed() Request {
	r.complete()
	return r
}

// complete fills in the defaults.
func (r *Request) complete() {
	if r.Devices == nil && r.DeviceFile == "" {
		r.Devices = []string{step.DefaultDevice}
	}
	r.NumDevices = cmp.Or(r.NumDevices, 1)
	r.LengthLow, r.Confidence = cmp.Or(r.LengthLow, 1), cmp.Or(r.Confidence, search.DefaultConfidence)
	r.Engine.Name = cmp.Or(r.Engine.Name, simulate.DefaultEngine)
	r.Formats.MXFP4Group = cmp.Or(r.Formats.MXFP4Group, graph.DefaultMXFP4Group)
	r.Modelling.Images = r.ImageHeight > 0
	r.Modelling.Draft = r.Draft.graph()
}

// Draft is speculation by a draft model that proposes a block of tokens.
type Draft struct {
	Method   string  `json:"method" enum:",dflash,dspark"`     // "dflash" or "dspark", "" = none
	Block    int     `json:"block" minimum:"0" maximum:"1024"` // tokens verified in a step
	Accepted float64 `json:"accepted" minimum:"0" maximum:"1024"`
	Layers   int     `json:"layers" minimum:"0" maximum:"1024"`
}

// graph is the part of a draft that costs time.
func (d Draft) graph() graph.Draft {
	if d.Method == "" {
		return graph.Draft{}
	}
	return graph.Draft{Layers: d.Layers, Block: d.Block}
}

// label is the draft as it stands behind a layout.
func (d Draft) label() string {
	name := map[string]string{"dflash": "DFlash", "dspark": "DSpark"}[d.Method]
	return fmt.Sprintf(" | %s=%d/acc=%s", name, d.Block, strconv.FormatFloat(d.Accepted, 'g', -1, 64))
}

// phase is one search: what is asked of how many devices within which limits.
type phase struct {
	mode    search.Mode
	devices int
	limits  workload.Limits
}

// phases are the searches a request asks for.
func (r *Request) phases() []phase {
	l := r.Limits.Finite()
	ttft, tpot := workload.Limits{TTFT: l.TTFT}, workload.Limits{TPOT: l.TPOT}
	if r.PDRatio {
		return []phase{{search.PrefillOnly, r.PrefillDevices, ttft}, {search.DecodeOnly, r.DecodeDevices, tpot}}
	}
	if !r.Disagg {
		return []phase{{search.Aggregated, r.NumDevices, l}}
	}
	var out []phase
	if r.Limits.TTFT > 0 {
		out = append(out, phase{search.PrefillOnly, r.NumDevices, ttft})
	}
	if r.Limits.TPOT > 0 {
		out = append(out, phase{search.DecodeOnly, r.NumDevices, tpot})
	}
	return out
}

// largest is the most devices a phase has, and the field that says so.
func (r *Request) largest() (name field.Name, devices int) {
	switch {
	case !r.PDRatio:
		return "num_devices", r.NumDevices
	case r.PrefillDevices >= r.DecodeDevices:
		return prefillDevices, r.PrefillDevices
	default:
		return decodeDevices, r.DecodeDevices
	}
}
