package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Schema names the format of a [Response]; an incompatible change gets a new number.
const Schema = "plimsoll/measure/1"

// Request asks which runs would help the decision of a plan most.
type Request struct {
	// Plan is the question: one system, the user's own.
	Plan plan.Request `json:"plan"`
	// Minutes is the time that all runs may take, servers included; 0 = 10.
	Minutes float64 `json:"minutes,omitempty"`
	// Client is what sends requests: vllm, sglang, trtllm or aiperf; "" = that of each engine.
	Client Client `json:"client,omitempty"`
	// ModelPath is what engines load; "" = the model.
	ModelPath string `json:"model_path,omitempty"`
}

// DefaultMinutes is the default time.
const DefaultMinutes = 10

// maxMinutes bounds the time: a week.
const maxMinutes = 7 * 24 * 60

// Response is the runs to make, and what is expected of them. Times are in milliseconds.
type Response struct {
	Schema  string  `json:"schema"`
	Request Request `json:"request"` // complete
	// Options are the deployments of the decision, the best first.
	Options []Option `json:"options"`
	Runs    []Run    `json:"runs"`
	// Minutes is the time that the runs are expected to take, GPUMinutes that of all GPUs.
	Minutes    float64 `json:"minutes"`
	GPUMinutes float64 `json:"gpu_minutes"`
	// Wrong is the chance that another option carries at least 5 % more than the chosen one: now, and after all runs.
	Wrong      float64 `json:"wrong_choice"`
	WrongAfter float64 `json:"wrong_choice_after"`
	// Unsure is the standard deviation of the logarithm of what the chosen option carries: now, and after all runs.
	Unsure      float64  `json:"unsure"`
	UnsureAfter float64  `json:"unsure_after"`
	Notes       []string `json:"notes"`
	Caution     string   `json:"caution"`

	decision *decision
	found    []plan.Found
}

// Option is a deployment of the decision.
type Option struct {
	Name       string `json:"name"` // "vllm agg: 4 replicas of TP=2"
	Engine     string `json:"engine"`
	Mode       string `json:"mode"`
	Deployment string `json:"in_words"`
	GPUs       int    `json:"gpus"`
	// Tokens is the most output tokens per second and GPU within the limits.
	Tokens figures.Estimate `json:"tokens_per_second_gpu"`
	// Best is the chance that no option carries more.
	Best float64 `json:"chance_of_best"`
	// Unmeasured is why no run of it is proposed; "" = it could be measured.
	Unmeasured string `json:"unmeasured,omitempty"`
}

// Run is a run of one copy of a deployment.
type Run struct {
	ID          string  `json:"id"`     // "vllm-tp2/c66"
	Folder      string  `json:"folder"` // "vllm-tp2"
	Option      string  `json:"option"`
	GPUs        int     `json:"gpus"`
	Client      Client  `json:"client"`
	Concurrency int     `json:"concurrency"`
	Requests    int     `json:"num_prompts"`
	Input       int     `json:"isl"`
	Output      int     `json:"osl"`
	LengthLow   float64 `json:"length_ratio_low"`
	Prefix      int     `json:"prefix,omitempty"`
	// Seconds is the time it is expected to take, Start that of its server if it is the first of it.
	Seconds float64 `json:"seconds"`
	Start   float64 `json:"start_seconds"`
	// The predicted figures, which are means.
	figures.Record

	// Wrong is the chance of a wrong choice after this run and those before it.
	Wrong      float64               `json:"wrong_choice_after"`
	Deployment deployment.Deployment `json:"deployment"`
}

// layouts is how many layouts of an engine and mode a decision is between.
const layouts = 4

// mostOptions bounds the deployments of a decision.
const mostOptions = 12

// Propose finds the runs that help the decision most within the time.
func Propose(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	out, err := consider(ctx, w, r)
	if err != nil {
		return nil, err
	}
	if err := out.propose(ctx, w); err != nil {
		return nil, err
	}
	return session.Finish(ctx, out, nil)
}

// check completes a request.
func (r *Request) check() error {
	r.Minutes = cmp.Or(r.Minutes, DefaultMinutes)
	var errs []error
	if !(r.Minutes > 0 && r.Minutes <= maxMinutes) {
		errs = append(errs, field.Errorf("%s must be above 0 and at most %d, got %g", field.Name("minutes"), maxMinutes, r.Minutes))
	}
	if r.Client != "" {
		errs = append(errs, field.OneOf("client", r.Client, Clients()...))
	}
	if r.Plan.Daily != nil {
		errs = append(errs, field.Errorf("%s has no runs of its own: give %s or %s", field.Name("daily"), field.Name("gpus"), field.Name("rate")))
	}
	if n := len(r.Plan.Systems); n > 1 || n == 1 && r.Plan.Systems[0] == plan.AllSystems {
		errs = append(errs, field.Errorf("%s: measure compares deployments on one system, the one you have; got %s", field.Name("system"), strings.Join(r.Plan.Systems, " ")))
	}
	for i := range r.Plan.Workloads {
		if r.Plan.Workloads[i].Session != nil {
			errs = append(errs, field.Errorf("%s: load generators cannot replay sessions: give lengths", field.Name("workload")))
		}
	}
	return session.BadInput(errors.Join(errs...))
}

// consider finds the deployments of a decision and how they do at several loads.
func consider(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	found, full, err := plan.Alternatives(ctx, w, r.Plan, layouts)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 && found[0].Turns > 1 {
		return nil, session.BadInput(field.Errorf("%s: load generators cannot replay sessions: give lengths", field.Name("preset")))
	}
	found = found[:min(len(found), mostOptions)]
	r.Plan = full
	out := &Response{Schema: Schema, Request: r, Options: []Option{}, Runs: []Run{}, Notes: []string{}, Caution: session.Caution, found: found}
	if len(found) == 0 {
		return nil, session.BadInput(fmt.Errorf("no deployment of %s was found", r.Plan.Model))
	}
	return out, out.sweep(ctx, w)
}

// shares are the loads at which deployments are compared, as shares of what each carries within the limits.
func shares() []float64 { return []float64{0.25, 0.5, 0.75, 1, 1.35, 1.8} }

// sweep simulates the options at several loads.
func (x *Response) sweep(ctx context.Context, w *session.Session) error {
	type job struct{ option, concurrency int }
	var jobs []job
	for i := range x.found {
		last := 0
		for _, share := range shares() {
			if n := max(1, int(math.Round(share*float64(perCopy(&x.found[i]))))); n > last {
				jobs, last = append(jobs, job{i, n}), n
			}
		}
	}
	got := make([]*simulate.Response, len(jobs))
	quiet := w.Quiet()
	err := pool.All(ctx, len(jobs), cmp.Or(x.Request.Plan.Jobs, session.DefaultJobs), func(k int) (err error) {
		q := x.copyOf(jobs[k].option, jobs[k].concurrency)
		_, got[k], err = simulate.Once(ctx, quiet, &q)
		return err
	})
	if err != nil {
		return err
	}
	d := &decision{limits: x.Request.Plan.Limits.Finite()}
	var points []point
	for k, j := range jobs {
		c := &x.found[j.option]
		if len(d.options) == j.option {
			d.options = append(d.options, option{first: k, output: float64(c.Experiment.Output)})
		}
		o := &d.options[j.option]
		s, p := pointOf(got[k], c, j.option)
		o.speeds, points = append(o.speeds, s), append(points, p)
	}
	d.belief = newBelief(points)
	x.sort(d)
	d.draw()
	x.decision = d
	x.present(d)
	return nil
}

// sort puts the options in order, those that are expected to carry most first.
func (x *Response) sort(d *decision) {
	type row struct {
		plan.Found
		option
		carries float64
	}
	rows := make([]row, len(x.found))
	for i, carries := range d.expected() {
		rows[i] = row{x.found[i], d.options[i], carries}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.carries, a.carries) })
	for i := range rows {
		x.found[i], d.options[i] = rows[i].Found, rows[i].option
	}
}

// perCopy is the requests in flight in one copy at the most load within the limits.
func perCopy(c *plan.Found) int {
	return max(1, cmp.Or(c.Capacity.Concurrency, c.Concurrency)/max(1, c.Copies-c.Spare))
}

// devicesOf is the devices of one copy.
func devicesOf(c *plan.Found) int { return max(1, c.Used/max(1, c.Copies)) }

// pointOf is what a simulation of one copy says.
func pointOf(r *simulate.Response, c *plan.Found, option int) (speed, point) {
	got := &r.Result
	s := speed{
		judged: [quantities]float64{r.Judged.TTFT.Zero().Value / 1e3, r.Judged.TPOT.Zero().Value / 1e3}, latency: r.Judged.Latency.Zero().Value / 1e3,
		mean:   [quantities]float64{float64(got.TTFT.Mean), float64(got.TPOT.Mean)},
		tokens: got.OutputRate * float64(c.Copies) / float64(c.Devices()),
	}
	return s, point{
		deployment: option, engine: c.Experiment.Engine.Name, load: float64(r.Request.Concurrency) / float64(devicesOf(c)),
		sigma: [quantities]float64{calibration.Sigma(r.Means.TTFT.Low, r.Means.TTFT.High), calibration.Sigma(r.Means.TPOT.Low, r.Means.TPOT.High)},
	}
}

// room is how far beyond the planned load servers accept sequences, so that more than that can be measured.
const room = 2

// copyOf is one copy of an option with so many requests in flight. Its batches may be larger than planned.
func (x *Response) copyOf(option, concurrency int) simulate.Request {
	c := &x.found[option]
	q := c.Copy(&x.Request.Plan.Sources, concurrency)
	for i := range q.Deployment.Pools {
		p := &q.Deployment.Pools[i]
		if p.Role == deployment.Prefill {
			continue
		}
		p.Settings = slices.Clone(p.Settings)
		for k, s := range p.Settings {
			if key, value, _ := strings.Cut(s, "="); key == "max_sequences" {
				var n int
				if _, err := fmt.Sscan(value, &n); err == nil {
					p.Settings[k] = fmt.Sprintf("max_sequences=%d", room*n)
				}
			}
		}
	}
	return q
}

// present fills in the options.
func (x *Response) present(d *decision) {
	now := d.after(nil)
	drawn := make([][]float64, len(d.drawn))
	for k := range d.drawn {
		drawn[k] = d.drawn[k].value
	}
	carried, best := carriedOf(d.expected(), drawn)
	x.Options = nil
	for i := range x.found {
		c := &x.found[i]
		e := &c.Experiment
		o := Option{Engine: e.Engine.Name, Mode: string(e.Mode), Deployment: c.InWords(), GPUs: c.Devices(), Best: best[i], Tokens: carried[i]}
		o.Name = plan.InRelease(o.Engine, e.Engine.Version) + " " + o.Mode + ": " + o.Deployment
		o.Unmeasured = unmeasured(c)
		x.Options = append(x.Options, o)
	}
	x.Wrong, x.WrongAfter, x.Unsure, x.UnsureAfter = now.wrong, now.wrong, now.spread, now.spread
}

// expected is what the options carry if there are no errors.
func (d *decision) expected() []float64 {
	n := len(d.belief.points)
	return d.values(&[quantities][]float64{make([]float64, n), make([]float64, n)})
}

// carriedOf is what options carry: what is expected of each, with the ends of the 80 % interval over what was drawn, and the share of
// the draws in which it carries most.
func carriedOf(expected []float64, drawn [][]float64) (carried []figures.Estimate, best []float64) {
	best = make([]float64, len(expected))
	for _, values := range drawn {
		best[largest(values)]++
	}
	for i, is := range expected {
		best[i] /= float64(len(drawn))
		all := make([]float64, len(drawn))
		for k := range drawn {
			all[k] = drawn[k][i]
		}
		slices.Sort(all)
		carried = append(carried, figures.Estimate{Value: is, Low: min(all[len(all)/10], is), High: max(all[len(all)*9/10], is)})
	}
	return carried, best
}

// unmeasured is why one server cannot measure a deployment.
func unmeasured(c *plan.Found) string {
	switch {
	case c.Deployment.Disaggregated():
		return "prefill and decode workers need a router: measured through other deployments of the engine"
	case clientOf(c.Experiment.Engine.Name) == "":
		return "no load generator is known for " + c.Experiment.Engine.Name
	}
	return ""
}

// candidates are the runs that can be made, and the time of each.
func (x *Response) candidates(w *session.Session) (all []candidate, err error) {
	for i := range x.found {
		if x.Options[i].Unmeasured != "" {
			continue
		}
		c := &x.found[i]
		dev, err := w.Device(c.Experiment.System, x.Request.Plan.DeviceFile)
		if err != nil {
			return nil, err
		}
		o := &x.decision.options[i]
		for k := range o.speeds {
			run := x.run(i, k)
			run.Start = float64(c.ColdStart(max(1, dev.Node)))
			all = append(all, candidate{run, o.first + k, i})
		}
	}
	return all, nil
}

// propose chooses runs.
func (x *Response) propose(ctx context.Context, w *session.Session) error {
	all, err := x.candidates(w)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		x.Notes = append(x.Notes, "none of the deployments can be measured with one server")
		return nil
	}
	x.lengths()
	picked := x.decision.choose(all, 60*x.Request.Minutes)
	started := map[string]bool{}
	for _, p := range picked {
		p.Wrong = p.wrong
		x.WrongAfter, x.UnsureAfter = p.wrong, p.spread
		x.Runs = append(x.Runs, p.Run)
	}
	// Runs of one server stand together, by load.
	slices.SortStableFunc(x.Runs, func(a, b Run) int {
		first := func(folder string) int {
			return slices.IndexFunc(picked, func(p chosen) bool { return p.Folder == folder })
		}
		return cmp.Or(cmp.Compare(first(a.Folder), first(b.Folder)), cmp.Compare(a.Concurrency, b.Concurrency))
	})
	for i := range x.Runs {
		run := &x.Runs[i]
		if started[run.Folder] {
			run.Start = 0
		}
		started[run.Folder] = true
		seconds := run.Start + run.Seconds
		x.Minutes += seconds / 60
		x.GPUMinutes += seconds / 60 * float64(run.GPUs)
		if err := x.predict(ctx, w, run); err != nil {
			return err
		}
	}
	if len(picked) == 0 {
		x.Notes = append(x.Notes, fmt.Sprintf("no useful run fits into %g minutes: starting a server takes about %.0f s", x.Request.Minutes, all[0].Start))
	}
	return nil
}

// lengths notes what the runs measure in place of the workload.
func (x *Response) lengths() {
	e := &x.found[0].Experiment
	if _, low := fixed(e.Workloads); len(e.Workloads) > 0 && low == 0 {
		x.Notes = append(x.Notes, fmt.Sprintf("runs have the mean lengths of the workloads, %d and %d tokens", e.Input, e.Output))
	}
}

// fixed is a single workload whose lengths a load generator draws, and the share of the longest that is the shortest; 0 if it is no such.
func fixed(all []session.Workload) (session.Workload, float64) {
	if len(all) != 1 {
		return session.Workload{}, 0
	}
	one := all[0]
	if one.Trace != "" || one.InputLengths != nil || one.OutputLengths != nil || one.Input == 0 || one.Output == 0 {
		return session.Workload{}, 0
	}
	return one, cmp.Or(one.LengthLow, 1)
}

// steadySeconds is how long a run measures at least, waves how often each client asks at least and at most, clientStart the time that a load generator needs to
// begin: vllm bench serve 0.24 took 27 s to import and to draw prompts.
const (
	steadySeconds       = 30
	fewWaves, manyWaves = 3, 20
	clientStart         = 27
)

// run is a run of an option at one of its loads.
func (x *Response) run(option, k int) Run {
	c, o := &x.found[option], &x.decision.options[option]
	e, s := &c.Experiment, &o.speeds[k]
	concurrency := max(1, int(math.Round(x.decision.belief.points[o.first+k].load*float64(devicesOf(c)))))
	latency := s.mean[ttft] + s.mean[tpot]*(o.output-1)
	waves := min(manyWaves, max(fewWaves, int(math.Ceil(steadySeconds/latency))))
	q := x.copyOf(option, concurrency)
	run := Run{
		Folder: folderOf(c), Option: x.Options[option].Name, GPUs: devicesOf(c), Client: cmp.Or(x.Request.Client, clientOf(e.Engine.Name)), Concurrency: concurrency,
		Requests: waves * concurrency, Input: e.Input, Output: e.Output, LengthLow: 1, Prefix: e.Prefix, Deployment: q.Deployment,
		Seconds: math.Ceil(clientStart + float64(waves+1)*latency),
	}
	if one, low := fixed(e.Workloads); low > 0 {
		run.Input, run.Output, run.LengthLow = one.Input, one.Output, low
	}
	run.ID = fmt.Sprintf("%s/c%d", run.Folder, concurrency)
	return run
}

// folderOf names the folder of a deployment: engine, release and layout.
func folderOf(c *plan.Found) string {
	out := []string{c.Experiment.Engine.Name}
	if v := c.Experiment.Engine.Version; v != "" {
		out = append(out, v)
	}
	l := c.Deployment.Pools[len(c.Deployment.Pools)-1].Layout
	for _, p := range []struct {
		name string
		n    int
	}{{"tp", max(1, l.TP)}, {"pp", l.PP}, {"dp", l.DP}, {"ep", l.EP}, {"draft", c.Experiment.MTP}} {
		if p.n > 1 || p.name == "tp" || p.name == "draft" && p.n == 1 {
			out = append(out, fmt.Sprintf("%s%d", p.name, p.n))
		}
	}
	return strings.Join(out, "-")
}

// request is the simulation of a run as a load generator makes it.
func (run *Run) request(s session.Sources) simulate.Request {
	q := simulate.Request{Deployment: run.Deployment, Sources: s, Protocol: simulate.Benchmark}
	q.Concurrency, q.Requests, q.Input, q.Output, q.LengthLow, q.Prefix = run.Concurrency, run.Requests, run.Input, run.Output, run.LengthLow, run.Prefix
	return q
}

// predict adds the prediction of a run.
func (x *Response) predict(ctx context.Context, w *session.Session, run *Run) error {
	q := run.request(x.Request.Plan.Sources)
	_, got, err := simulate.Once(ctx, w.Quiet(), &q)
	if err != nil {
		return err
	}
	run.Record = got.Record(run.GPUs)
	return nil
}
