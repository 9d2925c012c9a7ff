package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Form is a request as it is typed: fields of its own for a single workload, and prices as words.
type Form struct {
	request Request
	alone   session.Workload
	several []session.Workload
	mode    experiment.ServingMode
	prices  []price
	api     []float64
	table   *ask.Table
}

// NewForm is a form with the defaults of the command line.
func NewForm() *Form {
	f := &Form{}
	f.table = ask.New(&f.request, &f.alone)
	f.askHardware(f.table)
	f.askWorkload(f.table)
	f.askLimits(f.table)
	f.askDeployments(f.table)
	f.askOutput(f.table)
	return f
}

func (f *Form) askHardware(t *ask.Table) {
	r := &f.request
	t.Argument(&r.Model)
	t.In("Hardware")
	ask.List(t, &r.Systems, "system", ask.Text, "systems to compare, or all; same as --device (plimsoll devices lists them)")
	session.AskDeviceFile(t, &r.DeviceFile)
	ask.One(t, &r.Devices, "gpus", ask.Whole, "GPUs available per system")
	ask.One(t, &r.Rate, "rate", ask.Number, "requests per second to carry, or sessions per second where workloads are sessions; replaces --gpus")
	ask.List(t, &r.Daily, "daily", ask.Number, "requests or sessions per second in equal parts of a day; replaces --gpus")
	session.AskArrivals(t, &r.Process, &r.Variation, "--rate or --daily", "gamma arrivals at each replica")
	ask.Maybe(t, &r.ColdStart, "cold-start", ask.Number, "`seconds` to start a replica, for the schedule of --daily (default 100 and the weights at 1 GB/s)")
	ask.One(t, &r.Spare, "spare", ask.Whole, "spare `replicas`: the load is still carried when this many fail; needs --rate or --daily")
	ask.One(t, &r.Utilization, "utilization", ask.Number, "maximum `share` of the capacity used by the load, such as 0.8; needs --rate or --daily (default 1)")
	ask.List(t, &f.prices, "price", priceType(), "price of a GPU-hour in US dollars: `USD`, or SYSTEM=USD (default the list price)")
	ask.List(t, &f.api, "api-price", ask.Number, "price of an API to compare with: US dollars per million input and per million output tokens, `IN OUT`")
	ask.Maybe(t, &r.EnergyPrice, "energy-price", ask.Number, "price of a kilowatt-hour in `USD`; 0 if the GPU price includes power").Shown(fmt.Sprint(simulate.DefaultEnergyPrice))
}

func (f *Form) askWorkload(t *ask.Table) {
	var names []string
	for _, p := range workload.Presets() {
		names = append(names, p.Name)
	}
	x := &f.alone
	t.In("Workload")
	ask.One(t, &x.Input, "isl", ask.Tokens, "input `tokens` per request")
	ask.One(t, &x.Output, "osl", ask.Tokens, "output `tokens` per request")
	ask.One(t, &x.Prefix, "prefix", ask.Tokens, "input `tokens` found in the prefix cache")
	ask.One(t, &x.LengthLow, "length-ratio-low", ask.Number, session.LengthLow+" (default 1)")
	ask.One(t, &x.Preset, "preset", ask.OneOf(names...), "request lengths of a typical use: "+strings.Join(names, ", "))
	ask.One(t, &x.Trace, "trace", ask.Text, "request lengths, and shared prefixes if it has block hashes, from a trace `file`; arrival times are ignored")
	ask.One(t, &x.InputLengths, "length-distribution", session.LengthFile(), "distribution of input lengths: a `file` (YAML bins, CSV or trace), or builtin")
	ask.One(t, &x.OutputLengths, "output-distribution", session.LengthFile(), "distribution of output lengths: a `file`, or builtin")
	ask.List(t, &f.several, "workload", session.WorkloadType(),
		"workloads that share the deployment, each `NAME=ISL:OSL[:SHARE]`; a preset, a trace file or session:KEY=VALUE,… (see plimsoll simulate) can replace ISL:OSL")
}

func (f *Form) askLimits(t *ask.Table) {
	r := &f.request
	t.In("Limits")
	ask.One(t, &r.Limits.TTFT, "ttft", ask.Limit, "limit on TTFT in `ms`")
	ask.One(t, &r.Limits.TPOT, "tpot", ask.Limit, "limit on TPOT in `ms`")
	ask.One(t, &r.Limits.Latency, "request-latency", ask.Limit, "limit on request latency in `ms`")
	ask.Switch(t, &r.NoLimits, "no-limits", "ignore latency and plan for throughput (default without limits: those usual for the preset, or for chat)")
	session.AskStatistic(t, &r.Statistic, "`statistic` the limits apply to: mean, or a percentile such as p95 or p99.9")
	r.Confidence = search.DefaultConfidence
	ask.One(t, &r.Confidence, "confidence", ask.Number, "minimum probability of meeting the limits")
}

func (f *Form) askDeployments(t *ask.Table) {
	r := &f.request
	t.In("Deployments to compare")
	ask.List(t, &r.Engines, "engine", ask.Text, "engines, such as vllm or vllm@0.24.0 (default the newest release of each engine that runs on the system)")
	session.AskPreset(t, &r.EnginePreset)
	session.AskCaches(t, &r.Routing, &r.Host)
	ask.One(t, &f.mode, "serving-mode", session.OrAuto(ask.OneOf(session.Auto, experiment.Aggregated, experiment.Disaggregated)), "agg, disagg, or auto for both (default auto)")
	ask.One(t, &r.Formats.Checkpoint, "weights", ask.OneOf("fp8", "fp4", "int4"), "weight format of a converted checkpoint: fp8, fp4 or int4 (default the model's)")
	ask.One(t, &r.Formats.KV, "kv-cache", ask.OneOf("fp8", "int8", "bf16"), "KV cache format: fp8, int8 or bf16 (default the model's)")
	session.AskFormats(t, &r.Formats)
	session.AskExpertFormats(t, &r.Formats)
	ask.One(t, &r.Draft, "draft", ask.Text, "drafting: auto, none, or `METHOD[:N]` with mtp, eagle3 or ngram and N draft tokens per step; without N the best of 1 to 3 (default none)")
	ask.One(t, &r.MTP, "nextn", ask.Whole, "draft tokens per step (MTP), as --draft mtp:N")
	ask.List(t, &r.AcceptanceRates, "nextn-accept-rates", ask.Number, "acceptance rates of the draft tokens")
}

func (f *Form) askOutput(t *ask.Table) {
	r := &f.request
	t.In("Output")
	ask.Switch(t, &r.NoChanges, "no-changes", "skip the section on what would change the answer")
	session.AskCalibration(t, &r.Calibration, "80 % intervals")
	session.AskPerfData(t, &r.PerfData)
	ask.One(t, &r.Jobs, "jobs", ask.Whole, "maximum parallel simulations (default 8)")
}

// price is a price of a system, "" for all of them.
type price struct {
	system string
	usd    float64
}

func priceType() ask.Type[price] {
	return ask.Type[price]{
		Name: ask.Text.Name,
		Read: func(word string) (price, error) {
			system, digits, ok := strings.Cut(word, "=")
			if !ok {
				system, digits = "", word
			}
			usd, err := strconv.ParseFloat(digits, 64)
			if err != nil || !(usd > 0) || math.IsInf(usd, 1) {
				return price{}, errors.New("want USD or SYSTEM=USD above 0")
			}
			return price{system, usd}, nil
		},
		Write: func(p price) string {
			usd := strconv.FormatFloat(p.usd, 'g', -1, 64)
			if p.system == "" {
				return usd
			}
			return p.system + "=" + usd
		},
	}
}

// Table is the fields of the form.
func (f *Form) Table() *ask.Table { return f.table }

// Single is the workload that fields of its own describe.
func (f *Form) Single() *session.Workload { return &f.alone }

// Several reports whether workloads were typed as a list.
func (f *Form) Several() bool { return f.several != nil }

// aloneFields describe a single workload.
func aloneFields() []string {
	return []string{"isl", "osl", "prefix", "length-ratio-low", "preset", "trace", "length-distribution", "output-distribution"}
}

// Say fills the form with a request.
func (f *Form) Say(q *Request) {
	r := &f.request
	*r = *q
	r.Workloads, r.Jobs = nil, 0 // no answer depends on workers
	r.Confidence = cmp.Or(r.Confidence, search.DefaultConfidence)
	r.Formats.MXFP4Group = cmp.Or(r.Formats.MXFP4Group, graph.DefaultMXFP4Group)
	r.Host = r.Host.Filled()
	if p := r.EnergyPrice; p != nil && *p == simulate.DefaultEnergyPrice {
		r.EnergyPrice = nil
	}
	if r.Routing == sim.RoundRobin.String() {
		r.Routing = ""
	}
	if len(r.Modes) == 1 {
		f.mode = r.Modes[0]
	}
	f.sayPrices(r)
	f.sayWorkloads(q.Workloads)
}

func (f *Form) sayPrices(r *Request) {
	if a := r.API; a != nil {
		f.api = []float64{a.Input, a.Output}
	}
	for _, system := range slices.Sorted(maps.Keys(r.Prices)) {
		f.prices = append(f.prices, price{system, r.Prices[system]})
	}
}

// sayWorkloads says one workload by fields of its own where these can.
func (f *Form) sayWorkloads(all []session.Workload) {
	if len(all) != 1 || !hasFields(&all[0]) {
		f.several = all
		return
	}
	f.alone = all[0]
	x := &f.alone
	switch {
	case x.IsPreset():
		*x = session.Workload{Preset: x.Preset}
	case x.LengthLow == 1:
		x.LengthLow = 0
	}
	if x.Trace != "" {
		x.Input, x.Output = 0, 0
	}
}

// hasFields reports whether the fields of a single workload can say one: they have neither a name, nor a share, nor sessions of one's own.
func hasFields(x *session.Workload) bool {
	named, shared := x.Name != "" && x.Name != x.Preset, x.Share != 0 && x.Share != 1
	return !named && !shared && (x.Session == nil || x.IsPreset())
}

// Ask is the request that was typed.
func (f *Form) Ask() (Request, error) {
	t, r := f.table, f.request
	errs := []error{
		t.Check(), f.checkWorkloads(), session.CheckLengths(t, "length-distribution", "isl"), session.CheckLengths(t, "output-distribution", "osl"),
	}
	if f.several != nil {
		r.Workloads = f.several
	} else if t.First(aloneFields()...) != "" {
		r.Workloads = []session.Workload{f.alone}
	}
	if f.api != nil {
		const both = 2
		if len(f.api) != both {
			errs = append(errs, field.Errorf("%s must be two prices, of a million input and a million output tokens, got %d", field.Name("api_price"), len(f.api)))
		} else {
			r.API = &APIPrice{Input: f.api[0], Output: f.api[1]}
		}
	}
	if f.prices != nil {
		r.Prices = map[string]float64{}
	}
	for _, p := range f.prices {
		r.Prices[p.system] = p.usd
	}
	r.Host = session.Host(t, r.Host)
	if f.mode != "" {
		r.Modes = []experiment.ServingMode{f.mode}
	}
	if r.Formats.Linear == "" {
		r.Formats.MXFP4Group = 0 // its default has no effect
	}
	if r.Confidence == search.DefaultConfidence {
		r.Confidence = 0
	}
	return r, errors.Join(errs...)
}

// checkWorkloads reports a single workload that is typed beside others.
func (f *Form) checkWorkloads() error {
	if f.several == nil {
		return nil
	}
	if other := f.table.First(aloneFields()...); other != "" {
		return ask.Excludes("workload", other)
	}
	return nil
}

// CommandLine asks for the request; "" where flags cannot.
func (r *Request) CommandLine() string {
	return ask.Line("plimsoll plan", func() ask.Form[Request] { return NewForm() }, compared, r)
}

// compared is a request as command lines compare it: with its defaults, and files by their names.
func compared(r Request) any {
	var names []string
	for i := range r.Workloads {
		x := &r.Workloads[i]
		names = append(names, session.LengthFile().Write(x.InputLengths), session.LengthFile().Write(x.OutputLengths))
	}
	r.Workloads = session.Typed(r.Workloads)
	r.Confidence = cmp.Or(r.Confidence, search.DefaultConfidence)
	r.Utilization = cmp.Or(r.Utilization, 1)
	r.Host = r.Host.Filled()
	r.Formats.MXFP4Group = cmp.Or(r.Formats.MXFP4Group, graph.DefaultMXFP4Group)
	if r.EnergyPrice == nil {
		r.EnergyPrice = new(simulate.DefaultEnergyPrice)
	}
	if r.Routing == sim.RoundRobin.String() {
		r.Routing = ""
	}
	if len(r.Prices) == 0 {
		r.Prices = nil
	}
	if len(r.Modes) == len(experiment.ServingMode("").Words()) {
		r.Modes = nil // all
	}
	return struct {
		Files   []string
		Request Request
	}{names, r}
}
