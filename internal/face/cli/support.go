package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/support"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// supportFlags are those of "plimsoll cli support".
type supportFlags struct {
	support.Request
	outputFlags

	path, backend string
}

// all stands for every system or engine.
const all = "all"

// newSupportCmd makes "plimsoll cli support".
func newSupportCmd(env *Env) *cobra.Command {
	f := &supportFlags{}
	cmd := &cobra.Command{
		Use:   "support",
		Short: "List supported models, systems and engines, with the expected error",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	section(cmd.Flags(), "Selection", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.Model, "model", "", "the model: a name like QWEN3_32B, a Hugging Face id, or a directory with config.json (default the measured ones)")
		fs.StringVar(&f.path, "model-path", "", "same as --model")
		nargs.ListVar(fs, &f.Systems, "device", nargs.OneOrMore, nargs.Text, "systems, or all; same as --system (default all)")
		nargs.Var(fs, &f.backend, "backend", nargs.OneOf("trtllm", "sglang", "vllm", "mindie", "atom", all), "engine: trtllm, sglang, vllm, mindie, atom, or all for trtllm, sglang and vllm (default all)")
		fs.StringVar(&f.Version, "backend-version", "", "engine version (default the newest)")
	})
	section(cmd.Flags(), "Output", func(fs *pflag.FlagSet) {
		f.define(fs)
		calibration(fs, &f.Calibration, "errors")
	})
	silentFlags(cmd.Flags())
	return cmd
}

// run asks and prints.
func (f *supportFlags) run(cmd *cobra.Command, env *Env) error {
	if f.Model == "" {
		f.Model = f.path
	}
	if len(f.Systems) == 1 && f.Systems[0] == all {
		f.Systems = nil
	}
	if f.backend != "" && f.backend != all {
		f.Engines = []string{f.backend}
	}
	if f.Version != "" && f.Engines == nil {
		return usagef("--backend-version %s needs --backend", f.Version)
	}
	if err := f.formats(); err != nil {
		return usage(err)
	}
	r, err := support.Run(cmd.Context(), env.world(), f.Request)
	if err != nil {
		return asked(err)
	}
	return show(env, f.json, r, report.Support)
}

// formats are those that an older name has on each system. Systems that do not exist are
// left to the operation.
func (f *supportFlags) formats() error {
	if f.Model == "" {
		return nil
	}
	systems := f.Systems
	if systems == nil {
		systems = device.Names()
	}
	f.Formats = map[string]deployment.Formats{}
	var errs []error
	for _, s := range systems {
		if _, err := device.Lookup(s); err != nil {
			continue
		}
		formats, _, err := nvidia.Formats(f.Model, s, nvidia.Modes{})
		f.Formats[s] = formats
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
