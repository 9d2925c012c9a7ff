package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// newPlanCmd makes "plimsoll plan".
func newPlanCmd(env *Env) *cobra.Command {
	f := &planFlags{}
	cmd := &cobra.Command{
		Use:               "plan MODEL",
		Short:             "Find the best deployment of a model: its capacity, its cost and the files that run it",
		GroupID:           groupPlan,
		Args:              modelArg,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
		ValidArgsFunction: completeModel,
	}
	f.define(cmd.Flags())
	return cmd
}

// run plans and prints.
func (f *planFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	if err := f.complete(cmd.Flags(), env, args); err != nil {
		return err
	}
	if f.wizard.answers != "" || f.asksFor(cmd.Flags(), env) {
		return f.ask(cmd, env)
	}
	if err := errors.Join(f.missing(), f.free(env)); err != nil {
		return err
	}
	r, err := env.plan(cmd.Context(), f.Request, f.quiet)
	if err != nil {
		return err
	}
	if len(r.Contenders) == 0 {
		return errors.Join(show(env, f.json, r, report.Ways), usagef("%s %s", r.Answer.Sentence, r.Answer.Reason))
	}
	if f.out != "" {
		if err := f.write(cmd.Context(), env, r); err != nil {
			return err
		}
	}
	return show(env, f.json, r, report.Plan)
}

// plan plans.
func (e *Env) plan(ctx context.Context, q plan.Request, quiet bool) (*plan.Response, error) {
	r, err := watched(ctx, e, quiet, plan.Run, q)
	if err == nil {
		r.Say(e.programVersion(), planCommand)
	}
	return r, err
}

// planCommand is the command line of a plan request.
func planCommand(r *plan.Request) string {
	if !sayable(r) {
		return ""
	}
	c := commandLine{"plimsoll plan", launch.Quote(r.Model)}
	list(&c, "system", r.Systems)
	c.sources(&r.Sources)
	c.add(r.Devices > 0, "gpus", r.Devices)
	c.add(r.Rate > 0, "rate", r.Rate)
	list(&c, "daily", r.Daily)
	if x := r.ColdStart; x != nil {
		c.add(true, "cold-start", *x)
	}
	c.add(r.Spare > 0, "spare", r.Spare)
	c.add(r.Utilization > 0, "utilization", r.Utilization)
	c.workloads(r.Workloads)
	c.limit("ttft", r.Limits.TTFT)
	c.limit("tpot", r.Limits.TPOT)
	c.limit("request-latency", r.Limits.Latency)
	c.word(r.NoLimits, "--no-limits")
	c.add(r.Percentile > 0, "percentile", fmt.Sprintf("p%g", r.Percentile))
	c.add(r.Goodput > 0, "goodput", r.Goodput)
	c.add(r.Confidence > 0 && r.Confidence != search.DefaultConfidence, "confidence", r.Confidence)
	list(&c, "engine", r.Engines)
	c.add(r.EnginePreset != "", "engine-preset", r.EnginePreset)
	c.caches(r.Routing, r.Host)
	c.add(len(r.Modes) == 1, "serving-mode", modeWord(r.Modes))
	c.add(r.Formats.Checkpoint != "", "weights", r.Formats.Checkpoint)
	c.add(r.Formats.KV != "", "kv-cache", r.Formats.KV)
	c.formats(&r.Formats)
	c.add(r.Draft != "", "draft", r.Draft)
	c.add(r.MTP > 0, "nextn", r.MTP)
	list(&c, "nextn-accept-rates", r.AcceptanceRates)
	c.prices(r)
	if a := r.API; a != nil {
		list(&c, "api-price", []float64{a.Input, a.Output})
	}
	if p := r.EnergyPrice; p != nil {
		c.add(*p != simulate.DefaultEnergyPrice, "energy-price", *p)
	}
	c.word(r.NoChanges, "--no-changes")
	return c.String()
}

func modeWord(modes []experiment.ServingMode) string {
	if len(modes) == 0 {
		return ""
	}
	return string(modes[0])
}
