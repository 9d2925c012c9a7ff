package experiment

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Result is the answer to one experiment.
type Result struct {
	Experiment Experiment // complete
	// Failure is why the experiment could not be run; "" if it was.
	Failure string
	Experts bool
	Tier    device.Tier
	// Rows are the best deployments within the limits, one for each layout that
	// decodes: the most throughput first, or the fewest devices that carry a load.
	Rows []Option
	// Near is the deployment nearest to the limits where none is within them, and
	// Nearest limits that it meets.
	Near    *Option
	Nearest workload.Limits
	// Frontier is the trade-off of speed for a user and throughput of a device.
	Frontier []Speed
	// Rejected are the layouts that cannot be run, each with its reason.
	Rejected []string
	Notes    []string
}

// Option is a deployment with its figures.
type Option struct {
	// Deployment is whole: without spare copies, simulating it at the concurrency gives the figures.
	Deployment deployment.Deployment
	// Copies of X prefill and Y decode workers, or of one worker that does both (X 0).
	Copies, X, Y int
	// Spare of the copies are more than a load needs: figures are without them.
	Spare       int
	Used        int // devices
	Concurrency int
	// Batch is the largest batch of a data-parallel rank, Prompts that of one for
	// prefill.
	Batch, Prompts int
	// Budget is the most tokens of a step of the workers that compute prompts.
	Budget int

	TTFT, TPOT, Latency units.Seconds
	Throughput          float64 // output tokens per second of the cluster
	RequestRate         float64
	Memory              units.Bytes // of a device that generates
	Expected            calibration.Expected
	Chance              float64 // that the limits are met
	// TTFTMean and TPOTMean are means, TTFT95 and TPOT95 95th percentiles, Chance95 the
	// probability that these meet the limits.
	TTFTMean, TPOTMean units.Seconds
	TTFT95, TPOT95     units.Seconds
	Chance95           float64
	Good               float64 // share of the requests within all limits, 0 without limits
	Engine             string  // as people call it
	MemoryBudget       engine.Budget
	KVPeak             float64 // share of the cache in use at most
	Binds              search.Verdict
	// Load is the share of its capacity that a given load uses, 0 without one. All figures
	// are then at the load, but for Capacity. Least is the copies by what one carries.
	Load     float64
	Least    int
	Capacity Capacity
	// Energy is nil where the power of a device is unknown or nobody asked for it.
	Energy *simulate.Energy
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
	return ratio, math.Log(ratio) < calibration.Apart(a.Expected.Throughput, b.Expected.Throughput)
}

// User is the tokens per second that a user sees, 0 where there is no second token.
func (o *Option) User() float64 { return o.TPOT.Rate() }
