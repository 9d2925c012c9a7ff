package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/commandline"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// planFlags are those of "plimsoll plan".
type planFlags struct {
	plan.Request

	alone         session.Workload // of the flags for a single workload
	several       []string         // --workload
	input, output string           // files of distributions
	mode          string
	prices        []string
	apiPrice      []float64
	out           string
	force         bool
	targets       targetFlag
	json, quiet   bool
	explain       bool
	wizard        wizardFlags
}

// define adds the flags, in the sections help shows.
func (f *planFlags) define(fs *pflag.FlagSet) {
	f.defineQuestion(fs)
	section(fs, "Questions", f.wizard.define)
	section(fs, "Output", func(fs *pflag.FlagSet) {
		outputVar(fs, &f.out, aFolder, "out", "write plan.json, report.html, report.md and the files that run the best deployment to this `directory`")
		fs.BoolVar(&f.force, "force", false, "replace the files of an earlier plan, and write files in which lint finds errors")
		f.targets.define(fs, "all")
		fs.BoolVar(&f.NoChanges, "no-changes", false, "skip the section on what would change the answer")
		fs.BoolVar(&f.explain, "explain", false, "break down TTFT, TPOT, throughput and memory of the best deployment")
		fs.BoolVar(&f.json, "json", false, "print JSON (the content of plan.json)")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only")
		calibration(fs, &f.Calibration, "80 % intervals")
		perfData(fs, &f.PerfData)
		fs.IntVar(&f.Jobs, "jobs", 0, "maximum parallel simulations (default 8)")
	})
}

// defineQuestion adds those that say what is asked: hardware, workload, limits and deployments.
func (f *planFlags) defineQuestion(fs *pflag.FlagSet) {
	section(fs, "Hardware", func(fs *pflag.FlagSet) {
		nargs.ListVar(fs, &f.Systems, "device", nargs.OneOrMore, nargs.Text, "systems to compare, or all; same as --system (plimsoll devices lists them)")
		fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML `file`")
		fs.IntVar(&f.Devices, "gpus", 0, "GPUs available per system")
		fs.Float64Var(&f.Rate, "rate", 0, "requests per second to carry, or sessions per second where workloads are sessions; replaces --gpus")
		nargs.ListVar(fs, &f.Daily, "daily", nargs.OneOrMore, nargs.Float, "requests or sessions per second in equal parts of a day; replaces --gpus")
		arrivalFlags(fs, &f.Process, &f.Variation, "--rate or --daily", "gamma arrivals at each replica")
		nargs.Var(fs, &f.ColdStart, "cold-start", optional, "`seconds` to start a replica, for the schedule of --daily (default 100 and the weights at 1 GB/s)").DefValue = ""
		fs.IntVar(&f.Spare, "spare", 0, "spare `replicas`: the load is still carried when this many fail; needs --rate or --daily")
		fs.Float64Var(&f.Utilization, "utilization", 0, "maximum `share` of the capacity used by the load, such as 0.8; needs --rate or --daily (default 1)")
		nargs.ListVar(fs, &f.prices, "price", nargs.OneOrMore, nargs.Text, "price of a GPU-hour in US dollars: `USD`, or SYSTEM=USD (default the list price)")
		nargs.ListVar(fs, &f.apiPrice, "api-price", nargs.OneOrMore, nargs.Float, "price of an API to compare with: US dollars per million input and per million output tokens, `IN OUT`")
		nargs.Var(fs, &f.EnergyPrice, "energy-price", optional, "price of a kilowatt-hour in `USD`; 0 if the GPU price includes power").DefValue = fmt.Sprint(simulate.DefaultEnergyPrice)
	})
	section(fs, "Workload", f.defineWorkload)
	section(fs, "Limits", func(fs *pflag.FlagSet) {
		limitVar(fs, &f.Limits.TTFT, "ttft", "limit on TTFT in `ms`")
		limitVar(fs, &f.Limits.TPOT, "tpot", "limit on TPOT in `ms`")
		limitVar(fs, &f.Limits.Latency, "request-latency", "limit on request latency in `ms`")
		fs.BoolVar(&f.NoLimits, "no-limits", false, "ignore latency and plan for throughput (default without limits: those usual for the preset, or for chat)")
		nargs.Var(fs, &f.Percentile, "percentile", percentile, "`statistic` the limits apply to: mean, or a percentile such as p95 or p99.9 (default mean)")
		goodput(fs, &f.Goodput)
		fs.Float64Var(&f.Confidence, "confidence", search.DefaultConfidence, "minimum probability of meeting the limits")
	})
	section(fs, "Deployments to compare", func(fs *pflag.FlagSet) {
		nargs.ListVar(fs, &f.Engines, "engine", nargs.OneOrMore, nargs.Text, "engines, such as vllm or vllm@0.24.0 (default the newest release of each engine that runs on the system)")
		enginePreset(fs, &f.EnginePreset)
		cacheFlags(fs, &f.Routing, &f.Host)
		nargs.Var(fs, &f.mode, "serving-mode", nargs.OneOf("auto", "agg", "disagg"), "agg, disagg, or auto for both (default auto)")
		nargs.Var(fs, &f.Formats.Checkpoint, "weights", nargs.OneOf("fp8", "fp4", "int4"), "weight format of a converted checkpoint: fp8, fp4 or int4 (default the model's)")
		nargs.Var(fs, &f.Formats.KV, "kv-cache", nargs.OneOf("fp8", "int8", "bf16"), "KV cache format: fp8, int8 or bf16 (default the model's)")
		formatFlags(fs, &f.Formats)
		expertFormatFlags(fs, &f.Formats)
		fs.StringVar(&f.Draft, "draft", "", "drafting: auto, none, or `METHOD[:N]` with mtp, eagle3 or ngram and N draft tokens per step; without N the best of 1 to 3 (default none)")
		fs.IntVar(&f.MTP, "nextn", 0, "draft tokens per step (MTP), as --draft mtp:N")
		nargs.ListVar(fs, &f.AcceptanceRates, "nextn-accept-rates", nargs.OneOrMore, nargs.Float, "acceptance rates of the draft tokens")
	})
}

// defineWorkload adds the flags on requests.
func (f *planFlags) defineWorkload(fs *pflag.FlagSet) {
	var names []string
	for _, p := range workload.Presets() {
		names = append(names, p.Name)
	}
	x := &f.alone
	nargs.Var(fs, &x.Input, "isl", tokens, "input `tokens` per request")
	nargs.Var(fs, &x.Output, "osl", tokens, "output `tokens` per request")
	nargs.Var(fs, &x.Prefix, "prefix", tokens, "input `tokens` found in the prefix cache")
	fs.Float64Var(&x.LengthLow, "length-ratio-low", 0, "shortest length as a share of the longest; lengths are uniform in between (default 1)")
	nargs.Var(fs, &x.Preset, "preset", nargs.OneOf(names...), "request lengths of a typical use: "+join(names))
	fs.StringVar(&x.Trace, "trace", "", "request lengths, and shared prefixes if it has block hashes, from a trace `file`; arrival times are ignored")
	fs.StringVar(&f.input, "length-distribution", "", "distribution of input lengths: a `file` (YAML bins, CSV or trace), or builtin")
	fs.StringVar(&f.output, "output-distribution", "", "distribution of output lengths: a `file`, or builtin")
	nargs.ListVar(fs, &f.several, "workload", nargs.OneOrMore, nargs.Text,
		"workloads that share the deployment, each `NAME=ISL:OSL[:SHARE]`; a preset, a trace file or session:KEY=VALUE,… (see plimsoll simulate) can replace ISL:OSL")
}

// optional reads a number whose absence means something else than 0.
func optional(word string) (*float64, error) {
	x, err := nargs.Float(word)
	return &x, err
}

// complete turns the flags into a request.
func (f *planFlags) complete(fs *pflag.FlagSet, env *Env, args []string) error {
	if len(args) > 0 {
		f.Model = args[0]
	}
	if f.apiPrice != nil {
		const both = 2
		if len(f.apiPrice) != both {
			return usagef("--api-price must be two prices, of a million input and a million output tokens, got %d", len(f.apiPrice))
		}
		f.API = &plan.APIPrice{Input: f.apiPrice[0], Output: f.apiPrice[1]}
	}
	errs := []error{
		zeros(fs, "isl", "osl"), notZero(fs, "gpus", fmt.Sprintf("between 1 and %d", experiment.MaxDevices)), notZero(fs, "confidence", belowOne), notZero(fs, "goodput", belowOne), notZero(fs, "length-ratio-low", upToOne), notZero(fs, "utilization", upToOne),
		lengthFile{"length-distribution", "isl", f.input}.read(env, fs, f.alone.Trace, &f.alone.InputLengths),
		lengthFile{"output-distribution", "osl", f.output}.read(env, fs, f.alone.Trace, &f.alone.OutputLengths),
		f.readWorkloads(fs), f.readPrices(), notZero(fs, "rate", "positive"), hostFlags(fs, &f.Host),
	}
	if f.mode == string(experiment.Aggregated) || f.mode == string(experiment.Disaggregated) {
		f.Modes = []experiment.ServingMode{experiment.ServingMode(f.mode)}
	}
	if f.Formats.MXFP4Group != 0 && f.Formats.Linear == "" {
		f.Formats.MXFP4Group = 0 // its default has no effect
	}
	if f.Confidence == search.DefaultConfidence {
		f.Confidence = 0
	}
	return errors.Join(errs...)
}

// lacking lists all missing inputs.
func (f *planFlags) lacking() []string {
	var flags []string
	for _, name := range f.Missing() {
		if name == "model" {
			flags = append(flags, "MODEL")
			continue
		}
		flags = append(flags, flagOf(name))
	}
	return append(flags, f.lengthless()...)
}

// missing reports all missing inputs at once, after names that are not known.
func (f *planFlags) missing(env *Env) error {
	flags := f.lacking()
	if flags == nil {
		return nil
	}
	hint := "\"plimsoll plan --help\" has examples"
	if slices.Contains(flags, "--isl") && slices.Contains(flags, "--osl") {
		hint = "lengths also come from --preset chat, --workload or --trace; " + hint
	}
	return errors.Join(plan.Unknown(env.world(), f.Request), withHint(usagef("missing: %s", join(flags)), "%s", hint))
}

// readWorkloads makes the workloads that were given.
func (f *planFlags) readWorkloads(fs *pflag.FlagSet) error {
	given := firstGiven(fs, "isl", "osl", "prefix", "length-ratio-low", "preset", "trace", "length-distribution", "output-distribution") != ""
	switch {
	case f.several != nil && given:
		return usagef("--workload excludes the flags for one workload (--isl, --osl, --preset, --trace …)")
	case f.several == nil && !given:
		return nil
	case f.several == nil:
		f.Workloads = []session.Workload{f.alone}
		return nil
	}
	var err error
	f.Workloads, err = workloadsOf(f.several)
	return err
}

// lengthless lists the missing lengths of a single workload.
func (f *planFlags) lengthless() []string {
	x := &f.alone
	if f.several != nil || len(f.Workloads) == 0 || x.Preset != "" || x.Trace != "" {
		return nil
	}
	var missing []string
	if x.Input == 0 && x.InputLengths == nil {
		missing = append(missing, "--isl")
	}
	if x.Output == 0 && x.OutputLengths == nil {
		missing = append(missing, "--osl")
	}
	return missing
}

// workloadsOf reads the values of --workload.
func workloadsOf(words []string) ([]session.Workload, error) {
	var out []session.Workload
	var errs []error
	for _, word := range words {
		x, err := workloadOf(word)
		errs = append(errs, err)
		out = append(out, x)
	}
	return out, errors.Join(errs...)
}

// workloadOf reads NAME=ISL:OSL[:SHARE]; a preset or a file may replace ISL:OSL.
func workloadOf(word string) (session.Workload, error) {
	name, spec, ok := strings.Cut(word, "=")
	if !ok || name == "" || spec == "" {
		return session.Workload{}, usagef("--workload must be NAME=ISL:OSL[:SHARE], NAME=PRESET[:SHARE], NAME=FILE[:SHARE] or NAME=session:KEY=VALUE,…[:SHARE], got %q", word)
	}
	x := session.Workload{Name: name}
	parts := strings.Split(spec, ":")
	number := func(i int) (n float64, ok bool) {
		if i >= len(parts) {
			return 0, false
		}
		n, err := strconv.ParseFloat(parts[i], 64)
		return n, err == nil
	}
	if parts[0] == commandline.SessionWord {
		return x, sessionOf(&x, name, strings.Join(parts[1:], ":"))
	}
	share := 1
	_, isNumber := number(0)
	_, isPreset := workload.LookupPreset(parts[0])
	switch {
	case isNumber:
		share = 2
		var errs [2]error
		x.Input, errs[0] = strconv.Atoi(parts[0])
		x.Output, errs[1] = strconv.Atoi(strings.Join(parts[1:min(2, len(parts))], ""))
		if errors.Join(errs[:]...) != nil || min(x.Input, x.Output) < 1 {
			return x, usagef("--workload %s: ISL:OSL must be whole numbers above 0, got %q", name, spec)
		}
	case isPreset:
		x.Preset = parts[0]
	default:
		x.Trace = parts[0]
	}
	if len(parts) > share+1 {
		return x, usagef("--workload %s: too many parts in %q", name, spec)
	}
	if len(parts) == share+1 {
		n, ok := number(share)
		if !ok || !(n > 0) {
			return x, usagef("--workload %s: SHARE must be a number above 0, got %q", name, parts[share])
		}
		x.Share = n
	}
	return x, nil
}

// readPrices reads USD and SYSTEM=USD.
func (f *planFlags) readPrices() error {
	for _, word := range f.prices {
		system, price, ok := strings.Cut(word, "=")
		if !ok {
			system, price = "", word
		}
		usd, err := strconv.ParseFloat(price, 64)
		if err != nil || !(usd > 0) {
			return usagef("--price must be USD or SYSTEM=USD above 0, got %q", word)
		}
		if f.Prices == nil {
			f.Prices = map[string]float64{}
		}
		if system != "" {
			f.Prices[system] = usd
			continue
		}
		for _, s := range f.Systems {
			f.Prices[s] = usd
		}
	}
	return nil
}
