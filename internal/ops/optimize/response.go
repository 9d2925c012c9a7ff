package optimize

import (
	"cmp"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	coststep "github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Response is the result of a search. Field names are part of the contract;
// docs/throughput-optimizer.md describes them and
// docs/schema/throughput-optimizer.schema.json holds them.
type Response struct {
	// Command is the command line of this answer, Request the request in JSON.
	Command string  `json:"command,omitempty"`
	Request Request `json:"request"`

	Mode         string              `json:"mode"` // aggregation, disaggregation, pd_ratio
	Model        string              `json:"model"`
	Accounting   formulas.Accounting `json:"accounting"`
	Input        int                 `json:"input_length,omitempty"`
	Bins         []workload.Bin      `json:"length_distribution,omitempty"` // in place of input_length
	Output       int                 `json:"output_length"`
	Limits       session.Limits      `json:"limits"`
	Devices      []Device            `json:"devices"`
	Explanations []Explanation       `json:"explanations,omitempty"`
	Tables       *prices.Use         `json:"tables,omitempty"`
	Notes        []string            `json:"notes"` // on how the model is modelled
	Caution      string              `json:"caution"`

	Traces []NamedTrace `json:"-"` // if requested
}

// Device is the search on one device.
type Device struct {
	Name   string      `json:"device"`
	Memory units.InGiB `json:"memory_gib"`
	Price  *Price      `json:"price"` // null where none is known
	// Searches are the phases searched: one aggregated, or prefill, decode or both.
	Searches []Search `json:"passes"`
	// Ratio is the matching of prefill and decode, if requested.
	Ratio *Ratio `json:"ratio,omitempty"`

	Profile device.Profile `json:"-"`
}

// Price is what a device costs for an hour.
type Price struct {
	USDPerHour float64 `json:"usd_per_hour"`
	Source     string  `json:"source"`
}

// Search is one search. Best is null and Rows empty if no deployment meets the limits.
type Search struct {
	Mode search.Mode `json:"phase"`
	// Evaluation is formulas or simulation. For a simulation, Engine is the simulated engine
	// and Confidence the probability with which rows meet the limits.
	Evaluation Evaluation     `json:"evaluation"`
	Engine     string         `json:"engine,omitempty"`
	Confidence float64        `json:"confidence,omitempty"`
	NumDevices int            `json:"num_devices"`
	Policy     string         `json:"policy"`
	Pricing    prices.Pricing `json:"pricing"`        // how operators are priced
	Compiled   bool           `json:"compiled"`       // operators are fused
	Tier       device.Tier    `json:"tier"`           // how well the operators' prices are known
	Measured   float64        `json:"measured_share"` // of the best row's step time, from kernel tables
	Best       *Row           `json:"best"`
	Rows       []Row          `json:"rows"`       // the feasible candidates, best first
	Candidates []Candidate    `json:"candidates"` // all, in the order of enumeration
	// Frontier is the best trade-offs between tokens per second and device and tokens per
	// second and user, over all batches that were sampled. Aggregated only.
	Frontier []Point `json:"frontier"`
	// Safe is the deployment with the most throughput that meets the limits with a
	// probability of 0.9, null without limits or if there is none. Basis is the source of the
	// rows' intervals.
	Safe  *Safe  `json:"safe_choice"`
	Basis string `json:"basis"`
	// Silicon is the best row where it runs, of the guide's formulas on Ascend devices.
	Silicon  *Silicon        `json:"silicon,omitempty"`
	Feasible *session.Limits `json:"nearest_limits"`
	// Helps are the smallest changes that would help if nothing fits in memory.
	Helps      []Help        `json:"what_would_help,omitempty"`
	Deviations []step.Effect `json:"deviations"` // of the policy that change the best row's step
	Notes      []string      `json:"notes"`

	Limits workload.Limits `json:"-"`
	// Linear and Attention are the quantization actions, as the vendor's header names them.
	Linear      string  `json:"-"`
	Attention   string  `json:"-"`
	ReservedGiB float64 `json:"-"`
	// Nearest is the candidate nearest to the limits if no row meets them.
	Nearest *Nearest `json:"-"`
	// Shape is what the deployments of rows have in common that were simulated.
	Shape searchrun.Shape `json:"-"`
}

// Candidate is a layout that was tried.
type Candidate struct {
	Label    string `json:"parallel"`
	TP       int    `json:"tp"`
	PP       int    `json:"pp"`
	DP       int    `json:"dp"`
	EP       int    `json:"ep"`
	MoETP    int    `json:"moe_tp"`
	MoEDP    int    `json:"moe_dp"`
	DCP      int    `json:"dcp"`
	Replicas int    `json:"replicas"` // of the layout
	MTP      int    `json:"mtp"`
	OK       bool   `json:"feasible"`
	// Rejected is the limit that a rejected candidate violates, Reason explains it.
	Rejected search.Verdict `json:"rejected_by,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Best     *Row           `json:"best"`

	Budget    int `json:"-"` // tokens of a step and data-parallel rank
	Effective int `json:"-"` // tokens to compute of a prompt, on average
	// Points are the batches that were sampled, whatever their latency, and Evaluated those and the best, the least throughput first.
	Points    []figures.Outcome `json:"-"`
	Evaluated []Evaluated       `json:"-"`
}

// Evaluated is a batch of a layout. Rejected is the limit that it violates, Reason explains it; both are "" within the limits.
type Evaluated struct {
	Row

	Rejected search.Verdict
	Reason   string
}

// Point is a batch of a layout on the frontier.
type Point struct {
	Label     string  `json:"parallel"`
	Batch     int     `json:"batch_size"`
	PerDevice float64 `json:"tokens_per_second_gpu"`
	User      float64 `json:"tokens_per_second_user"`
}

// Safe is a deployment that meets the limits with a probability of 0.9.
type Safe struct {
	Label      string  `json:"parallel"`
	Batch      int     `json:"batch_size"`
	Throughput float64 `json:"tokens_per_second"`
	Chance     float64 `json:"chance_within_limits"`
}

// Breakdown is the share of a step's bound time, in percent.
type Breakdown struct {
	Mem  float64 `json:"mem"`
	Comm float64 `json:"comm"`
	Cube float64 `json:"cube"`
	Vec  float64 `json:"vec"`
}

// Nearest is a candidate at its smallest batch, and the limits it would meet.
type Nearest struct {
	Label string
	Batch int
	figures.Times
}

// newResponse is a response without the devices.
func newResponse(r Request, m *model.Model) *Response {
	out := &Response{
		Request: r, Mode: "aggregation", Model: m.Name(), Accounting: cmp.Or(r.Accounting, formulas.Documented), Input: r.Input, Output: r.Output,
		Limits: *session.LimitsOf(r.Limits), Devices: []Device{}, Notes: append([]string{}, m.Notes...), Caution: session.GuideCaution,
	}
	if r.Distribution != nil {
		out.Bins = r.Distribution.Bins
	}
	switch {
	case r.PDRatio:
		out.Mode = "pd_ratio"
	case r.Disagg:
		out.Mode = "disaggregation"
	}
	return out
}

// say adds the command lines of the answer, of the explained steps and of what would help.
func (r *Response) say() {
	r.Command = r.Request.CommandLine()
	for i := range r.Explanations {
		for k := range r.Explanations[i].Steps {
			if s := &r.Explanations[i].Steps[k]; s.Request != nil {
				s.Command = s.Request.CommandLine()
			}
		}
	}
	for i := range r.Devices {
		for k := range r.Devices[i].Searches {
			helps := r.Devices[i].Searches[k].Helps
			for j := range helps {
				helps[j].Command = helps[j].Request.CommandLine()
			}
		}
	}
}

// near adds the candidate nearest to the limits, nil if there is none.
func (s *Search) near(n *Nearest) {
	if s.Nearest = n; n != nil {
		s.Feasible = n.feasible(s.Limits)
	}
}

// feasible are the limits that it meets.
func (n *Nearest) feasible(asked workload.Limits) *session.Limits {
	ms := func(x units.Seconds) *float64 {
		if x == 0 {
			return nil
		}
		return new(session.UpMs(x))
	}
	out := &session.Limits{TTFT: ms(n.TTFT), TPOT: ms(n.TPOT)}
	if asked.Latency > 0 {
		out.Latency = ms(n.Latency)
	}
	return out
}

// Limited reports whether a search has a limit.
func (d *Device) Limited() bool {
	return slices.ContainsFunc(d.Searches, func(s Search) bool { return s.Limited() })
}

// Limited reports whether there is a limit.
func (s *Search) Limited() bool { return s.Limits.Any() }

// Deployment is that of a row at a batch of its ranks. Simulating it gives the figures of
// a row that was evaluated by simulation.
func (s *Search) Deployment(r *Row, batch int) deployment.Deployment {
	return s.Shape.Deployment(r.Candidate, batch)
}

// breakdown is the shares of bounds, nil for a phase that did not run.
func breakdown(b coststep.Bounds) *Breakdown {
	sum := b.Memory + b.Comm + b.Cube + b.Vector
	if sum == 0 {
		return nil
	}
	share := func(part units.Seconds) float64 { return 100 * units.Share(part, sum) }
	return &Breakdown{share(b.Memory), share(b.Comm), share(b.Cube), share(b.Vector)}
}
