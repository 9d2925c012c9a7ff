package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// Step prints a step for people.
func Step(w io.Writer, r *opsstep.Response) {
	fmt.Fprintf(w, "%s on %d × %s, %s\n", r.Model, r.Sizes.Devices, r.Device, r.Layout)
	fmt.Fprintf(w, "%s; %s\n\n", batchLine(r), formatLine(r))
	operators(w, r)
	fmt.Fprintf(w, "\nStep            %s %s", r.Result.Time, plusMinus(r.Error))
	if r.Result.Hidden > 0 {
		fmt.Fprintf(w, " (%s overlaps with communication)", r.Result.Hidden)
	}
	if e := r.Engine; e != nil {
		fmt.Fprintf(w, "\nEngine          %s: %s per step, of which %s host work; kernels take %s after calibration", e.Title, e.Time, e.Host, e.Kernels)
	}
	fmt.Fprintf(w, "\nThroughput      %.1f tokens/s/device\n", r.TokensPerSecond)
	if e := r.Energy; e != nil {
		fmt.Fprintf(w, "Energy          %s W and %s J per device, %s J in total, %s J per new token%s\n", units.Figure(float64(e.Watts)),
			units.Figure(float64(e.PerDevice)), units.Figure(float64(e.All)), units.Figure(float64(e.PerToken)), unmeasured(e.Tier))
	}
	fmt.Fprintf(w, "Bound by        %s; launches take %.1f %% of the step\n", Split(r.Result.Bound), percent(r.Result.Fixed, r.Result.Time))
	memoryLine(w, r)
	if r.Tables != nil {
		fmt.Fprintf(w, "Measured        kernel tables cover %.1f %% of the step time; the basis below covers the rest\n", percent(r.Result.Measured, r.Result.Time+r.Result.Hidden))
	}
	tables(w, r.Tables)
	for _, a := range r.Deviations {
		fmt.Fprintf(w, "Deviation       %s: %s (%+.1f %% of the step)\n", a.Name, a.Doc, 100*a.Share)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "Note            %s\n", n)
	}
	low, high := r.Error.Times(r.Result.Time)
	fmt.Fprintf(w, "Interval        %s to %s (80 %%), from %s\n", low, high, r.Basis)
	if x := r.Silicon; x != nil {
		fmt.Fprintf(w, "On silicon      %s (%s to %s, 80 %%), with times of measured kernels (--policy physical)\n", units.Seconds(x.Total.Value), units.Seconds(x.Total.Low), units.Seconds(x.Total.High))
	}
	fmt.Fprintf(w, "Basis           %s\n", basis(r))
}

// unmeasured marks an estimated power.
func unmeasured(t device.Tier) string {
	if t == device.Transferred {
		return "; estimated: the power of this generation was not measured"
	}
	return ""
}

// basis describes the origin of a prediction.
func basis(r *opsstep.Response) string {
	b := operatorTimes(r.Tier)
	if r.Policy == tensorcast.Name {
		b += "; with TensorCast's assumptions, which the physical policy drops"
	}
	return b
}

// operatorTimes describes the origin of the operator times.
func operatorTimes(t device.Tier) string {
	from := t.Meaning()
	if t == device.Measured {
		from += " where they cover an operator, otherwise fits or data-sheet peaks"
	}
	return "predicted, not measured; operator times from " + from + " (tier " + string(t) + ")"
}

func batchLine(r *opsstep.Response) string {
	phase := "prefill"
	if r.Decode {
		phase = "decode"
	}
	line := fmt.Sprintf("%s step, %s per DP rank, %s each", phase, units.Counted(r.Requests, "request"), units.Counted(r.Query, "new token"))
	if cached := r.Seq - r.Query; cached > 0 {
		line += " after " + units.Thousands(cached) + " cached"
	}
	if n := r.MTP; n > 0 {
		line += fmt.Sprintf(", MTP %d", n)
	}
	if im := r.Images; im.Count > 0 {
		line += fmt.Sprintf(", %s of %s patches (%s tokens) each", units.Counted(im.Count/r.Requests, "image"), units.Thousands(im.Patches), units.Thousands(im.Tokens))
	}
	return line
}

func formatLine(r *opsstep.Response) string {
	linear := r.Formats.Linear
	if e := r.Formats.Experts; e != "" {
		linear += ", experts " + e
	}
	return fmt.Sprintf("linear layers %s, KV cache %s, %s, policy %s", linear, r.Formats.KV, kernels(r.Compiled), r.Policy)
}

// kernels is compiled if operators are fused, otherwise eager.
func kernels(compiled bool) string {
	if compiled {
		return "compiled"
	}
	return "eager"
}

// operators prints the operators in the order of their first call, with the engine of measured kernels if any.
func operators(w io.Writer, response *opsstep.Response) {
	r := &response.Result
	head := []string{"operator", ">calls", ">time", ">share", "bound", ">cube", ">vector", ">memory", ">comm", ">fixed"}
	if response.Tables != nil {
		head = append(head, "measured")
	}
	t := table.New(head...)
	for i := range r.Operators {
		o := &r.Operators[i]
		p := &o.Estimate
		var measured []string
		if p.Measured > 0 {
			measured = []string{fmt.Sprintf("%.0f %% %s", percent(p.Measured, p.Total), o.Kernels)}
		}
		t.Row(o.Name, fmt.Sprintf("%.0f", o.Calls), o.Time, fmt.Sprintf("%.1f %%", percent(o.Time, r.Time)), o.Bound,
			blank(p.Matrix), blank(p.Vector), blank(p.Memory), blank(p.Comm), blank(p.Fixed), measured)
	}
	put(w, t, "")
}

// blank prints a duration, or nothing for none.
func blank(s units.Seconds) string {
	if s == 0 {
		return ""
	}
	return s.String()
}

func percent(part, whole units.Seconds) float64 {
	return 100 * units.Share(part, whole)
}

// Split prints the four bounds as shares of their sum, in the order the Ascend
// tools print them.
func Split(b step.Bounds) string { return shares(b) + " %" }

// shares is the same without the unit, as in their tables.
func shares(b step.Bounds) string {
	sum := b.Memory + b.Comm + b.Cube + b.Vector
	return fmt.Sprintf("Mem %.2f | Comm %.2f | Cube %.2f | Vec %.2f",
		percent(b.Memory, sum), percent(b.Comm, sum), percent(b.Cube, sum), percent(b.Vector, sum))
}

func memoryLine(w io.Writer, r *opsstep.Response) {
	m := r
	fmt.Fprintf(w, "Memory          weights %.2f + KV %.2f + activation %.2f", m.Weights.GiB(), m.KV.GiB(), m.Activation.GiB())
	if m.Reserved > 0 {
		fmt.Fprintf(w, " + reserved %.2f", m.Reserved.GiB())
	}
	fmt.Fprintf(w, " of %.2f GiB per device: ", r.DeviceMemory.GiB())
	if m.Available < 0 {
		fmt.Fprintf(w, "does not fit, %.2f GiB short\n", -m.Available.GiB())
		return
	}
	fmt.Fprintf(w, "%.2f GiB left\n", m.Available.GiB())
}
