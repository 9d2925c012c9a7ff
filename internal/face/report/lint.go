package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Lint prints the check of a launch command or of launch files.
func Lint(w io.Writer, r *lint.Response) {
	release := r.Version
	if release == "" {
		release = "(newest release)"
	}
	if r.Engine == "" {
		fmt.Fprintln(w, "No engine is started; objects beside engines were checked.")
		findings(w, r)
		return
	}
	fmt.Fprintf(w, "%s on %d × %s under %s %s\n", cmp.Or(r.Model, "An unknown model"), r.Devices, cmp.Or(r.Device, "an unknown device"), r.Title, release)
	for _, p := range r.Pools {
		what := "Workers"
		switch p.Role {
		case deployment.Prefill:
			what = "Prefill"
		case deployment.Decode:
			what = "Decode"
		case deployment.Both:
		}
		fmt.Fprintf(w, "%-16s%d × %s (%s each)\n", what, p.Replicas, p.Layout, units.Counted(p.Devices, "device"))
		if len(p.Settings) > 0 {
			fmt.Fprintf(w, "%-16s%s\n", "Settings", strings.Join(p.Settings, ", "))
		}
	}
	if r.Capacity != nil {
		capacity(w, r)
	}
	if r.Prediction != nil {
		predicted(w, r.Prediction)
	}
	findings(w, r)
	improvements(w, r)
	if r.Prediction != nil {
		fmt.Fprintf(w, "\n%s\n", session.Caution)
	}
}

// capacity prints memory, cache and the highest safe concurrency.
func capacity(w io.Writer, r *lint.Response) {
	c := r.Capacity
	m := &c.Memory
	fmt.Fprintf(w, "Memory          %s per device: weights %s, activations %s, workspace %s, KV cache %s, free %s\n",
		m.Memory, m.Weights, m.Activation, m.Workspace, m.KV, c.Free)
	fmt.Fprintf(w, "KV cache        %d tokens", c.Tokens)
	if c.Ranks > 1 {
		fmt.Fprintf(w, " on %d ranks of %d", c.Ranks, m.Tokens)
	}
	limits := "the batch limit"
	if c.Held < c.Limit {
		limits = "the KV cache"
	}
	q := &r.Request
	fmt.Fprintf(w, "\nConcurrency     up to %d requests of %d + %d tokens, limited by %s (batch limit %d, cache holds %d)\n",
		c.Safe, q.Input, q.Output, limits, c.Limit, c.Held)
}

// predicted prints the figures.
func predicted(w io.Writer, s *simulate.Response) {
	e, r := &s.Expected, &s.Result
	fmt.Fprintf(w, "\nPredicted at %s in flight, with 80 %% intervals:\n", units.Counted(s.Request.Concurrency, "request"))
	fmt.Fprintf(w, "  TTFT          %s (%s)\n", r.TTFT.Mean, plusMinus(e.TTFT))
	fmt.Fprintf(w, "  TPOT          %s (%s)\n", r.TPOT.Mean, plusMinus(e.TPOT))
	fmt.Fprintf(w, "  Throughput    %.1f output tokens/s (%s)\n", r.OutputRate, plusMinus(e.Throughput))
	if s.Request.Limits.Any() {
		fmt.Fprintf(w, "  Limits        met with a probability of %s\n", chance(*s.Judged.Chance))
	}
	if g := s.Guide; g != nil {
		fmt.Fprintf(w, "  Guide         %s by the formulas of Ascend's guide (throughput-optimizer)\n", guided(g))
	}
	if s.InStep() {
		fmt.Fprintln(w, "  Requests of equal length run in lockstep, unlike real traffic: TTFT is that of a whole wave.")
	}
}

// findings prints the findings.
func findings(w io.Writer, r *lint.Response) {
	if len(r.Findings) == 0 {
		fmt.Fprintln(w, "\nNo findings.")
		return
	}
	fmt.Fprintln(w, "\nFindings:")
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(w, "  %-8s%s %s%s\n", f.Severity, f.Code, placed(f), found(f))
		if f.Better != "" {
			fmt.Fprintf(w, "          better: %s\n", f.Better)
		}
	}
}

// placed is the file and the line of a finding, in front of it; "" for one in a command.
func placed(f *lint.Finding) string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: ", f.File, f.Line)
	case f.File != "":
		return f.File + ": "
	}
	return ""
}

// found is what was found, and where unless that is said.
func found(f *lint.Finding) string {
	if f.Where == "" || strings.HasPrefix(f.What, f.Where+" ") {
		return f.What
	}
	return f.Where + ": " + f.What
}

// improvements prints the better settings.
func improvements(w io.Writer, r *lint.Response) {
	if len(r.Better) == 0 {
		return
	}
	within := "; without limits on TTFT and TPOT they may increase latency"
	if r.Request.Limits.Any() {
		within = " within the limits"
	}
	fmt.Fprintf(w, "\nBetter settings, one change each (output tokens/s%s):\n", within)
	for i := range r.Better {
		b := &r.Better[i]
		gain := "new"
		if b.Gain > 0 {
			gain = fmt.Sprintf("%+.0f %%", 100*b.Gain)
		}
		fmt.Fprintf(w, "  %-8s%s: %.1f at %d in flight, TTFT %s, TPOT %s", gain, b.Change, b.Tokens.Value, b.Concurrency, inMs(b.Judged.TTFT), inMs(b.Judged.TPOT))
		if b.Note != "" {
			fmt.Fprintf(w, " (%s)", b.Note)
		}
		fmt.Fprintln(w)
	}
}

// Rules prints what codes of findings mean.
func Rules(w io.Writer, all []lint.Rule) {
	for i := range all {
		r := &all[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		fixed := ""
		if r.Fixed {
			fixed = ", corrected by --fix"
		}
		fmt.Fprintf(w, "%s %s (%s%s)\n  %s\n  %s\n", r.Code, r.Title, r.Severity, fixed, r.Why, r.Mend)
		if r.Source != "" {
			fmt.Fprintf(w, "  Source: %s.\n", r.Source)
		}
	}
}

// inMs is an estimate in milliseconds as a duration.
func inMs(e *figures.Estimate) units.Seconds {
	return units.Seconds(e.Zero().Value) * units.Millisecond
}
