package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// explainAll prints explanations, and how several devices differ.
func explainAll(w io.Writer, r *optimize.Response) {
	for i := range r.Explanations {
		explain(w, &r.Explanations[i])
	}
	if len(r.Devices) > 1 {
		differences(w, r)
	}
}

func explain(w io.Writer, x *optimize.Explanation) {
	o := &x.Row.Best
	fmt.Fprintf(w, "\nWhy %s on %s (%s, batch %d, %.2f tokens/s)\n", x.Label, x.Device, x.Mode, o.Batch, o.Throughput)
	for _, s := range x.Steps {
		fmt.Fprintf(w, "  A %s step takes %s: %s; launches take %.1f %%\n", s.Phase, s.Time, Split(s.Bound), 100*s.Fixed)
		if s.Command != "" {
			fmt.Fprintf(w, "    %s\n", s.Command)
		}
	}
	fmt.Fprintf(w, "  The batch is limited by: %s\n", binding(x.Binds))
	if x.Next != "" {
		fmt.Fprintf(w, "  Next best: %s, %.1f %% less throughput (limited by: %s)\n", x.Next, 100**x.Gap, binding(x.NextBinds))
	}
	if len(x.What) > 0 {
		fmt.Fprintln(w, "  What would change the throughput:")
	}
	for _, c := range x.What {
		if !c.OK {
			fmt.Fprintf(w, "    %-24s no feasible configuration\n", c.Change)
			continue
		}
		fmt.Fprintf(w, "    %-24s %+.1f %% throughput\n", c.Change, 100*c.Share)
	}
}

// binding names what limits the batch.
func binding(v search.Verdict) string {
	if v == search.Saturated {
		return "nothing (more requests add no throughput)"
	}
	return string(v)
}

// differences compares the best row of each device and phase with that of the first device that has one, next to the
// ratios of their hardware.
func differences(w io.Writer, r *optimize.Response) {
	all := r.Explanations
	profile := map[string]*device.Profile{}
	for i := range r.Devices {
		profile[r.Devices[i].Name] = &r.Devices[i].Profile
	}
	first := map[search.Mode]*optimize.Explanation{}
	for i := range all {
		x := &all[i]
		base, ok := first[x.Mode]
		if !ok {
			first[x.Mode] = x
			continue
		}
		fmt.Fprintf(w, "\n%s compared with %s (%s): throughput ×%.2f; hardware: %s\n", x.Device, base.Device, x.Mode,
			x.Row.Best.Throughput/base.Row.Best.Throughput, ratios(profile[x.Device], profile[base.Device]))
		for s := range x.Steps {
			a, b := &x.Steps[s], &base.Steps[s]
			fmt.Fprintf(w, "  %s step: %s (%s) instead of %s (%s)\n", a.Phase, a.Time, Split(a.Bound), b.Time, Split(b.Bound))
		}
	}
}

// ratios compares the hardware of two devices.
func ratios(d, base *device.Profile) string {
	var parts []string
	add := func(name string, a, b float64) {
		if b > 0 {
			parts = append(parts, fmt.Sprintf("%s ×%.2f", name, a/b))
		}
	}
	add("compute", wide(&d.Matrix)*d.ComputeEfficiency, wide(&base.Matrix)*base.ComputeEfficiency)
	add("memory bandwidth", float64(d.Bandwidth)*d.MemoryEfficiency, float64(base.Bandwidth)*base.MemoryEfficiency)
	add("memory", d.Memory.GiB(), base.Memory.GiB())
	if len(d.Links) > 0 && len(base.Links) > 0 {
		a, b := d.Links[len(d.Links)-1], base.Links[len(base.Links)-1]
		add("innermost link", float64(a.Bandwidth)*a.Efficiency, float64(b.Bandwidth)*b.Efficiency)
	}
	return strings.Join(parts, ", ")
}
