package simulate

import (
	"cmp"
	"errors"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// DeploymentSection holds the fields that describe the deployment.
const DeploymentSection = "Deployment"

// Form is a request as it is typed: a deployment by its parts or by a file, and the load.
type Form struct {
	request Request
	serves  deployment.Pool // both, or decode
	prefill deployment.Pool
	several []session.Workload
	table   *ask.Table
}

// NewForm is a form with the defaults of the command line.
func NewForm() *Form {
	f := &Form{}
	r := &f.request
	r.Deployment.Engine.Name, r.Deployment.System = DefaultEngine, DefaultSystem
	f.table = ask.New(r, &f.serves, &f.prefill)
	f.askDeployment(f.table)
	f.askRequests(f.table)
	return f
}

// NewOpenForm is a form without defaults for what a benchmark's result supplies.
func NewOpenForm() *Form {
	f := NewForm()
	r := &f.request
	r.Deployment.Engine.Name, r.Deployment.System = "", ""
	r.Input, r.Output, r.LengthLow, f.serves.Layout.TP = 0, 0, 0, 0
	f.table.Field("tp-size").Meaning += " (default from the result, or 1)"
	return f
}

func (f *Form) askDeployment(t *ask.Table) {
	r, d := &f.request, &f.request.Deployment
	t.Argument(&d.Model)
	t.In(DeploymentSection)
	ask.One(t, &r.File, "deployment", ask.Text, "JSON `file` of a deployment, as in a row of \"plimsoll cli --json\"; replaces MODEL and the flags below")
	session.AskFamily(t, &d.AsFamily)
	ask.One(t, &d.System, "device", ask.Text, "device profile (plimsoll devices lists them); same as --system").Always()
	session.AskDeviceFile(t, &r.DeviceFile)
	session.AskEngine(t, &d.Engine, "serving engine")
	session.AskCalibration(t, &r.Calibration, "")
	session.AskPerfData(t, &r.PerfData)
	session.AskLayout(t, &f.serves.Layout, "devices per replica (default TP·DP·PP)", "attention data parallelism within a replica (default 1)")
	f.serves.Replicas = 1
	ask.One(t, &f.serves.Replicas, "replicas", ask.Whole, "number of replicas")
	session.AskCaches(t, &d.Routing, &d.Host)
	ask.One(t, &f.prefill.Replicas, "prefill-replicas", ask.Whole, "number of prefill replicas; remaining replicas decode only")
	ask.One(t, &f.prefill.Layout.TP, "prefill-tp-size", ask.Whole, "tensor parallelism of a prefill replica (default --tp-size)")
	ask.One(t, &f.prefill.Layout.DP, "prefill-dp-size", ask.Whole, "attention data parallelism of a prefill replica (default --dp-size)")
	ask.One(t, &f.prefill.Layout.EP, "prefill-ep-size", ask.Whole, "expert parallelism of a prefill replica (default --ep-size)")
	ask.List(t, &f.prefill.Settings, "prefill-set", ask.Text, "engine settings of prefill replicas, in addition to --set, each as `KEY=VALUE`")
	session.AskFormats(t, &d.Formats)
	ask.One(t, &f.serves.MTP, "num-mtp-tokens", ask.Whole, "draft tokens per step")
	ask.One(t, &f.serves.Drafter, "drafter", drafter(), "drafting `method`: mtp, eagle3 or ngram (default mtp)")
	ask.List(t, &f.serves.AcceptanceRates, "mtp-acceptance-rates", ask.Number, "acceptance rate of each draft token (default by model; 0.9 0.6 0.4 0.2 on Ascend)")
}

// drafter is a method to draft tokens; mtp is the default.
func drafter() ask.Type[draft.Method] {
	t := ask.OneOf(draft.Methods()...)
	read := t.Read
	t.Read = func(word string) (draft.Method, error) {
		by, err := read(word)
		if by == draft.MTP {
			by = ""
		}
		return by, err
	}
	return t
}

func (f *Form) askRequests(t *ask.Table) {
	r := &f.request
	t.In("Requests")
	ask.One(t, &r.Concurrency, "concurrency", ask.Whole, "requests in flight (closed loop)")
	ask.One(t, &r.Rate, "rate", ask.Number, "requests per second (open loop)")
	session.AskArrivals(t, &r.Process, &r.Variation, "--rate", "gamma arrivals")
	ask.One(t, &r.Trace, "trace", ask.Text, "replay the requests of a trace `file`")
	ask.One(t, &r.Protocol, "protocol", ask.OneOf(Steady, Benchmark),
		"steady: sustained load, measured after the warm-up; benchmark: --num-prompts requests, all of them measured"+
			" (default steady, or benchmark if --num-prompts is given)")
	ask.One(t, &r.Requests, "num-prompts", ask.Whole,
		"benchmark: total number of requests (default 10 × concurrency, or 1000); steady: maximum to simulate (default 50000)")
	r.Input, r.Output, r.LengthLow, r.Seed = DefaultInput, DefaultOutput, 1, 1
	ask.One(t, &r.Input, "input-length", ask.Tokens, "prompt length in tokens")
	ask.One(t, &r.Output, "output-length", ask.Tokens, "output length in tokens")
	ask.One(t, &r.Prefix, "prefix-length", ask.Whole, "shared prefix of all prompts in tokens, cached from the start")
	ask.One(t, &r.InputLengths, "length-distribution", session.LengthFile(), "distribution of prompt lengths: a `file` (YAML bins, CSV or trace), or builtin")
	ask.One(t, &r.OutputLengths, "output-distribution", session.LengthFile(), "distribution of output lengths: a `file`, or builtin")
	ask.List(t, &f.several, "workload", session.WorkloadType(),
		"mixed workloads, each `NAME=ISL:OSL[:SHARE]`; a preset (see plimsoll plan), a trace file or session:KEY=VALUE,… can replace ISL:OSL")
	ask.One(t, &r.LengthLow, "length-ratio-low", ask.Number, session.LengthLow)
	ask.One(t, &r.Seed, "seed", ask.Natural, "random seed")
	session.AskStatistic(t, &r.Statistic, "`statistic` the limits apply to, whose sampling error ends a steady run: mean, or a percentile such as p95")
	ask.One(t, &r.Limits.TTFT, "ttft-limit", ask.Limit, "TTFT limit in `ms`, for goodput")
	ask.One(t, &r.Limits.TPOT, "tpot-limit", ask.Limit, "TPOT limit in `ms`, for goodput")
}

// Table is the fields of the form.
func (f *Form) Table() *ask.Table { return f.table }

// Model takes the model that stands without a flag.
func (f *Form) Model(args []string) {
	if len(args) > 0 {
		f.request.Deployment.Model = args[0]
	}
}

// On takes the system, where its flag is a command's own.
func (f *Form) On(system string) { f.request.Deployment.System = system }

// File names the file of the deployment, "" if there is none.
func (f *Form) File() string { return f.request.File }

// Say fills the form with a request.
func (f *Form) Say(request *Request) {
	r := &f.request
	fresh, q := *r, *request
	q.Complete()
	*r = q
	f.several = q.Workloads
	if r.Protocol == r.usualProtocol() {
		r.Protocol = ""
	}
	if !r.fixedInput() {
		r.Input = fresh.Input
	}
	if !r.fixedOutput() {
		r.Output = fresh.Output
	}
	if f.several != nil {
		r.Prefix = 0 // of the workloads
	}
	if q.File != "" {
		r.Deployment = fresh.Deployment
		return
	}
	f.sayDeployment(&r.Deployment)
}

// sayDeployment says a deployment by its parts.
func (f *Form) sayDeployment(d *deployment.Deployment) {
	d.Host = d.Host.Filled()
	if d.Routing == sim.RoundRobin.String() {
		d.Routing = ""
	}
	if len(d.Pools) == 0 {
		return
	}
	f.serves = d.Pools[len(d.Pools)-1]
	f.serves.Replicas = max(1, f.serves.Replicas)
	l := &f.serves.Layout
	*l = l.Filled()
	if d.Disaggregated() {
		f.prefill = d.Pools[0]
		p := &f.prefill.Layout
		*p = p.Filled()
		for _, size := range [][2]*int{{&p.TP, &l.TP}, {&p.DP, &l.DP}, {&p.EP, &l.EP}} {
			if *size[0] == *size[1] {
				*size[0] = 0 // as in the other pool
			}
		}
	}
	if l.Devices == l.TP*l.DP*l.PP {
		l.Devices = 0
	}
	if l.DP == 1 {
		l.DP = 0
	}
}

// CommandLine asks for the request; "" where flags cannot.
func (r *Request) CommandLine() string {
	return ask.Line("plimsoll simulate", func() ask.Form[Request] { return NewForm() }, compared, r)
}

// compared is a request as command lines compare it: with its defaults, and files by their names.
func compared(r Request) any {
	r.Complete()
	names := []string{r.File, session.LengthFile().Write(r.InputLengths), session.LengthFile().Write(r.OutputLengths)}
	if !r.fixedInput() {
		r.Input = 0
	}
	if !r.fixedOutput() {
		r.Output = 0
	}
	if r.Workloads != nil {
		r.Prefix = 0 // of the workloads
	}
	r.InputLengths, r.OutputLengths = session.FileOf(r.InputLengths), session.FileOf(r.OutputLengths)
	r.Workloads = session.Typed(r.Workloads)
	d := &r.Deployment
	for i := range d.Pools {
		p := &d.Pools[i]
		p.Layout, p.Replicas = p.Layout.Short(), max(1, p.Replicas)
	}
	if d.Routing == sim.RoundRobin.String() {
		d.Routing = ""
	}
	d.Host = d.Host.Filled()
	if r.File != "" {
		*d = deployment.Deployment{}
	}
	return struct {
		Files   []string
		Request Request
	}{names, r}
}

// Ask is the request that was typed. The deployment of a file is not read here.
func (f *Form) Ask() (Request, error) {
	t := f.table
	r := f.request
	r.Workloads = f.several
	d := &r.Deployment
	if r.DeviceFile != "" && !t.Given("device") {
		d.System = ""
	}
	d.Host = session.Host(t, d.Host)
	errs := []error{t.Check(), f.checkWorkloads(), session.CheckLengths(t, "length-distribution", "input-length"), session.CheckLengths(t, "output-distribution", "output-length")}
	if r.File != "" {
		*d = deployment.Deployment{}
		return r, errors.Join(append(errs, f.onlyFile())...)
	}
	var err error
	d.Pools, err = f.pools()
	return r, errors.Join(append(errs, err)...)
}

// checkWorkloads reports lengths that are typed together with workloads.
func (f *Form) checkWorkloads() error {
	if f.several == nil {
		return nil
	}
	if other := f.table.First("input-length", "output-length", "prefix-length", "length-ratio-low", "length-distribution", "output-distribution", "trace"); other != "" {
		return ask.Excludes("workload", other)
	}
	return nil
}

// onlyFile reports fields that describe a deployment beside the file of one.
func (f *Form) onlyFile() error {
	if model := f.request.Deployment.Model; model != "" {
		return field.Errorf("%s excludes MODEL, got %q", field.Name("deployment"), model)
	}
	var also []field.Name
	f.table.Each(func(x *ask.Field) {
		if x.Section == DeploymentSection && x.Given() && x.Name != "deployment" && x.Name != "calibration" {
			also = append(also, x.As())
		}
	})
	if also == nil {
		return nil
	}
	return field.Errorf("%s excludes %s", field.Name("deployment"), also)
}

// pools are the pools that the fields describe.
func (f *Form) pools() ([]deployment.Pool, error) {
	s, p := f.serves, f.prefill
	s.Layout.DP = cmp.Or(s.Layout.DP, 1)
	if l := &s.Layout; l.Devices > 1 && l.TP == 1 && l.DP == 1 && l.PP == 1 {
		return nil, ask.Hint(field.Errorf("%s %d does not define a layout", field.Name("num_devices"), l.Devices),
			"--tp-size %d makes one replica on all of them, --replicas %d makes replicas of one device", l.Devices, l.Devices)
	}
	if p.Replicas == 0 {
		if first := f.table.First("prefill-tp-size", "prefill-dp-size", "prefill-ep-size", "prefill-set"); first != "" {
			return nil, ask.Needs(first, "prefill_replicas")
		}
		s.Role = deployment.Both
		return []deployment.Pool{s}, nil
	}
	s.Role, p.Role = deployment.Decode, deployment.Prefill
	p.MTP, p.Drafter, p.AcceptanceRates = s.MTP, s.Drafter, s.AcceptanceRates
	p.Layout.TP, p.Layout.DP, p.Layout.EP = cmp.Or(p.Layout.TP, s.Layout.TP), cmp.Or(p.Layout.DP, s.Layout.DP), cmp.Or(p.Layout.EP, s.Layout.EP)
	p.Layout.PP = s.Layout.PP
	return []deployment.Pool{p, s}, nil
}
