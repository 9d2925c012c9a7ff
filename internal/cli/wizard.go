package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/app"
	"plimsoll/internal/nargs"
	"plimsoll/internal/report"
	"plimsoll/internal/wizard"
)

// wizardFlags are those of commands that ask for what is missing.
type wizardFlags struct {
	lang, answers string
}

// newWizardCmd makes "plimsoll wizard", which asks everything.
func newWizardCmd(env *Env) *cobra.Command {
	f := &wizardFlags{}
	cmd := &cobra.Command{
		Use: "wizard", Short: "Ask what a plan needs, and run it", Hidden: true, GroupID: groupPlan, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), env, nil) },
	}
	nargs.Var(cmd.Flags(), &f.lang, "lang", nargs.OneOf("en", "zh"), "language of the questions: en or zh (default by the locale)")
	cmd.Flags().StringVar(&f.answers, "answers", "", "take answers from a `file` that was saved")
	return cmd
}

// asks reports whether a person can be asked.
func (e *Env) asks() bool { return e.IsTerminal(e.Stdin) && e.IsTerminal(e.Stdout) }

// run asks for what the answers of the flags and of the file lack, and runs it.
func (f *wizardFlags) run(ctx context.Context, env *Env, known wizard.Answers) error {
	if f.answers != "" {
		data, err := env.ReadFile(f.answers)
		if err != nil {
			return usagef("reading --answers: %w", err)
		}
		saved, err := wizard.Read(data, f.answers)
		if err != nil {
			return usage(err)
		}
		for id, a := range known { // what is given now counts
			saved[id] = a
		}
		known = saved
	}
	if !env.asks() && f.answers == "" {
		return usagef("missing: %s", strings.Join(wizard.MissingFlags(known), ", "))
	}
	c := env.wizard(f.lang)
	c.Answers = known
	err := wizard.Run(ctx, c)
	switch missing, ok := errors.AsType[*wizard.MissingError](err); {
	case ok:
		return withHint(usagef("%s: %w", f.answers, missing), "on a terminal the program asks for them")
	case errors.Is(err, wizard.ErrQuit):
		return errors.New(c.Lang.Say().NothingRun)
	}
	return asked(err)
}

// wizard is a wizard in this world.
func (e *Env) wizard(lang string) *wizard.Config {
	out := e.Stdout
	if w, ok := out.(*watchedWriter); ok && e.asks() {
		out = w.to // whose terminal is drawn on
	}
	world := e.world()
	dumb := e.Getenv("TERM") == "" || e.Getenv("TERM") == "dumb" || e.Getenv("ACCESSIBLE") != ""
	c := &wizard.Config{
		In: e.Stdin, Out: out, Width: e.Width(), Color: e.Color(e.Stdout), Plain: dumb, Silent: !e.asks(),
		Lang: wizard.Lang(lang), World: world, Say: flagOf, Save: e.CreateAtomic,
		OptimizeCommand: func(r app.OptimizeRequest) string {
			r = r.Completed()
			return optimizeCommand(&r, "")
		},
		PlanCommand: func(app.PlanRequest) string { return "plimsoll plan" },
		Plan:        func(context.Context, app.PlanRequest) error { return errors.New("not yet") },
		Optimize: func(ctx context.Context, r app.OptimizeRequest) (*app.OptimizeResponse, error) {
			line := e.progress(false)
			world.Progress = line.show
			defer line.done()
			return world.Optimize(ctx, r)
		},
		Report: func(r *app.OptimizeResponse) {
			report.Optimize(out, r, report.OptimizeView{Color: e.Color(e.Stdout), Width: e.Width(), Plots: true, Command: stepCommand})
		},
	}
	if lang == "" {
		c.Lang = wizard.FromLocale(e.Getenv)
	}
	return c
}
