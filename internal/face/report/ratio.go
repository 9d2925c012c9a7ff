package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
)

// ratioBlock prints the matching of prefill and decode instances on a device.
func ratioBlock(w io.Writer, r *optimize.Response, d *optimize.Device, v OptimizeView) {
	pairs := d.Ratio.Pairs
	if len(pairs) == 0 {
		for k := range d.Searches {
			if len(d.Searches[k].Rows) == 0 {
				nothing(w, r, d, &d.Searches[k])
			}
		}
		return
	}
	q := &r.Request
	rule := "  " + strings.Repeat("-", ratioFrame-4)
	fmt.Fprintln(w, "\n"+strings.Repeat("*", ratioFrame))
	fmt.Fprintln(w, rule)
	fmt.Fprintln(w, "  Input Configuration:")
	fmt.Fprintf(w, "    Model: %s\n", r.Model)
	if q.NumDevices >= q.PrefillDevices+q.DecodeDevices {
		fmt.Fprintf(w, "    Devices: %d %s\n", q.NumDevices, d.Name)
	} else {
		fmt.Fprintf(w, "    Device: %s\n", d.Name)
	}
	fmt.Fprintf(w, "    Prefill Devices Per Instance: %d\n", q.PrefillDevices)
	fmt.Fprintf(w, "    Decode Devices Per Instance: %d\n", q.DecodeDevices)
	fmt.Fprintf(w, "    TTFT Limits: %s ms\n", limit(q.Limits.TTFT))
	fmt.Fprintf(w, "    TPOT Limits: %s ms\n", limit(q.Limits.TPOT))
	fmt.Fprintf(w, "    Modelling: %s\n", modelling(&d.Searches[0]))
	fmt.Fprintln(w, rule)
	if v.Memory {
		fmt.Fprintln(w, "  Memory Info:")
		fmt.Fprintf(w, "    Total device memory:  %.3f GB\n", d.Memory.GiB())
		fmt.Fprintf(w, "    Reserved memory:      %.3f GB\n", *q.ReservedGiB)
		fmt.Fprintln(w, rule)
	}
	bestPair(w, r, d, &pairs[0])
	fmt.Fprintln(w, rule)
	fmt.Fprintf(w, "  Top %d PD Ratio Configurations:\n", len(pairs))
	framed(w, ratioTable(r, pairs), 2, v)
	fmt.Fprintln(w, strings.Repeat("*", ratioFrame))
	pairIntervals(w, d, pairs)
	for k := range d.Searches {
		shapedBy(w, &d.Searches[k])
	}
}

// bestPair prints the best pair by the guide's formulas, then the sustained rates and the best split of instances.
func bestPair(w io.Writer, r *optimize.Response, d *optimize.Device, p *optimize.Pair) {
	fmt.Fprintln(w, "  Overall Best Configuration:")
	fmt.Fprintf(w, "      PD Ratio: %.2f (P Instance:D Instance)\n", p.Ratio)
	fmt.Fprintf(w, "      Prefill QPS: %.2f req/s  (TTFT: %.2f ms, Parallel: %s, Batch: %d, Concurrency: %d)\n",
		p.PrefillQPS, p.P.Best.TTFT.Ms(), p.P.Label, p.P.Batch, p.P.Concurrency)
	fmt.Fprintf(w, "      Decode QPS:  %.2f req/s  (TPOT: %.2f ms, Parallel: %s, Batch: %d, Concurrency: %d)\n",
		p.DecodeQPS, p.D.Best.TPOT.Ms(), p.D.Label, p.D.Batch, p.D.Concurrency)
	s, q := d.Ratio.Sustained, &r.Request
	fmt.Fprintf(w, "      Sustained:   %.2f req/s of prefill  (TTFT: %.2f ms, Parallel: %s, Batch: %d, Concurrency: %d)\n",
		s.PrefillQPS, s.P.Best.TTFT.Ms(), s.P.Label, s.P.Batch, s.P.Concurrency)
	if n := d.Ratio.Instances; n != nil {
		fmt.Fprintf(w, "      P Instances: %d (%d devices)\n", n.Prefill, n.Prefill*q.PrefillDevices)
		fmt.Fprintf(w, "      D Instances: %d (%d devices)\n", n.Decode, n.Decode*q.DecodeDevices)
		fmt.Fprintf(w, "      System QPS:  %.2f req/s\n", n.QPS)
		n = d.Ratio.Nearest
		fmt.Fprintf(w, "      Nearest to the PD ratio: %d P and %d D instances (%d devices), %.2f req/s\n",
			n.Prefill, n.Decode, n.Devices(q.PrefillDevices, q.DecodeDevices), n.QPS)
	}
}

func ratioTable(r *optimize.Response, pairs []optimize.Pair) *table.Table {
	t := table.New(
		"Top", "PD Ratio", "Balanced QPS (req/s)", "P QPS (req/s)", "D QPS (req/s)", "TTFT (ms)", "TPOT (ms)",
		"P Parallel", "D Parallel", "P Devices/Instance", "D Devices/Instance",
		"P Batch Size", "D Batch Size", "P Concurrency", "D Concurrency", "P Sustained (req/s)")
	for i := range pairs {
		p := &pairs[i]
		t.Row(i+1, f2(p.Ratio), f2(p.Balanced), f2(p.PrefillQPS), f2(p.DecodeQPS), f2(p.P.Best.TTFT.Ms()), f2(p.D.Best.TPOT.Ms()),
			p.P.Label, p.D.Label, r.Request.PrefillDevices, r.Request.DecodeDevices,
			p.P.Batch, p.D.Batch, p.P.Concurrency, p.D.Concurrency, f2(p.Sustained))
	}
	return t
}
