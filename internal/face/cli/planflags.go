package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// planFlags are those of "plimsoll plan".
type planFlags struct {
	ops.PlanRequest

	alone         session.Workload // what the flags for one workload say
	several       []string         // --workload
	input, output string           // files of distributions
	ttft, tpot    float64
	latency       float64
	percentile    string
	mode          string
	prices        []string
	energyPrice   float64
	out           string
	force         bool
	json, quiet   bool
	wizard        wizardFlags
}

// define adds the flags, in the sections help shows.
func (f *planFlags) define(fs *pflag.FlagSet) {
	section(fs, "Hardware", func(fs *pflag.FlagSet) {
		nargs.ListVar(fs, &f.Systems, "device", nargs.OneOrMore, nargs.Text, "systems to compare (--system; plimsoll devices lists them), or all")
		fs.StringVar(&f.DeviceFile, "device-file", "", "your own device profile, a YAML `file`")
		fs.IntVar(&f.Devices, "gpus", 0, "GPUs there are, of each system")
		fs.Float64Var(&f.Rate, "rate", 0, "requests per second to carry, instead of --gpus")
		nargs.ListVar(fs, &f.Daily, "daily", nargs.OneOrMore, nargs.Float, "requests per second over equal parts of a day, instead of --gpus")
		nargs.ListVar(fs, &f.prices, "price", nargs.OneOrMore, nargs.Text, "US dollars for an hour of one GPU: `USD`, or SYSTEM=USD (default the list price)")
		fs.Float64Var(&f.energyPrice, "energy-price", simulate.DefaultEnergyPrice, "US dollars for a kilowatt-hour, added to the price of GPUs: `USD`; 0 where that includes it")
	})
	section(fs, "Workload", f.defineWorkload)
	section(fs, "Limits", func(fs *pflag.FlagSet) {
		nargs.Var(fs, &f.ttft, "ttft", positiveOrInf, "limit on TTFT in `ms`")
		nargs.Var(fs, &f.tpot, "tpot", positiveOrInf, "limit on TPOT in `ms`")
		nargs.Var(fs, &f.latency, "request-latency", positiveOrInf, "limit on the latency of a whole request in `ms`")
		nargs.Var(fs, &f.percentile, "percentile", nargs.OneOf("mean", "p50", "p90", "p95", "p99"), "what is held to the limits: mean, p50, p90, p95 or p99 (default mean)")
		fs.Float64Var(&f.Confidence, "confidence", ops.DefaultConfidence, "probability with which the limits must be met")
	})
	section(fs, "Deployments to compare", func(fs *pflag.FlagSet) {
		nargs.ListVar(fs, &f.Engines, "engine", nargs.OneOrMore, nargs.Text, "engines (default all that run on the system)")
		enginePreset(fs, &f.EnginePreset)
		nargs.Var(fs, &f.mode, "serving-mode", nargs.OneOf("auto", "agg", "disagg"), "agg, disagg, or auto for both (default auto)")
		nargs.Var(fs, &f.Formats.Checkpoint, "weights", nargs.OneOf("fp8", "fp4", "int4"), "number format of a converted checkpoint: fp8, fp4 or int4 (default the model's)")
		nargs.Var(fs, &f.Formats.KV, "kv-cache", nargs.OneOf("fp8", "int8", "bf16"), "number format of the KV cache: fp8, int8 or bf16 (default the model's)")
		formatFlags(fs, &f.Formats)
		expertFormatFlags(fs, &f.Formats)
		fs.IntVar(&f.MTP, "nextn", 0, "draft tokens per step (MTP)")
		nargs.ListVar(fs, &f.AcceptanceRates, "nextn-accept-rates", nargs.OneOrMore, nargs.Float, "probabilities that draft tokens are accepted")
	})
	section(fs, "Questions", f.wizard.define)
	section(fs, "Output", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.out, "out", "", "write plan.json, report.html, report.md and the files that run the best deployment into this `directory`")
		fs.BoolVar(&f.force, "force", false, "replace what an earlier plan wrote there")
		fs.BoolVar(&f.NoChanges, "no-changes", false, "leave out what would change the answer")
		fs.BoolVar(&f.json, "json", false, "print JSON, the same as plan.json")
		fs.BoolVarP(&f.quiet, "quiet", "q", false, "print no notes and no progress, only errors")
		calibration(fs, &f.Calibration, "80 % intervals")
		perfData(fs, &f.PerfData)
		fs.IntVar(&f.Jobs, "jobs", 0, "simulations at a time (default 8)")
	})
}

// defineWorkload adds the flags on requests.
func (f *planFlags) defineWorkload(fs *pflag.FlagSet) {
	var names []string
	for _, p := range workload.Presets() {
		names = append(names, p.Name)
	}
	x := &f.alone
	fs.IntVar(&x.Input, "isl", 0, "input `tokens` of a request")
	fs.IntVar(&x.Output, "osl", 0, "output `tokens` of a request")
	fs.IntVar(&x.Prefix, "prefix", 0, "input `tokens` found in the prefix cache")
	fs.Float64Var(&x.LengthLow, "length-ratio-low", 0, "lengths are uniform between this share of the length and the whole length (default 1, all alike)")
	nargs.Var(fs, &x.Preset, "preset", nargs.OneOf(names...), "lengths of a known use: "+join(names))
	fs.StringVar(&x.Trace, "trace", "", "lengths of the requests of a trace `file`; their times are not used")
	fs.StringVar(&f.input, "length-distribution", "", "distribution of input lengths: a `file` (YAML bins, CSV or trace), or builtin")
	fs.StringVar(&f.output, "output-distribution", "", "distribution of output lengths: a `file`, or builtin")
	nargs.ListVar(fs, &f.several, "workload", nargs.OneOrMore, nargs.Text,
		"workloads that share the deployment, each `NAME=ISL:OSL[:SHARE]`; a preset or a trace file may stand for ISL:OSL")
}

// complete turns words into a request.
func (f *planFlags) complete(fs *pflag.FlagSet, env *Env, args []string) error {
	if len(args) > 0 {
		f.Model = args[0]
	}
	if fs.Changed("energy-price") {
		f.EnergyPrice = &f.energyPrice
	}
	errs := []error{zeros(fs, "gpus", "isl", "osl"), confidence(fs), lengthLow(fs), f.readLengths(fs, env), f.readWorkloads(fs), f.readPrices()}
	for _, flag := range []string{"rate"} {
		if isZero(fs, flag) {
			errs = append(errs, usagef("--%s must be positive, got 0", flag))
		}
	}
	ms := func(x float64) units.Seconds { return units.Seconds(x) * units.Millisecond }
	f.Limits = workload.Limits{TTFT: ms(f.ttft), TPOT: ms(f.tpot), Latency: ms(f.latency)}
	if p, ok := strings.CutPrefix(f.percentile, "p"); ok {
		n, err := strconv.Atoi(p)
		f.Percentile = float64(n)
		errs = append(errs, err)
	}
	if f.mode == string(ops.Aggregated) || f.mode == string(ops.Disaggregated) {
		f.Modes = []ops.ServingMode{ops.ServingMode(f.mode)}
	}
	if f.Formats.MXFP4Group != 0 && f.Formats.Linear == "" {
		f.Formats.MXFP4Group = 0 // its default says nothing
	}
	if f.Confidence == ops.DefaultConfidence {
		f.Confidence = 0
	}
	return errors.Join(errs...)
}

// lacking are all inputs that are missing.
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

// missing reports all inputs that are missing at once.
func (f *planFlags) missing() error {
	flags := f.lacking()
	if flags == nil {
		return nil
	}
	return withHint(usagef("missing: %s", join(flags)), "\"plimsoll plan --help\" has examples")
}

// readLengths reads distributions.
func (f *planFlags) readLengths(fs *pflag.FlagSet, env *Env) (err error) {
	for _, d := range []struct {
		flag, length, file string
		to                 **workload.Distribution
	}{
		{"length-distribution", "isl", f.input, &f.alone.InputLengths},
		{"output-distribution", "osl", f.output, &f.alone.OutputLengths},
	} {
		if !fs.Changed(d.flag) {
			continue
		}
		if fs.Changed(d.length) || f.alone.Trace != "" {
			return usagef("--%s excludes --%s and --trace", d.flag, d.length)
		}
		if *d.to, err = readDistribution(env, d.flag, d.file); err != nil {
			return err
		}
	}
	return nil
}

// readWorkloads makes the workloads that were given.
func (f *planFlags) readWorkloads(fs *pflag.FlagSet) error {
	given := false
	for _, flag := range []string{"isl", "osl", "prefix", "length-ratio-low", "preset", "trace", "length-distribution", "output-distribution"} {
		given = given || fs.Changed(flag)
	}
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

// lengthless are the lengths that are missing beside what is given of one workload.
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

// workloadOf reads NAME=ISL:OSL[:SHARE], where a preset or a file may stand for ISL:OSL.
func workloadOf(word string) (session.Workload, error) {
	name, spec, ok := strings.Cut(word, "=")
	if !ok || name == "" || spec == "" {
		return session.Workload{}, usagef("--workload must be NAME=ISL:OSL[:SHARE], NAME=PRESET[:SHARE] or NAME=FILE[:SHARE], got %q", word)
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

// workloads adds the workloads of a plan.
func (c *commandLine) workloads(all []session.Workload) {
	if len(all) == 1 && all[0].Name == all[0].Preset {
		x := &all[0]
		if x.IsPreset() {
			c.add(true, "preset", x.Preset)
			return
		}
		c.add(x.Trace == "" && x.Input > 0, "isl", x.Input)
		c.add(x.Trace == "" && x.Output > 0, "osl", x.Output)
		c.add(x.Prefix > 0, "prefix", x.Prefix)
		c.add(x.LengthLow > 0 && x.LengthLow != 1, "length-ratio-low", x.LengthLow)
		c.add(x.Trace != "", "trace", x.Trace)
		c.add(x.InputLengths != nil, "length-distribution", "FILE")
		c.add(x.OutputLengths != nil, "output-distribution", "FILE")
		return
	}
	list(c, "workload", workloadWords(all))
}

// workloadWords are values of --workload.
func workloadWords(all []session.Workload) []string {
	var words []string
	for i := range all {
		x := &all[i]
		word := fmt.Sprintf("%s=%d:%d", x.Name, x.Input, x.Output)
		if x.IsPreset() {
			word = x.Name + "=" + x.Preset
		}
		if x.Trace != "" {
			word = x.Name + "=" + x.Trace
		}
		if x.Share != 0 && x.Share != 1 {
			word += fmt.Sprintf(":%g", x.Share)
		}
		words = append(words, word)
	}
	return words
}

// prices adds prices that differ from the list.
func (c *commandLine) prices(r *ops.PlanRequest) {
	var words []string
	for _, system := range slices.Sorted(maps.Keys(r.Prices)) {
		words = append(words, fmt.Sprintf("%s=%g", system, r.Prices[system]))
	}
	list(c, "price", words)
}
