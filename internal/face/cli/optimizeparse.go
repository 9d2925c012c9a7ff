package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// modelArg accepts the model as an argument or as --model-id.
func (f *optimizeFlags) modelArg(env *Env, cmd *cobra.Command, args []string) error {
	switch {
	case f.modelID != "" && len(args) > 0:
		return usagef("give the model either as an argument or with --model-id, not both")
	case f.modelID != "":
		f.model = f.modelID
		return nil
	case len(args) == 0 && f.tookModel(env):
		f.model, f.Form.Distribution = f.Form.Distribution.File, workload.Named(workload.BuiltinFile)
		return nil
	}
	if err := modelArg(cmd, args); err != nil {
		return err
	}
	f.model, f.noModel = theModel(cmd, args)
	return nil
}

// tookModel reports whether the file of --length-distribution is the model: the guide's flag is a switch, and a model may follow it.
func (f *optimizeFlags) tookModel(env *Env) bool {
	d := f.Form.Distribution
	if d == nil || d.File == workload.BuiltinFile {
		return false
	}
	file, err := env.Open(d.File)
	if err != nil {
		return true
	}
	_ = file.Close()
	return false
}

// complete turns flags into a request.
func (f *optimizeFlags) complete(env *Env) error {
	var wrong error
	f.Request, wrong = f.Ask()
	f.Model, f.Traces = f.model, f.trace != ""
	lengths := f.readLengths(env)
	errs := []error{
		f.noModel, usage(wrong), lengths, f.checkFiles(), f.profiling.check(), f.draft.check(f.set, f.Draft.Method),
		usageIf(f.warnCombinations < 0, "--max-search-combinations must not be negative, got %d", f.warnCombinations),
	}
	return errors.Join(append(errs, f.olderBudget(lengths == nil))...)
}

// olderBudget is the budget of a step under its older name. Prompts are then not split: the longest, where lengths could be read, must
// fit whole.
func (f *optimizeFlags) olderBudget(read bool) error {
	const name = "max-prefill-tokens"
	if !f.set.Changed(name) {
		return nil
	}
	need, whose := 0, "a prompt"
	if read {
		need = f.longest()
	}
	if f.Request.Distribution != nil {
		whose = "the longest prompt"
	}
	switch {
	case f.set.Changed("max-batched-tokens"):
		return usagef("give either --max-batched-tokens or --%s, its older name, not both", name)
	case f.prefillTokens < 1:
		return usagef("--%s must be positive, got %d", name, f.prefillTokens)
	case f.prefillTokens < need:
		return withHint(usagef("--%s %d is less than the %d uncached tokens of %s", name, f.prefillTokens, need, whose),
			"--max-batched-tokens splits prompts into chunks")
	}
	f.Budget = f.prefillTokens
	return nil
}

// longest is the tokens to compute of the longest prompt of an aggregated search; 0 where that is not known or wrong.
func (f *optimizeFlags) longest() int {
	n := f.Input
	if f.Request.Distribution != nil {
		n = session.Longest(f.Request.Distribution)
	}
	if n == 0 || session.HitRate(f.PrefixHitRate) != nil || f.Disagg || f.PDRatio {
		return 0
	}
	return workload.Effective(n, f.PrefixHitRate)
}

// readLengths reads the distribution that --input-length or --length-distribution names. A length may be a file, as in newer versions of
// the vendor's tool.
func (f *optimizeFlags) readLengths(env *Env) error {
	d := &f.Request.Distribution
	if *d == nil || f.set.Changed("length-distribution") {
		return env.readLengths("length-distribution", d)
	}
	file := (*d).File
	err := env.readLengths("input-length", d)
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return usagef("invalid value %q for --input-length: want a positive whole number or a file of lengths", file)
	}
	return err
}
