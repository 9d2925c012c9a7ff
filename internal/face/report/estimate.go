package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// EstimateView selects the sections of an estimate printed after its summary.
type EstimateView struct{ Memory, Time, Source bool }

// Estimate prints the figures of one deployment in the format of AIConfigurator.
func Estimate(w io.Writer, r *estimate.Response, v EstimateView) {
	heavy, light := strings.Repeat("=", frame), strings.Repeat("-", frame)
	fmt.Fprintf(w, "%s\n  Performance Estimate (%s)\n%s\n", heavy, r.Mode, heavy)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-18s%s\n", name+":", fmt.Sprintf(format, args...))
	}
	q := &r.Request
	e := &q.Experiment
	line("Model", "%s", e.Model)
	line("System", "%s", e.System)
	line("Backend", "%s", strings.TrimSpace(e.Engine.Name+" "+e.Engine.Version))
	fmt.Fprintln(w, light)
	line("ISL", "%d", e.Input)
	line("OSL", "%d", e.Output)
	if e.Prefix > 0 {
		line("Prefix", "%d", e.Prefix)
	}
	for i := range r.Pools {
		workersLines(line, r, &r.Pools[i])
	}
	line("Total GPUs", "%d", r.Devices)
	line("Concurrency", "%d", q.Concurrency)
	fmt.Fprintln(w, light)
	timesAndRates(line, r)
	for i := range r.Pools {
		p := &r.Pools[i]
		line(roleMark(p)+"Memory (GPU)", "%.2f of %.2f GiB in use", p.InUse.GiB(), p.Memory.Memory.GiB())
	}
	if g := r.Guide; g != nil {
		line("Ascend's guide", "%.2f tokens/s, TTFT %.3f ms, TPOT %.3f ms", g.Throughput, g.TTFT, g.TPOT)
	}
	fmt.Fprintln(w, light)
	line("Tier", "%s: operator times from %s", r.Tier, r.Tier.Meaning())
	line("Intervals (80 %)", "%s", r.Expected.Basis)
	fmt.Fprintln(w, heavy)
	for i := range r.Pools {
		poolDetail(w, r, &r.Pools[i], v)
	}
	notesOf(w, r.Notes)
	fmt.Fprintln(w, session.Caution)
}

// roleMark is the mark of a role in AIConfigurator's tables.
func roleMark(p *estimate.Pool) string {
	switch p.Role {
	case deployment.Prefill:
		return "(p) "
	case deployment.Decode:
		return "(d) "
	case deployment.Both:
	}
	return ""
}

// workersLines print the workers of a role.
func workersLines(line func(name, format string, args ...any), r *estimate.Response, p *estimate.Pool) {
	mark, pool := roleMark(p), deployment.Pool{Layout: p.Layout}
	if p.System != r.Pools[0].System {
		line(mark+"System", "%s", p.System)
	}
	line(mark+"Parallel", "%s", parallelOf(&pool.Layout, r.Experts || p.Layout.DP > 1))
	line(mark+"Batch Size", "%d", p.Batch)
	line(mark+"Workers", "%d of %s GPUs", p.Workers, gpusOf(&pool, r.Experts || p.Layout.DP > 1))
}

// timesAndRates prints them, without those that a static mode does not have.
func timesAndRates(line func(name, format string, args ...any), r *estimate.Response) {
	x := &r.Expected
	timed := func(name string, t units.Seconds, e calibration.Error) {
		if t > 0 {
			line(name, "%.3f ms (%s)", t.Ms(), plusMinus(e))
		}
	}
	timed("TTFT", r.TTFT, x.TTFT)
	timed("TPOT", r.TPOT, x.TPOT)
	timed("Request Latency", r.Latency, x.Throughput.Inverse())
	line("tokens/s", "%.2f (%s)", r.Throughput, plusMinus(x.Throughput))
	line("tokens/s/gpu", "%.2f", r.TokensPerGPU.Value)
	if r.TPOT > 0 {
		line("tokens/s/user", "%.2f", r.TPOT.Rate())
	}
	line("seq/s", "%.3f", r.RequestRate)
	if e := r.Energy; e != nil {
		line("Power", "%.1f W per GPU, %s J per output token (%s)%s", float64(e.Watts), units.Figure(e.PerToken.Value), plusMinus(e.Error), unmeasured(e.Tier))
	}
	if r.Judged.Chance != nil {
		line("Within limits", "%s", chance(*r.Judged.Chance))
	}
}

// poolDetail prints the sections after the summary.
func poolDetail(w io.Writer, r *estimate.Response, p *estimate.Pool, v EstimateView) {
	mark := roleMark(p)
	if v.Memory {
		memoryBars(w, mark, r, p)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if v.Time {
			stepTimes(w, mark, s)
		}
		if v.Source {
			stepSources(w, mark, s, !v.Time)
		}
	}
}

// bar draws a share in a number of cells.
func bar(share float64, cells int) string {
	n := int(math.Round(min(max(share, 0), 1) * float64(cells)))
	return strings.Repeat("█", n) + strings.Repeat("░", cells-n)
}

// memoryBars prints how the engine divides GPU memory.
func memoryBars(w io.Writer, mark string, r *estimate.Response, p *estimate.Pool) {
	const cells = 40
	m := &p.Memory
	fmt.Fprintf(w, "\n%sGPU memory (capacity %.2f GiB, memory_share %g of %s)\n", mark, m.Memory.GiB(), m.Share, m.ShareOf)
	t := table.New("part", ">GiB", "", ">share")
	add := func(name string, b units.InGiB) {
		share := float64(b / m.Memory)
		t.Row(name, fmt.Sprintf("%.3f", b.GiB()), bar(share, cells), fmt.Sprintf("%.1f %%", 100*share))
	}
	used := units.InGiB(p.KVPeak) * m.KV
	add("weights", m.Weights)
	add("activations", m.Activation)
	add("workspace", m.Workspace)
	add("KV cache in use, peak", used)
	add("KV cache free", m.KV-used)
	if m.States > 0 {
		add("recurrent states", m.States)
	}
	add("unused", m.Memory-m.Weights-m.Activation-m.Workspace-m.KV-m.States)
	put(w, t, "")
	e := &r.Request.Experiment
	fmt.Fprintf(w, "KV cache: %s per token and GPU; %d tokens, or %d requests of %d tokens, per data-parallel rank\n",
		m.PerToken, m.Tokens, m.Tokens/(e.Input+e.Output), e.Input+e.Output)
}

// stepTitle describes a step.
func stepTitle(mark string, s *estimate.Step) string {
	name := "Prefill step"
	if s.Phase == "decode" {
		name = "Decode step"
	}
	title := fmt.Sprintf("%s%s of %s per rank, %s each", mark, name, units.Counted(s.Requests, "request"), units.Counted(s.Query, "new token"))
	if s.Cached > 0 {
		title += fmt.Sprintf(" after %d", s.Cached)
	}
	return title
}

// stepTimes prints the operators of a step beside their physical limits.
func stepTimes(w io.Writer, mark string, s *estimate.Step) {
	const cells = 12
	fmt.Fprintf(w, "\n%s\n", stepTitle(mark, s))
	t := table.New("operator", ">calls", ">time", ">limit", ">of limit", "", ">share", "bound", "source")
	for i := range s.Operators {
		o := &s.Operators[i]
		t.Row(
			o.Name, fmt.Sprintf("%.0f", o.Calls), o.Time, o.Limit, fmt.Sprintf("%.1f %%", 100*o.LimitShare),
			bar(o.Share, cells), fmt.Sprintf("%.1f %%", 100*o.Share), o.Bound, o.Source,
		)
	}
	put(w, t, "")
	fmt.Fprintf(w, "Kernels %s, physical limit %s (%.1f %% of that speed)", s.Time, s.Limit, 100*s.LimitShare)
	if e := s.Engine; e != nil {
		fmt.Fprintf(w, "; %s takes %s: kernels %s after calibration, host %s", e.Title, e.Time, e.Kernels, e.Host)
	}
	fmt.Fprintln(w)
}

// stepSources prints the origin of a step's times, by operator if no table above shows it.
func stepSources(w io.Writer, mark string, s *estimate.Step, each bool) {
	fmt.Fprintf(w, "\n%s: source of times\n", stepTitle(mark, s))
	var order []string
	count, share := map[string]int{}, map[string]float64{}
	for i := range s.Operators {
		o := &s.Operators[i]
		if count[o.Source] == 0 {
			order = append(order, o.Source)
		}
		count[o.Source]++
		share[o.Source] += 100 * o.Share
	}
	t := table.New("source", ">operators", ">share")
	for _, source := range order {
		t.Row(source, strconv.Itoa(count[source]), fmt.Sprintf("%.1f %%", share[source]))
	}
	put(w, t, "")
	for i := range s.Operators {
		o := &s.Operators[i]
		if !each && o.Kernels == "" {
			continue
		}
		kernels := ""
		if o.Kernels != "" {
			kernels = " (" + o.Kernels + ")"
		}
		fmt.Fprintf(w, "  %-30s %s%s\n", o.Name, o.Source, kernels)
	}
}
