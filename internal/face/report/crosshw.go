package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// The widths of the vendor's frames around comparisons.
const (
	profileFrame   = 108
	aggregateFrame = 100
	phaseFrame     = 108
)

// crossHardware prints the comparison of devices: their profiles, then the best
// row of each, per search.
func crossHardware(w io.Writer, r *optimize.Response, v OptimizeView) {
	profiles(w, r)
	if r.Devices[0].Ratio != nil {
		crossRatio(w, r, v)
		return
	}
	for k := range r.Devices[0].Searches {
		crossSearch(w, r, k, v)
	}
}

// banner opens a comparison.
func banner(w io.Writer, width int, lines ...string) {
	fmt.Fprintln(w, "\n"+strings.Repeat("*", width))
	for _, l := range lines {
		fmt.Fprintln(w, "  "+l)
	}
	fmt.Fprintln(w, "  "+strings.Repeat("-", width-4))
}

// profiles prints the modelling parameters of the devices.
func profiles(w io.Writer, r *optimize.Response) {
	banner(w, profileFrame,
		"Cross-hardware - device profile summary (modeling abstraction vs performance merge tables)",
		"Device profile parameter comparison (effective compute / memory BW / comm BW)")
	t := table.New("Device", "Cube Compute (TFLOPS)", "Vector Compute (TFLOPS)", "HBM BW (TB/s)", "Memory (GB)", "Comm Grid", "Comm BW (GB/s)")
	for i := range r.Devices {
		d := &r.Devices[i].Profile
		var grid, links []string
		for _, l := range d.Links {
			grid = append(grid, strconv.Itoa(l.Size))
			links = append(links, strconv.FormatFloat(float64(l.Bandwidth)*l.Efficiency/1e9, 'g', 6, 64))
		}
		t.Row(d.Name, f2(wide(&d.Matrix)*d.ComputeEfficiency), f2(wide(&d.Vector)*d.ComputeEfficiency),
			fmt.Sprintf("%.3f", float64(d.Bandwidth)*d.MemoryEfficiency/float64(units.TiB)),
			fmt.Sprintf("%.1f", d.Memory.GiB()), strings.Join(grid, " x "), strings.Join(links, " | "))
	}
	framed(w, t, -1, OptimizeView{})
	fmt.Fprintln(w, "Notes: compute is the 16-bit peak; all rates include their efficiency; HBM bandwidth is in binary TB/s.")
}

// wide is the 16-bit peak in TFLOPS, bfloat16 before float16.
func wide(p *[dtype.Formats]units.OpsPerSecond) float64 {
	if p[dtype.BF16] > 0 {
		return float64(p[dtype.BF16]) / 1e12
	}
	return float64(p[dtype.F16]) / 1e12
}

// Leader is a device with the best row of a search.
type Leader struct {
	Device *device.Profile
	Search *optimize.Search
	Row    *optimize.Row
}

// Leaders are the devices with a row for search k, the most throughput first, and the names of those without.
func Leaders(r *optimize.Response, k int) (found []Leader, without []string) {
	for i := range r.Devices {
		d := &r.Devices[i]
		if p := &d.Searches[k]; len(p.Rows) > 0 {
			found = append(found, Leader{&d.Profile, p, &p.Rows[0]})
		} else {
			without = append(without, d.Name)
		}
	}
	slices.SortStableFunc(found, func(a, b Leader) int { return cmp.Compare(b.Row.Best.Throughput, a.Row.Best.Throughput) })
	return found, without
}

// Matched are the devices with a pair of matched phases, the most requests first, and the names of those without.
func Matched(r *optimize.Response) (found []*optimize.Device, without []string) {
	for i := range r.Devices {
		if d := &r.Devices[i]; len(d.Ratio.Pairs) > 0 {
			found = append(found, d)
		} else {
			without = append(without, d.Name)
		}
	}
	slices.SortStableFunc(found, func(a, b *optimize.Device) int {
		return cmp.Compare(b.Ratio.Pairs[0].Balanced, a.Ratio.Pairs[0].Balanced)
	})
	return found, without
}

// crossSearch prints the best row of every device for search k.
func crossSearch(w io.Writer, r *optimize.Response, k int, v OptimizeView) {
	rows, without := Leaders(r, k)
	if len(rows) == 0 {
		return
	}
	mode := rows[0].Search.Mode
	throughput := "Throughput (token/s)"
	if mode == search.Aggregated {
		banner(w, aggregateFrame, "Cross-hardware - PD Aggregated (best throughput config per device under TTFT/TPOT limits)")
	} else {
		phase := map[search.Mode]string{search.PrefillOnly: "Prefill", search.DecodeOnly: "Decode"}[mode]
		banner(w, phaseFrame, fmt.Sprintf("Cross-hardware - PD Disaggregated %s (best throughput config per device under its limit)", phase))
		throughput = phase + " throughput (token/s)"
	}
	latency := func(has bool, s units.Seconds) string {
		if !has {
			return "-"
		}
		return f2(s.Ms())
	}
	framed(w, tableOf(rows, rank[Leader]("Top"), []column[Leader]{
		{"Device", func(_ int, b *Leader) any { return b.Device.Name }},
		{throughput, func(_ int, b *Leader) any { return f2(b.Row.Best.Throughput) }},
	}, when(mode != search.Aggregated, column[Leader]{"QPS (req/s)", func(_ int, b *Leader) any { return f2(float64(b.Row.QPS)) }}), []column[Leader]{
		{"TTFT (ms)", func(_ int, b *Leader) any { return latency(mode != search.DecodeOnly, b.Row.Best.TTFT) }},
		{"TPOT (ms)", func(_ int, b *Leader) any { return latency(mode != search.PrefillOnly, b.Row.Best.TPOT) }},
		{"Concurrency", func(_ int, b *Leader) any { return b.Row.Best.Concurrency }},
		{"Parallel", func(_ int, b *Leader) any { return b.Row.Label }},
		{"Batch", func(_ int, b *Leader) any { return b.Row.Best.Batch }},
		{"num_devices", func(_ int, b *Leader) any { return b.Row.NumDevices }},
	}), 2, v)
	crossIntervals(w, rows)
	infeasible(w, without)
}

// crossIntervals prints the intervals of the compared rows and their overlaps.
func crossIntervals(w io.Writer, rows []Leader) {
	t := table.New(">Top", "Device", ">Throughput (token/s)", ">"+perMillion, "interval overlaps")
	alike := false
	for i := range rows {
		low, high := rows[i].interval()
		var same []string
		for k := range rows {
			if l, h := rows[k].interval(); k != i && l <= high && low <= h {
				same = append(same, rows[k].Device.Name)
			}
		}
		alike = alike || len(same) > 0
		price := "–"
		if c := rows[i].Row.Cost; c != nil {
			price = usd(*c)
		}
		t.Row(
			strconv.Itoa(i+1), rows[i].Device.Name, f2(rows[i].Row.Best.Throughput)+" "+plusMinus(rows[i].Row.Expected.Throughput),
			price, cmp.Or(strings.Join(same, ", "), "–"),
		)
	}
	fmt.Fprintln(w, "80 % prediction intervals:")
	put(w, t, "")
	if alike {
		fmt.Fprintln(w, "The ranking of devices with overlapping intervals is uncertain: measure before choosing between them.")
	}
}

// interval is the 80 % interval of the throughput.
func (b *Leader) interval() (low, high float64) {
	return b.Row.Expected.Throughput.Interval(b.Row.Best.Throughput)
}

// infeasible lists the devices without a feasible row.
func infeasible(w io.Writer, devices []string) {
	if len(devices) > 0 {
		fmt.Fprintf(w, "No feasible configuration on: %s\n", strings.Join(devices, ", "))
	}
}

// crossRatio prints the best pair of every device.
func crossRatio(w io.Writer, r *optimize.Response, v OptimizeView) {
	rows, without := Matched(r)
	if len(rows) == 0 {
		return
	}
	banner(w, ratioFrame, "Cross-hardware - PD Ratio (best balanced QPS per device under TTFT/TPOT limits)")
	t := table.New("Top", "Device", "Balanced QPS (req/s)", "PD Ratio (P:D inst)", "P QPS", "D QPS", "TTFT (ms)", "TPOT (ms)", "P inst", "D inst", "System QPS")
	split := false
	for i, d := range rows {
		p := &d.Ratio.Pairs[0]
		instances := []string{"-", "-", "-"}
		if n := d.Ratio.Instances; n != nil {
			instances = []string{strconv.Itoa(n.Prefill), strconv.Itoa(n.Decode), f2(n.QPS)}
			split = true
		}
		t.Row(i+1, d.Name, f2(p.Balanced), f2(p.Ratio), f2(p.PrefillQPS), f2(p.DecodeQPS),
			f2(p.P.Best.TTFT.Ms()), f2(p.D.Best.TPOT.Ms()), instances)
	}
	framed(w, t, 2, v)
	infeasible(w, without)
	if split {
		fmt.Fprintf(w, "P/D instance counts: the split of %d devices with the highest request rate.\n", r.Request.NumDevices)
	}
}
