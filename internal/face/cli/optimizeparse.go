package cli

import (
	"errors"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// builtinDistribution is the value of --length-distribution without a file.
const builtinDistribution = "builtin"

// modelArg accepts the model as an argument or as --model-id.
func (f *optimizeFlags) modelArg(env *Env, cmd *cobra.Command, args []string) error {
	switch {
	case f.modelID != "" && len(args) > 0:
		return usagef("give the model either as an argument or with --model-id, not both")
	case f.modelID != "":
		f.Model = f.modelID
		return nil
	case len(args) == 0 && f.tookModel(env):
		f.Model, f.distribution = f.distribution, builtinDistribution
		return nil
	}
	if err := modelArg(cmd, args); err != nil {
		return err
	}
	f.Model, f.noModel = theModel(cmd, args)
	return nil
}

// tookModel reports whether the file of --length-distribution is the model: the
// guide's flag is a switch, and a model may follow it.
func (f *optimizeFlags) tookModel(env *Env) bool {
	if f.distribution == "" || f.distribution == builtinDistribution {
		return false
	}
	file, err := env.Open(f.distribution)
	if err != nil {
		return true
	}
	_ = file.Close()
	return false
}

// tokens parses a number of tokens: 3500 or 3.5k.
func tokens(word string) (int, error) {
	if n, err := nargs.Int(word); err == nil {
		return n, nil
	}
	x, err := units.ReadCount(word)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
		return 0, errors.New("want a whole number, such as 3500 or 3.5k")
	}
	return int(x), nil
}

// positiveOrInf parses a positive time: 50, which is in milliseconds, 50ms, 2s or inf.
func positiveOrInf(word string) (float64, error) {
	x, err := units.ReadMs(word)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, errors.New("want a positive time, such as 50 (milliseconds), 50ms or 2s, or inf")
	case x <= 0:
		return 0, errors.New("must be positive")
	}
	return x, nil
}

// limitVar defines a flag of a limit in milliseconds.
func limitVar(fs *pflag.FlagSet, to *units.Seconds, name, usage string) {
	nargs.Var(fs, to, name, func(word string) (units.Seconds, error) {
		ms, err := positiveOrInf(word)
		return units.Seconds(ms / 1e3), err
	}, usage).DefValue = ""
}

// complete turns flags into a request.
func (f *optimizeFlags) complete(env *Env) error {
	if f.DeviceFile != "" && !f.set.Changed("device") {
		f.Devices = nil
	}
	f.Traces = f.trace != ""
	if f.set.Changed("reserved-memory-gb") {
		f.ReservedGiB = &f.reserved
	}
	f.ServingCost = units.Seconds(f.servingCost / 1e3)
	var draft, tokens error
	f.Draft, draft = f.draft.draft()
	lengths := f.lengths(env)
	if f.set.Changed("max-batched-tokens") || f.set.Changed("max-prefill-tokens") {
		f.Budget, tokens = f.tokens(lengths == nil)
		f.AutoBudget = f.Budget == 0 && tokens == nil
	}
	return errors.Join(f.noModel, f.modelling.complete(f.set, &f.Modelling), f.checkGiven(), f.checkFiles(), f.profiling.check(),
		draft, tokens, lengths)
}

// checkGiven reports counts out of range and required flags that are missing.
func (f *optimizeFlags) checkGiven() error {
	errs := []error{
		zeros(f.set, "num_devices", "jobs", "mxfp4_group_size"), notZero(f.set, "length-ratio-low", upToOne), notZero(f.set, "confidence", belowOne),
	}
	for _, c := range []struct {
		flag  string
		value int
	}{
		{"prefill-devices-per-instance", f.PrefillDevices},
		{"decode-devices-per-instance", f.DecodeDevices},
		{"image-batch-size", f.ImageBatch},
		{"image-height", f.ImageHeight},
		{"image-width", f.ImageWidth},
	} {
		errs = append(errs, usageIf(f.set.Changed(c.flag) && c.value < 1, "--%s must be positive, got %d", c.flag, c.value))
	}
	return errors.Join(append(errs,
		usageIf(f.warnCombinations < 0, "--max-search-combinations must not be negative, got %d", f.warnCombinations),
		usageIf(!f.set.Changed("output-length"), "--output-length is required"))...)
}

// tokens is the budget of a step; auto is 0. Under its older name prompts are not split: the longest, where lengths could be read, must
// fit whole.
func (f *optimizeFlags) tokens(read bool) (int, error) {
	const name = "max-prefill-tokens"
	if !f.set.Changed(name) {
		return budget(f.budget)
	}
	need, whose := 0, "a prompt"
	if read {
		need = f.longest()
	}
	if f.Distribution != nil {
		whose = "the longest prompt"
	}
	switch {
	case f.set.Changed("max-batched-tokens"):
		return 0, usagef("give either --max-batched-tokens or --%s, its older name, not both", name)
	case f.prefillTokens < 1:
		return 0, usagef("--%s must be positive, got %d", name, f.prefillTokens)
	case f.prefillTokens < need:
		return 0, withHint(usagef("--%s %d is less than the %d uncached tokens of %s", name, f.prefillTokens, need, whose),
			"--max-batched-tokens splits prompts into chunks")
	}
	return f.prefillTokens, nil
}

// longest is the tokens to compute of the longest prompt of an aggregated search; 0 where that is not known or wrong.
func (f *optimizeFlags) longest() int {
	n := f.Input
	if f.Distribution != nil {
		n = session.Longest(f.Distribution)
	}
	if n == 0 || session.HitRate(f.PrefixHitRate) != nil || f.Disagg || f.PDRatio {
		return 0
	}
	return workload.Effective(n, f.PrefixHitRate)
}

// budget parses --max-batched-tokens; auto is 0.
func budget(word string) (int, error) {
	if strings.EqualFold(word, "auto") {
		return 0, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return 0, usagef("invalid value %q for --max-batched-tokens: want a positive whole number, or auto", word)
	}
	return n, nil
}

// lengths reads --input-length and --length-distribution. A length may also be
// a file, as in newer versions of the vendor's tool.
func (f *optimizeFlags) lengths(env *Env) error {
	if f.set.Changed("input-length") && f.set.Changed("length-distribution") {
		return usagef("give either --input-length or --length-distribution, not both")
	}
	if f.set.Changed("length-distribution") {
		return f.readLengths(env, f.distribution)
	}
	if !f.set.Changed("input-length") {
		return nil // the request is checked for it
	}
	n, err := strconv.Atoi(f.input)
	switch {
	case err == nil && n > 0:
		f.Input = n
		return nil
	case err == nil:
		return usagef("invalid value %q for --input-length: must be positive", f.input)
	case errors.Is(err, strconv.ErrRange):
		return usagef("invalid value %q for --input-length: out of range", f.input)
	}
	if err := f.readLengths(env, f.input); err != nil {
		if _, unread := errors.AsType[*fs.PathError](err); unread {
			return usagef("invalid value %q for --input-length: want a positive whole number or a file of lengths", f.input)
		}
		return err
	}
	return nil
}

// lengthsFile names the file of a distribution, or the built-in one.
func (f *optimizeFlags) lengthsFile() string {
	if f.set.Changed("length-distribution") {
		return f.distribution
	}
	return f.input
}

// readLengths reads the distribution of prompts in a file.
func (f *optimizeFlags) readLengths(env *Env, file string) (err error) {
	if f.Distribution, err = readDistribution(env, "length-distribution", file); err != nil {
		f.Distribution = workload.Builtin() // stands for it while the rest is checked
	}
	return err
}

// lengthFile is a flag that names a distribution, the flag of the fixed length that it excludes, and its value.
type lengthFile struct{ flag, length, file string }

// read reads the distribution, if the flag is set.
func (l lengthFile) read(env *Env, fs *pflag.FlagSet, trace string, to **workload.Distribution) (err error) {
	if !fs.Changed(l.flag) {
		return nil
	}
	if fs.Changed(l.length) || trace != "" {
		return usagef("--%s excludes --%s and --trace", l.flag, l.length)
	}
	*to, err = readDistribution(env, l.flag, l.file)
	return err
}

// readDistribution reads the distribution a flag names: the built-in one, or that
// in a file.
func readDistribution(env *Env, flag, file string) (*workload.Distribution, error) {
	if file == builtinDistribution {
		return workload.Builtin(), nil
	}
	in, err := env.Open(file)
	if err != nil {
		return nil, usagef("reading --%s: %w", flag, err)
	}
	defer func() { _ = in.Close() }()
	d, err := workload.ReadDistribution(in, file)
	return d, usage(err)
}
