package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// nothing reports that no configuration is feasible, why, and the nearest feasible limits.
func nothing(w io.Writer, r *optimize.Response, d *optimize.Device, p *optimize.Search) {
	counts := map[search.Verdict]int{}
	for i := range p.Candidates {
		counts[p.Candidates[i].Rejected]++
	}
	stars := strings.Repeat("*", frame)
	fmt.Fprintln(w, "\n"+stars)
	switch {
	case counts[search.OverLatency] > 0:
		fmt.Fprintln(w, "No configurations satisfy the current latency limits.")
	case counts[search.OverTPOT]+counts[search.OverTTFT] > 0:
		fmt.Fprintln(w, "No configurations satisfy the current TTFT/TPOT filters.")
	case counts[search.NoMemory] > 0:
		fmt.Fprintln(w, "No configurations fit in memory.")
	default:
		fmt.Fprintln(w, "No configurations are possible with these sizes.")
	}
	fmt.Fprintf(w, "  %s, %s on %d × %s, %s\n", r.Model, p.Mode, p.NumDevices, d.Name, kernels(p.Compiled))
	for _, verdict := range []search.Verdict{search.NoMemory, search.OverTPOT, search.OverTTFT, search.OverLatency, search.RangeEnds, search.IllegalShape} {
		if n := counts[verdict]; n > 0 {
			fmt.Fprintf(w, "  %d of %d layouts rejected: %s\n", n, len(p.Candidates), verdict)
		}
	}
	for i := range p.Candidates {
		fmt.Fprintf(w, "    %s: %s\n", p.Candidates[i].Label, p.Candidates[i].Reason)
	}
	switch n := p.Nearest; {
	case n != nil:
		fmt.Fprintf(w, "  Nearest feasible limits: %s, with %s at batch %d\n", nearestLimits(p), n.Label, n.Batch)
	case len(p.Helps) > 0:
		whatHelps(w, p)
	case counts[search.NoMemory] > 0:
		fmt.Fprintln(w, "  Use more devices, lower precision, shorter prompts or less reserved memory.")
	default:
		fmt.Fprintln(w, "  No layout is legal for the model: change the sizes named above.")
	}
	fmt.Fprintln(w, stars)
}

// whatHelps prints the smallest changes with which the model fits, each with the command of its search.
func whatHelps(w io.Writer, p *optimize.Search) {
	fmt.Fprintln(w, "  What would help:")
	for i := range p.Helps {
		h := &p.Helps[i]
		got := fmt.Sprintf("%.2f tokens/s", h.Throughput)
		if l := h.Feasible; l != nil {
			got = "fits, and meets " + feasible(l)
		}
		fmt.Fprintf(w, "    %s: %s with %s at batch %d\n", h.What, got, h.Label, h.Batch)
		if h.Command != "" {
			fmt.Fprintf(w, "      %s\n", h.Command)
		}
	}
}

// feasible names limits that can be met.
func feasible(l *session.Limits) string {
	var out []string
	for _, x := range []struct {
		name string
		ms   *float64
	}{{"TTFT", l.TTFT}, {"TPOT", l.TPOT}, {"request latency", l.Latency}} {
		if x.ms != nil {
			out = append(out, fmt.Sprintf("%s %.2f ms", x.name, *x.ms))
		}
	}
	return strings.Join(out, " and ")
}

// nearestLimits names the limits to raise, and the other latency.
func nearestLimits(p *optimize.Search) string {
	n := p.Nearest
	ttft, tpot := fmt.Sprintf("TTFT %.2f ms", session.UpMs(n.TTFT)), fmt.Sprintf("TPOT %.2f ms", session.UpMs(n.TPOT))
	if l := p.Limits.Latency; l > 0 && n.Latency > l {
		return fmt.Sprintf("request latency %.2f ms (%s, %s)", session.UpMs(n.Latency), ttft, tpot)
	}
	overTTFT := p.Limits.TTFT > 0 && n.TTFT > p.Limits.TTFT
	overTPOT := p.Limits.TPOT > 0 && n.TPOT > p.Limits.TPOT
	switch {
	case p.Mode == search.PrefillOnly:
		return ttft
	case p.Mode == search.DecodeOnly:
		return tpot
	case overTTFT && !overTPOT:
		return ttft + " (" + tpot + ")"
	case overTPOT && !overTTFT:
		return tpot + " (" + ttft + ")"
	}
	return ttft + " and " + tpot
}
