package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/measure"
)

// Measure prints the runs that help a decision most.
func Measure(w io.Writer, r *measure.Response) {
	fmt.Fprintf(w, "%s on %s: %s, by output tokens/s per GPU within the limits (80 %% intervals)\n\n",
		r.Request.Plan.Model, strings.Join(r.Request.Plan.Systems, ""), units.Counted(len(r.Options), "deployment"))
	t := table.New("", "deployment", ">GPUs", ">tokens/s/GPU", ">chance of being best", "")
	for i := range r.Options {
		o := &r.Options[i]
		why := "not measured directly"
		if o.Unmeasured == "" {
			why = ""
		}
		t.Row(i+1, o.Name, o.GPUs, bracketed(o.Tokens), percentage(o.Best), why)
	}
	put(w, t, "")
	fmt.Fprintln(w)
	if len(r.Options) > 1 {
		fmt.Fprintf(w, "Another deployment carries at least 5 %% more than the first with a probability of %s.\n", percentage(r.Wrong))
	}
	if len(r.Runs) > 0 {
		fmt.Fprintf(w, "%s, about %.0f minutes (%.0f GPU-minutes), %s:\n\n", units.Counted(len(r.Runs), "run"), math.Ceil(r.Minutes), math.Ceil(r.GPUMinutes), expected(r))
		runs(w, r.Runs)
	}
	sentences(w, "Note", r.Notes)
	if len(r.Runs) > 0 {
		fmt.Fprintln(w, "\nWrite their scripts with --write DIR; read the results with --from DIR.")
	}
	fmt.Fprintln(w, "\n"+r.Caution)
}

// expected is what the runs are expected to do.
func expected(r *measure.Response) string {
	narrow := fmt.Sprintf("the error of the best one's throughput from %s to %s", percentage(r.Unsure), percentage(r.UnsureAfter))
	if len(r.Options) == 1 {
		return "should lower " + narrow
	}
	return fmt.Sprintf("should lower it to %s, and %s", percentage(r.WrongAfter), narrow)
}

func runs(w io.Writer, all []measure.Run) {
	t := table.New("run", ">GPUs", ">in flight", ">requests", ">seconds", ">TTFT ms", ">TPOT ms", ">tokens/s")
	for i := range all {
		run := &all[i]
		seconds := fmt.Sprintf("%.0f", run.Seconds)
		if run.Start > 0 {
			seconds = fmt.Sprintf("%.0f + %.0f", run.Start, run.Seconds)
		}
		t.Row(run.ID, run.GPUs, run.Concurrency, run.Requests, seconds, bracketed(run.Judged.TTFT.Zero()), bracketed(run.Judged.TPOT.Zero()), bracketed(run.Tokens))
	}
	put(w, t, "")
	fmt.Fprintln(w, "Seconds: server start-up + run. TTFT, TPOT and tokens/s are predictions for the run.")
}

func percentage(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Measured prints what runs say about a decision.
func Measured(w io.Writer, o *measure.Outcome) {
	fmt.Fprintln(w, o.Sentence)
	fmt.Fprintln(w)
	t := table.New("run", "figure", ">predicted", ">80 % interval", ">measured", ">off by", ">after the fit", "")
	for i := range o.Runs {
		r := &o.Runs[i]
		name := r.ID
		for k := range r.Figures {
			f := &r.Figures[k]
			t.Row(name, compared(f), signed(f.Ratio), refitted(r.Refitted, f.Name), inside(f))
			name = ""
		}
	}
	put(w, t, "")
	fmt.Fprintln(w, "\nOutput tokens/s per GPU within the limits, before and after (80 % intervals):")
	fmt.Fprintln(w)
	t = table.New("deployment", ">before", ">after", ">chance of being best: before", ">after", ">runs")
	for i := range o.Options {
		x := &o.Options[i]
		t.Row(x.Name, bracketed(x.Before), bracketed(x.After), percentage(x.Best[0]), percentage(x.Best[1]), x.Runs)
	}
	put(w, t, "")
	sentences(w, "Not used", o.Missing)
	sentences(w, "Note", o.Notes)
}

// signed is how far the measured value lies from the predicted one.
func signed(ratio float64) string { return fmt.Sprintf("%+.0f %%", 100*(ratio-1)) }

// refitted is the same after the fit.
func refitted(all []check.Figure, name string) string {
	for i := range all {
		if all[i].Name == name {
			return signed(all[i].Ratio)
		}
	}
	return "–"
}

// MeasuredKernels prints measured kernels beside the operator times of a device.
func MeasuredKernels(w io.Writer, r *measure.KernelsResponse) {
	fmt.Fprintf(w, "%s measured on %s, compared with the operator times of %s (tier %s)\n\n", units.Counted(len(r.Kernels), "kernel"), r.Device, r.System, r.Tier)
	t := table.New("kernels", ">number", ">measured/predicted: median", ">p10", ">p90")
	for _, g := range r.Groups {
		t.Row(g.Name, g.Kernels, ratio(g.Median), ratio(g.Low), ratio(g.High))
	}
	put(w, t, "")
	fmt.Fprintln(w)
	share := func(name string, x float64) {
		if x > 0 {
			fmt.Fprintf(w, "%-16s%.0f %% of the data sheet's peak\n", name, 100*x)
		}
	}
	share("Products", r.Compute)
	share("Copies", r.Memory)
	share("All-reduce", r.Link)
	fmt.Fprintln(w, "\nThese are PyTorch's own kernels: those of a serving engine may be faster, attention in particular. --out FILE writes a device profile")
	fmt.Fprintln(w, "with the measured efficiencies, which --device-file FILE --pricing roofline uses.")
}
