package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// OptimizeView selects how the tables of a search are printed.
type OptimizeView struct {
	Color  bool
	Memory bool // with columns and a block on memory
	Width  int  // of the terminal, 0 = none
	Plots  bool
	// NoPower leaves out the column of power, which the older guide does not have.
	NoPower bool
}

// The widths of the vendor's frames.
const (
	frame      = 80
	ratioFrame = 120
)

// Optimize prints the result of a search: the block of every device, the
// comparison of several devices, and explanations if any.
func Optimize(w io.Writer, r *optimize.Response, v OptimizeView) {
	for i := range r.Devices {
		d := &r.Devices[i]
		if d.Ratio != nil {
			ratioBlock(w, r, d, v)
		} else {
			for k := range d.Searches {
				searchBlock(w, r, d, &d.Searches[k], v)
			}
		}
		if len(r.Devices) == 1 && v.Plots {
			plots(w, r.Model, d, v)
		}
	}
	if len(r.Devices) > 1 {
		crossHardware(w, r, v)
	}
	if len(r.Explanations) > 0 {
		explainAll(w, r)
	}
	fmt.Fprintln(w)
	tables(w, r.Tables)
	notesOf(w, r.Notes)
	fmt.Fprintln(w, r.Caution)
}

// searchBlock prints the block of one search.
func searchBlock(w io.Writer, r *optimize.Response, d *optimize.Device, p *optimize.Search, v OptimizeView) {
	if len(p.Rows) == 0 {
		nothing(w, r, d, p)
		return
	}
	best := &p.Rows[0]
	rule := "  " + strings.Repeat("-", frame-4)
	fmt.Fprintln(w, "\n"+strings.Repeat("*", frame))
	fmt.Fprintln(w, rule)
	fmt.Fprintln(w, "  Input Configuration:")
	fmt.Fprintf(w, "    Model: %s\n", r.Model)
	fmt.Fprintf(w, "    Quantize Linear action: %s\n", p.Linear)
	fmt.Fprintf(w, "    Quantize Attention action: %s\n", p.Attention)
	fmt.Fprintf(w, "    Devices: %d %s\n", p.NumDevices, d.Name)
	fmt.Fprintf(w, "    TTFT Limits: %s ms\n", limit(p.Limits.TTFT))
	fmt.Fprintf(w, "    TPOT Limits: %s ms\n", limit(p.Limits.TPOT))
	if p.Limits.Latency > 0 {
		fmt.Fprintf(w, "    Request latency limit: %s ms\n", limit(p.Limits.Latency))
	}
	fmt.Fprintf(w, "    Modelling: %s\n", modelling(p))
	fmt.Fprintln(w, rule)
	if v.Memory {
		fmt.Fprintln(w, "  Memory Info:")
		fmt.Fprintf(w, "    Total device memory:  %.3f GB\n", d.Memory.GiB())
		if p.Evaluation == optimize.BySimulation {
			fmt.Fprintf(w, "    Reserved memory:      default of %s\n", p.Engine)
		} else {
			fmt.Fprintf(w, "    Reserved memory:      %.3f GB\n", p.ReservedGiB)
		}
		fmt.Fprintln(w, rule)
	}
	fmt.Fprintln(w, "  Overall Best Configuration:")
	fmt.Fprintf(w, "    Best Throughput: %.2f tokens/s\n", best.Best.Throughput)
	if p.Mode != search.DecodeOnly {
		fmt.Fprintf(w, "    TTFT: %.2f ms\n", best.Best.TTFT.Ms())
	}
	if p.Mode != search.PrefillOnly {
		fmt.Fprintf(w, "    TPOT: %.2f ms\n", best.Best.TPOT.Ms())
	}
	fmt.Fprintln(w, rule)
	shown := min(len(p.Rows), mostRows(p))
	fmt.Fprintf(w, "Top %d %s Configurations:\n", shown, searchTitle(p.Mode))
	t, bold := searchTable(r, p, v)
	framed(w, t, bold, v)
	fmt.Fprintln(w, strings.Repeat("*", frame))
	if r.Request.Distribution != nil && p.Mode != search.DecodeOnly {
		fmt.Fprintln(w, "Samples: over all DP ranks in rows for all lengths, per DP rank in rows for one length.")
	}
	intervals(w, d, p)
	shapedBy(w, p)
}

// mostRows is how many rows of a search are printed: all rows of the guide's rules, as the vendor does; the best ten of a
// simulated search.
func mostRows(p *optimize.Search) int {
	const most = 10
	if p.Evaluation == optimize.BySimulation {
		return most
	}
	return len(p.Rows)
}

// modelling describes how the steps of a search are modelled.
func modelling(p *optimize.Search) string {
	out := fmt.Sprintf("%s, policy %s, %s cost model", kernels(p.Compiled), p.Policy, p.Pricing)
	if p.Evaluation == optimize.BySimulation {
		out += ", simulated with " + p.Engine
	}
	return out
}

// shapedBy lists the deviations of the policy that affect the best row.
func shapedBy(w io.Writer, p *optimize.Search) {
	if p.Measured > 0 {
		fmt.Fprintf(w, "Kernel tables cover %.1f %% of the best row's step time\n", 100*p.Measured)
	}
	for _, a := range p.Deviations {
		fmt.Fprintf(w, "Deviation %s: %s (%+.1f %% of the best row's step)\n", a.Name, a.Doc, 100*a.Share)
	}
	notesOf(w, p.Notes)
}

func searchTitle(m search.Mode) string {
	switch m {
	case search.PrefillOnly:
		return "Disaggregation (Prefill)"
	case search.DecodeOnly:
		return "Disaggregation (Decode)"
	case search.Aggregated:
	}
	return "Aggregation"
}

// limit prints a limit as Python prints a float, or None.
func limit(s units.Seconds) string {
	x := session.LimitMs(s)
	if x == nil {
		return "None"
	}
	text := strconv.FormatFloat(*x, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// searchTable is the table of one search, and its column of throughput.
func searchTable(r *optimize.Response, p *optimize.Search, v OptimizeView) (t *table.Table, throughput int) {
	rows := p.Rows[:min(len(p.Rows), mostRows(p))]
	if r.Request.Distribution != nil && p.Mode != search.DecodeOnly {
		return distributionTable(p.Mode, rows)
	}
	type row = optimize.Row
	return tableOf(rows, rank[row]("Top"),
		when(true, column[row]{"Throughput (token/s)", func(_ int, x *row) any { return f2(x.Best.Throughput) }}),
		when(p.Mode != search.Aggregated, column[row]{"QPS (req/s)", func(_ int, x *row) any { return f2(float64(x.QPS)) }}),
		when(p.Mode != search.DecodeOnly, column[row]{"TTFT (ms)", func(_ int, x *row) any { return f2(x.Best.TTFT.Ms()) }}),
		when(p.Mode != search.PrefillOnly, column[row]{"TPOT (ms)", func(_ int, x *row) any { return f2(x.Best.TPOT.Ms()) }}),
		[]column[row]{
			{"concurrency", func(_ int, x *row) any { return x.Best.Concurrency }},
			{"num_devices", func(_ int, x *row) any { return x.NumDevices }},
			{"parallel", func(_ int, x *row) any { return x.Label }},
			{"batch_size", func(_ int, x *row) any { return x.Best.Batch }},
		},
		when(v.Memory,
			column[row]{"weight_GB", func(_ int, x *row) any { return f2(x.Best.Use.Weights.GiB()) }},
			column[row]{"kv_cache_GB", func(_ int, x *row) any { return f2(x.Best.Use.KV.GiB()) }},
			column[row]{"activation_GB", func(_ int, x *row) any { return f2(x.Best.Use.Activation.GiB()) }},
			column[row]{"avail_GB", func(_ int, x *row) any { return f2(x.Best.Use.Available.GiB()) }})), 1
}

// distributionTable has one row for the whole batch and one per length in it.
func distributionTable(m search.Mode, rows []optimize.Row) (t *table.Table, throughput int) {
	head, throughput := []string{"Top", "num_devices", "num_input_tokens", "request_ratio", "samples", "concurrency", "TTFT (ms)"}, 7
	if m == search.Aggregated {
		head, throughput = append(head, "TPOT (ms)"), 8
	}
	t = table.New(append(head, "Throughput (token/s)", "parallel", "batch_size")...)
	for i := range rows {
		row := &rows[i]
		o := &row.Best
		all, none := []string{f2(o.TTFT.Ms()), f2(o.Throughput)}, []string{"-", "-"}
		if m == search.Aggregated {
			all, none = []string{f2(o.TTFT.Ms()), f2(o.TPOT.Ms()), f2(o.Throughput)}, []string{"-", "-", "-"}
		}
		t.Row(i+1, row.NumDevices, "all", "1.000", o.Concurrency, o.Concurrency, all, row.Label, o.Batch)
		for _, l := range row.Composition {
			t.Row("-", row.NumDevices, l.Tokens, fmt.Sprintf("%.3f", l.Ratio), l.Samples, o.Concurrency, none, row.Label, o.Batch)
		}
	}
	return t, throughput
}

// dash is f2 for figures of the tokens after the first: a dash where requests generate one.
func dash(x float64) string {
	if x == 0 {
		return "–"
	}
	return f2(x)
}

func f2(x float64) string { return fmt.Sprintf("%.2f", x) }
