package document

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// Optimize is the result of a search for programs. Field names are part of
// the contract; docs/throughput-optimizer.md describes them and
// docs/schema/throughput-optimizer.schema.json holds them.
type Optimize struct {
	// Command is the command line of this answer, Request the request in JSON.
	Command string            `json:"command,omitempty"`
	Request *optimize.Request `json:"request"`

	Mode       string         `json:"mode"` // aggregation, disaggregation, pd_ratio
	Model      string         `json:"model"`
	Accounting string         `json:"accounting"`
	Input      int            `json:"input_length,omitempty"`
	Bins       []workload.Bin `json:"length_distribution,omitempty"` // in place of input_length
	Output     int            `json:"output_length"`
	Limits     session.Limits `json:"limits"`
	Devices    []Device       `json:"devices"`
	Explain    []Explanation  `json:"explanations,omitempty"`
	Tables     *prices.Use    `json:"tables,omitempty"`
	Notes      []string       `json:"notes"` // on how the model is modelled
	Caution    string         `json:"caution"`
}

// Device is the search on one device.
type Device struct {
	Device    string   `json:"device"`
	MemoryGiB float64  `json:"memory_gib"`
	Price     *Price   `json:"price"` // null where none is known
	Searches  []Search `json:"passes"`
	Ratio     *Ratio   `json:"ratio,omitempty"`
}

// Price is what a device costs for an hour.
type Price struct {
	USDPerHour float64 `json:"usd_per_hour"`
	Source     string  `json:"source"`
}

// Search is one search. Best is null and Rows empty if no deployment meets the limits.
type Search struct {
	Phase string `json:"phase"` // aggregated, prefill, decode
	// Evaluation is formulas or simulation. For a simulation, Engine is the simulated engine
	// and Confidence the probability with which rows meet the limits.
	Evaluation string      `json:"evaluation"`
	Engine     string      `json:"engine,omitempty"`
	Confidence float64     `json:"confidence,omitempty"`
	NumDevices int         `json:"num_devices"`
	Policy     string      `json:"policy"`
	Pricing    string      `json:"pricing"`  // how operators are priced
	Compiled   bool        `json:"compiled"` // operators are fused
	Tier       string      `json:"tier"`     // how well the operators' prices are known
	Measured   float64     `json:"measured_share"`
	Best       *Row        `json:"best"`
	Rows       []Row       `json:"rows"`
	Candidates []Candidate `json:"candidates"`
	// Frontier is the best trade-offs between tokens per second and device and tokens per
	// second and user.
	Frontier []Point `json:"frontier"`
	// Safe is the deployment with the most throughput that meets the limits with a
	// probability of 0.9, null without limits or if there is none. Basis is the source of the
	// rows' intervals.
	Safe      *Safe           `json:"safe_choice"`
	Basis     string          `json:"interval_basis"`
	Nearest   *session.Limits `json:"nearest_limits"`
	Artefacts []step.Effect   `json:"artefacts"`
	Notes     []string        `json:"notes"`
}

// Row is a deployment at its best batch.
type Row struct {
	Parallel   string   `json:"parallel"`
	Throughput float64  `json:"throughput"`
	PerDevice  float64  `json:"throughput_per_device"`
	TTFT       *float64 `json:"ttft_ms"`
	TPOT       *float64 `json:"tpot_ms"`
	QPS        *float64 `json:"qps"`
	// Cost is in USD for a million tokens of the throughput, null without a price.
	Cost *float64 `json:"usd_per_million_tokens"`
	// Energy is missing where the power of the device is unknown, and of rows by formulas.
	Energy      *simulate.Energy `json:"energy,omitempty"`
	Concurrency int              `json:"concurrency"`
	Batch       int              `json:"batch_size"`
	NumDevices  int              `json:"num_devices"`
	Replicas    int              `json:"replicas"`
	Budget      int              `json:"max_batched_tokens"`
	// Settings are those of the engine that belong to a simulated row, as "key=value".
	Settings []string `json:"engine_settings,omitempty"`
	Chunks   int      `json:"prefill_chunks"`

	PrefillStep *float64   `json:"prefill_step_ms"`
	DecodeStep  *float64   `json:"decode_step_ms"`
	Prefill     *Breakdown `json:"prefill_breakdown"`
	Decode      *Breakdown `json:"decode_breakdown"`

	WeightGiB     float64 `json:"weight_gib"`
	KVGiB         float64 `json:"kv_cache_gib"`
	ActivationGiB float64 `json:"activation_gib"`
	AvailableGiB  float64 `json:"available_gib"`
	Binds         string  `json:"bound_by"` // limit of the batch size

	// Intervals hold a measurement with a probability of 0.8; Chance is the
	// probability that it meets the limits, null without limits.
	Intervals Intervals `json:"intervals80"`
	Chance    *float64  `json:"chance_within_limits"`

	Composition []Part `json:"composition,omitempty"` // of a batch of unequal prompts
}

// Intervals are the 80 % intervals of a row, null where it has no such
// figure.
type Intervals struct {
	Throughput *calibration.Interval `json:"throughput"`
	TTFT       *calibration.Interval `json:"ttft_ms"`
	TPOT       *calibration.Interval `json:"tpot_ms"`
}

// Point is a batch of a layout on the frontier.
type Point struct {
	Parallel  string  `json:"parallel"`
	Batch     int     `json:"batch_size"`
	PerDevice float64 `json:"throughput_per_device"`
	User      float64 `json:"tokens_per_s_per_user"`
}

// Safe is a deployment that meets the limits with a probability of 0.9.
type Safe struct {
	Parallel   string  `json:"parallel"`
	Batch      int     `json:"batch_size"`
	Throughput float64 `json:"throughput"`
	Chance     float64 `json:"chance_within_limits"`
}

// Part is the prompts of one length in the batch of a data-parallel rank.
type Part struct {
	Tokens  int     `json:"num_input_tokens"`
	Ratio   float64 `json:"request_ratio"`
	Samples int     `json:"samples"`
}

// Breakdown is the share of a step's bound time, in percent.
type Breakdown struct {
	Mem  float64 `json:"mem"`
	Comm float64 `json:"comm"`
	Cube float64 `json:"cube"`
	Vec  float64 `json:"vec"`
}

// Candidate is a layout that was tried.
type Candidate struct {
	Parallel string `json:"parallel"`
	TP       int    `json:"tp"`
	PP       int    `json:"pp"`
	DP       int    `json:"dp"`
	EP       int    `json:"ep"`
	MoETP    int    `json:"moe_tp"`
	MoEDP    int    `json:"moe_dp"`
	DCP      int    `json:"dcp"`
	Replicas int    `json:"replicas"` // of the layout
	MTP      int    `json:"mtp"`
	Feasible bool   `json:"feasible"`
	// Rejected is the limit that a rejected candidate violates, Reason explains it.
	Rejected string `json:"rejected_by,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Best     *Row   `json:"best"`
}

// Ratio is the matching of prefill and decode.
type Ratio struct {
	Pairs     []Pair     `json:"pairs"`
	Sustained *Sustained `json:"sustained"`
	// Instances carry the most within the devices, Nearest are closest to the ratio of
	// the first pair.
	Instances *Instances `json:"instances"`
	Nearest   *Instances `json:"nearest_ratio"`
}

// Sustained is the best row of each phase and the sustained rate of one instance of each.
type Sustained struct {
	PQPS    float64 `json:"p_qps"`
	DQPS    float64 `json:"d_qps"`
	Prefill Row     `json:"prefill"`
	Decode  Row     `json:"decode"`
}

// Pair is a prefill and a decode deployment.
type Pair struct {
	Ratio    float64 `json:"pd_ratio"`
	Balanced float64 `json:"balanced_qps"`
	PQPS     float64 `json:"p_qps"`
	DQPS     float64 `json:"d_qps"`
	// PSustained is the sustained rate of one prefill instance of the layout.
	PSustained float64 `json:"p_sustained_qps"`
	Prefill    Row     `json:"prefill"`
	Decode     Row     `json:"decode"`

	// Interval is that of the balanced rate; Chance is the probability that both
	// phases meet their limits, null without limits.
	Interval *calibration.Interval `json:"balanced_qps_80"`
	Chance   *float64              `json:"chance_within_limits"`
}

// Instances is the split of the device budget.
type Instances struct {
	Prefill int     `json:"prefill"`
	Decode  int     `json:"decode"`
	QPS     float64 `json:"system_qps"`
}
