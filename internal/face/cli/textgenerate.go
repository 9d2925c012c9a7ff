package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// textGenerateFlags are flags of Ascend's text_generate that "plimsoll step" reads so that its command lines run here.
type textGenerateFlags struct {
	modelID   string
	profiling profilingFlags
	sizes     map[string]*int // of a module, where they must be what TP and DP make of it
	vision    int
}

// define adds the flags. Those without effect are not in the help.
func (f *textGenerateFlags) define(into *pflag.FlagSet) {
	section(into, "Ascend's text_generate", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.modelID, "model-id", "", "the model, instead of the argument")
		f.sizes = map[string]*int{}
		for _, module := range []string{"o-proj", "mlp", "lmhead"} {
			for _, way := range []string{"tp", "dp"} {
				name := module + "-" + way + "-size"
				f.sizes[name] = fs.Int(name, 0, "accepted if equal to --"+way+"-size")
			}
		}
		fs.IntVar(&f.vision, "vision-tp-size", 1, "accepted if 1: vision towers are not sharded")
	})
	f.profiling.define(into)
	hidden := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range f.without() {
		hidden.Bool(name, false, "accepted for compatibility, without effect")
	}
	for _, name := range f.unsupported() {
		hidden.Bool(name, false, "not supported")
	}
	nargs.ListVar(hidden, new([]string), "fusion-plugin", nargs.OneOrMore, nargs.Text, "not supported")
	for _, name := range []string{"graph-log-path", "remote-source", "log-level"} {
		hidden.String(name, "", "accepted for compatibility, without effect")
	}
	hidden.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = true
		into.AddFlag(flag)
	})
}

// without lists switches that are always on, or that concern only how the vendor's program runs.
func (*textGenerateFlags) without() []string {
	return []string{
		"compile-allow-graph-break",
		"no-repetition",         // equal layers are computed once, with the same result
		"dump-input-shapes",     // the vendor's table by shapes
		"dump-op-bound-results", // always printed
	}
}

// unsupported lists switches that would change the result.
func (*textGenerateFlags) unsupported() []string {
	return []string{
		"quantize-lmhead", "enable-redundant-experts", "enable-external-shared-experts", "host-external-shared-experts",
	}
}

// arguments are the arguments with the model that --model-id names.
func (f *textGenerateFlags) arguments(args []string) ([]string, error) {
	switch {
	case f.modelID == "":
		return args, nil
	case len(args) > 0:
		return args, usagef("give the model either as an argument or with --model-id, not both")
	}
	return []string{f.modelID}, nil
}

// check reports options that "plimsoll step" does not model.
func (f *textGenerateFlags) check(cmd *cobra.Command, tp, dp int) error {
	fs := cmd.Flags()
	errs := []error{f.profiling.check()}
	for _, name := range append(f.unsupported(), "fusion-plugin") {
		errs = append(errs, usageIf(fs.Changed(name), "--%s is not supported", name))
	}
	for _, name := range slices.Sorted(maps.Keys(f.sizes)) {
		want, way := tp, "tp-size"
		if strings.HasSuffix(name, "dp-size") {
			want, way = dp, "dp-size"
		}
		got := *f.sizes[name]
		errs = append(errs, usageIf(fs.Changed(name) && got != want, "--%s %d is not supported: all modules use --%s %d", name, got, way, want))
	}
	return errors.Join(append(errs, usageIf(f.vision != 1, "--vision-tp-size %d is not supported: vision towers are not sharded", f.vision))...)
}
