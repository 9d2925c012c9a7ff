package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/face/wizard"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// wizardFlags control the questions of "plimsoll plan".
type wizardFlags struct {
	lang, answers string
}

// define adds the flags.
func (f *wizardFlags) define(fs *pflag.FlagSet) {
	nargs.Var(fs, &f.lang, "lang", nargs.OneOf("en", "zh"), "language of the questions: en or zh (default by the locale)")
	fs.StringVar(&f.answers, "answers", "", "reuse the answers saved in a `file`, and ask for the rest")
}

// asks reports whether the program can ask questions.
func (e *Env) asks() bool { return e.IsTerminal(e.Stdin) && e.IsTerminal(e.Stdout) }

// asksFor reports whether to ask for missing inputs: unless the answer goes elsewhere than to the terminal, or the workloads are
// such as no question covers.
func (f *planFlags) asksFor(env *Env) bool {
	return f.lacking() != nil && env.asks() && !f.json && f.out == "" && f.DeviceFile == "" && !f.Several() && f.Table().First("trace", "length-distribution", "output-distribution") == ""
}

// unasked is a flag that is set and that no question covers, "" for none.
func (f *planFlags) unasked(fs *pflag.FlagSet) string {
	asked := []string{
		"system", "gpus", "rate", "daily", "preset", "isl", "osl", "prefix", "ttft", "tpot", "nextn", "nextn-accept-rates",
		"quantize-linear-action", "quantize-attention-action", "lang", "answers", "quiet", "explain",
	}
	others := given(fs, func(x *pflag.Flag) bool { return !slices.Contains(asked, x.Name) })
	return append(others, "")[0]
}

// known are the answers that the flags give.
func (f *planFlags) known(fs *pflag.FlagSet) wizard.Answers {
	out := wizard.Answers{}
	give := func(given bool, id wizard.ID, value string) {
		if given {
			out[id] = wizard.Answer{Value: value, Source: wizard.Source{Origin: wizard.Flag}}
		}
	}
	var rates []string
	for _, x := range f.AcceptanceRates {
		rates = append(rates, fmt.Sprint(x))
	}
	alone := f.Single()
	ttft, tpot := fs.Changed("ttft"), fs.Changed("tpot")
	give(f.Model != "", wizard.Model, f.Model)
	give(f.Systems != nil, wizard.Devices, strings.Join(f.Systems, " "))
	give(f.Devices > 0, wizard.NumDevices, strconv.Itoa(f.Devices))
	give(f.Rate > 0, wizard.NumDevices, fmt.Sprintf("%g/s", f.Rate))
	give(f.Daily != nil, wizard.NumDevices, strings.Trim(fmt.Sprint(f.Daily), "[]")+"/s")
	give(alone.Preset != "", wizard.Input, alone.Preset)
	give(alone.Input > 0, wizard.Input, strconv.Itoa(alone.Input))
	give(alone.Output > 0, wizard.Output, strconv.Itoa(alone.Output))
	give(ttft && tpot, wizard.SLO, wizard.Both)
	give(ttft && !tpot, wizard.SLO, wizard.TTFTOnly)
	give(tpot && !ttft, wizard.SLO, wizard.TPOTOnly)
	give(ttft, wizard.TTFT, fmt.Sprint(f.Limits.TTFT.TypedMs()))
	give(tpot, wizard.TPOT, fmt.Sprint(f.Limits.TPOT.TypedMs()))
	give(alone.Prefix > 0, wizard.PrefixCache, wizard.Yes)
	give(alone.Prefix > 0, wizard.PrefixTokens, strconv.Itoa(alone.Prefix))
	give(f.MTP > 0, wizard.MTP, wizard.Yes)
	give(f.MTP > 0, wizard.MTPTokens, strconv.Itoa(f.MTP))
	give(rates != nil, wizard.MTPRates, strings.Join(rates, " "))
	give(f.Formats.Linear != "" || f.Formats.Attention != "", wizard.Quantization, wizard.Custom)
	give(f.Formats.Linear != "", wizard.Linear, string(f.Formats.Linear))
	give(f.Formats.Attention != "", wizard.Attention, string(f.Formats.Attention))
	return out
}

// ask asks for inputs that neither flags nor the file of answers give, and runs the command.
func (f *planFlags) ask(cmd *cobra.Command, env *Env) error {
	known := f.known(cmd.Flags())
	if file := f.wizard.answers; file != "" {
		if other := f.unasked(cmd.Flags()); other != "" {
			return usagef("--answers excludes --%s, which no question covers", other)
		}
		data, err := env.ReadFile(file, bound.Answers)
		if err != nil {
			return usagef("reading --answers: %w", err)
		}
		saved, err := wizard.Read(data, file)
		if err != nil {
			return usage(err)
		}
		maps.Copy(saved, known) // flags override
		known = saved
	}
	c := env.wizard(f)
	c.Answers = known
	if f.unasked(cmd.Flags()) != "" {
		c.Base = &f.Request
	}
	err := wizard.Run(cmd.Context(), c)
	switch missing, ok := errors.AsType[*wizard.MissingError](err); {
	case ok:
		return withHint(usagef("%s: %w", f.wizard.answers, missing), "on a terminal, plimsoll asks for them")
	case errors.Is(err, wizard.ErrQuit):
		return errors.New(c.Lang.Say().NothingRun)
	}
	return asked(err)
}

// wizard configures the dialogue.
func (e *Env) wizard(f *planFlags) *wizard.Config {
	out := e.Stdout
	if w, ok := out.(*watchedWriter); ok && e.asks() {
		out = w.to // whose terminal is drawn on
	}
	lang := wizard.Lang(f.wizard.lang)
	if lang == "" {
		lang = wizard.FromLocale(e.Getenv)
	}
	own := *e
	own.phrase = lang.Say().Phrase
	e = &own
	dumb := e.Getenv("TERM") == "" || e.Getenv("TERM") == "dumb" || e.Getenv("ACCESSIBLE") != ""
	return &wizard.Config{
		In: e.Stdin, Out: out, Width: e.Width(), Color: e.Color(e.Stdout), Plain: dumb, Silent: !e.asks(),
		Lang: lang, World: e.world(), Say: flagOf, Save: func(name string, write func(io.Writer) error) error { return e.create("", name, write) },
		Optimize: func(ctx context.Context, r optimize.Request) (*optimize.Response, error) {
			return watched(ctx, e, f.quiet, optimize.Run, r)
		},
		Report: func(r *optimize.Response) {
			e.print(func(w io.Writer) {
				report.Optimize(w, r, report.OptimizeView{Color: e.Color(e.Stdout), Width: e.Width(), Plots: true})
			})
		},
		Plan:       func(ctx context.Context, q plan.Request) (*plan.Response, error) { return e.plan(ctx, q, f.quiet) },
		ReportPlan: func(r *plan.Response) { e.print(func(w io.Writer) { f.report()(w, r) }) },
	}
}
