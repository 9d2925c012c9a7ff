package experiment

import (
	"errors"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Result is the answer to one experiment.
type Result struct {
	Experiment Experiment `json:"request"` // complete
	// Failure is why the experiment could not be run; "" if it was.
	Failure string      `json:"failure,omitempty"`
	Tier    device.Tier `json:"tier,omitempty"`
	// Rows are the best deployments within the limits, one for each layout that
	// decodes: the most throughput first, or the fewest devices that carry a load.
	Rows []Option `json:"rows"`
	// Near is the deployment nearest to the limits where none is within them, Feasible
	// limits that it meets.
	Near     *Option         `json:"nearest,omitempty"`
	Feasible *session.Limits `json:"nearest_limits,omitempty"`
	Nearest  workload.Limits `json:"-"` // the same
	// Frontier is the trade-off of speed for a user and throughput of a device, if requested.
	Frontier []Speed `json:"frontier,omitzero"`
	// Rejected are the layouts that cannot be run, and in a table those without a row, each with its reason.
	Rejected []string `json:"rejected,omitempty"`
	Left     []Left   `json:"-"` // the same
	Notes    []string `json:"notes"`
	Experts  bool     `json:"-"`
	// Score is that of the best row.
	Score float64 `json:"-"`
}

// Left is a layout without a row, of workers for prefill or of those that generate, and why.
type Left struct {
	Layout  parallel.Layout
	Prefill bool
	Why     string
	Kind    string // of reasons that many layouts have, each with other figures; "" for others
}

// kind is the kind of an error of a layout that cannot be run.
func kind(err error) string {
	switch {
	case errors.Is(err, replica.ErrNoCache):
		return "not enough memory"
	case errors.Is(err, launch.ErrLayout):
		return "the engine cannot run such a layout"
	}
	return ""
}

// Option is a deployment with its figures. Simulating the deployment at the concurrency
// gives them again.
type Option struct {
	*Need
	// Figures by the statistic that limits apply to, and the record that shows them.
	figures.Figures `json:"-"`
	figures.Record

	RequestRate float64        `json:"-"` // as in the record
	Binds       search.Verdict `json:"bound_by,omitempty"`
	Concurrency int            `json:"concurrency"`
	// Copies of X prefill and Y decode workers, or of one worker that does both (X 0).
	Copies int `json:"replicas"`
	X      int `json:"prefill_workers"`
	Y      int `json:"decode_workers"`
	Used   int `json:"gpus_used"` // devices
	// Spare of the copies are more than a load needs: figures are without them.
	Spare int `json:"-"`
	// Batch is the largest batch of a data-parallel rank, Prompts that of one for
	// prefill.
	Batch   int `json:"batch_size"`
	Prompts int `json:"prefill_batch_size,omitempty"`
	// Budget is the most tokens of a step of the workers that compute prompts.
	Budget int         `json:"token_budget"`
	Memory units.InGiB `json:"memory_gib"` // of a device that generates
	// Energy is nil where the power of a device is unknown or nobody asked for it.
	Energy *simulate.Energy `json:"energy,omitempty"`
	// Deployment is whole.
	Deployment deployment.Deployment `json:"deployment"`

	// Run is the simulation that the figures are of, of some of the copies; nil of points of a trade-off that were not simulated again.
	Run     *simulate.Response `json:"-"`
	Version string             `json:"-"` // of the engine
	// Turns is the requests of a session that starts, 1 where they come by themselves. Cached is the share of prompt tokens found in a cache, Hosted of
	// those found in the host cache, where requests share any.
	Turns          float64 `json:"-"`
	Cached, Hosted float64 `json:"-"`
	// Sampled is how many of the copies are simulated to show what all carry.
	Sampled int `json:"-"`
	// Load is the share of its capacity that a given load uses, 0 without one. All figures
	// are then at the load, but for Capacity. Least is the copies by the capacity of one.
	Load     float64  `json:"-"`
	Least    int      `json:"-"`
	Capacity Capacity `json:"-"`
}

// Need is what a load needs of a deployment that carries it.
type Need struct {
	Replicas int     `json:"replicas_needed"`
	GPUs     int     `json:"total_gpus_needed"`
	Least    int     `json:"replicas_by_capacity"`
	Load     float64 `json:"load"` // share of the capacity in use
}

// present adds what follows from the figures of an experiment.
func (x *Result) present() {
	x.Rows, x.Notes = append([]Option{}, x.Rows...), append([]string{}, x.Notes...)
	for i := range x.Rows {
		x.Rows[i].present(&x.Experiment)
	}
	for _, l := range x.Left {
		role := ""
		switch {
		case l.Prefill:
			role = "prefill "
		case x.Experiment.Mode == Disaggregated:
			role = "decode "
		}
		x.Rejected = append(x.Rejected, role+l.Layout.Label(x.Experts)+": "+l.Why)
	}
	if x.Near != nil {
		x.Near.present(&x.Experiment)
		x.Feasible = session.LimitsOf(x.Nearest)
	}
}

func (o *Option) present(e *Experiment) {
	x := &o.Run.Expected
	o.Record = figures.Record{Rates: x.Rates(o.Throughput, o.RequestRate, o.Devices(e), o.TPOT), Judged: o.Run.Judged, Basis: x.Basis}
	if o.Load > 0 { // the load is given
		o.Rates = o.Given()
	}
	if o.Load > 0 {
		o.Need = &Need{o.Copies, o.Used, o.Least, o.Load}
	}
}

// Capacity is the most load within the limits. Without a given load an option's figures are
// those of its capacity.
type Capacity struct {
	Throughput, RequestRate float64 // output tokens and requests per second
	Concurrency             int     // requests in flight
}

// Speed is one point of a trade-off.
type Speed struct {
	User   float64 `json:"tokens_per_second_user"`
	Device float64 `json:"tokens_per_second_gpu"`
	// The deployment of a plan's point in words, its GPUs, times by the statistic that limits apply to, and the price of a million output tokens without energy; left out elsewhere.
	Deployment string  `json:"in_words,omitempty"`
	GPUs       int     `json:"gpus_used,omitempty"`
	TTFT       float64 `json:"ttft_ms,omitempty"`
	TPOT       float64 `json:"tpot_ms,omitempty"`
	PerMillion float64 `json:"usd_per_million_output_tokens,omitempty"`
	// Option is the deployment: a row, or one without what only rows are simulated for (memory, energy, errors).
	Option *Option `json:"-"`
}

// Devices is those that are paid for: all of an experiment, or those that a load needs.
func (o *Option) Devices(e *Experiment) int {
	if o.Load > 0 {
		return o.Used
	}
	return e.Devices
}

// PerDevice is the throughput per device of an experiment, idle ones included.
func (o *Option) PerDevice(e *Experiment) float64 { return o.Throughput / float64(o.Devices(e)) }

// Ahead is how many times as much per device the best row carries as another
// experiment's, and whether that may be due to the errors of both predictions, taken as
// independent.
func (x *Result) Ahead(other *Result) (ratio float64, withinError bool) {
	a, b := &x.Rows[0], &other.Rows[0]
	ratio = a.PerDevice(&x.Experiment) / b.PerDevice(&other.Experiment)
	return ratio, math.Log(ratio) < calibration.Apart(a.Run.Expected.Throughput, b.Run.Expected.Throughput)
}

// User is the tokens per second that a user sees, 0 where there is no second token.
func (o *Option) User() float64 { return o.TPOT.Rate() }
