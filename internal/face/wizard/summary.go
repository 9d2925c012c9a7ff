package wizard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// topRows is how many candidates a summary shows.
const topRows = 3

// phase names a mode.
func (t *Text) phase(m search.Mode) string {
	return map[search.Mode]string{search.Aggregated: t.Aggregated, search.PrefillOnly: t.Prefill, search.DecodeOnly: t.Decode}[m]
}

// summary prints the command, the best result, the devices, the candidates, the matching of phases, and the caution.
func (w *wizard) summary(command string, r *optimize.Response) {
	t, out := w.text, w.config.Out
	fmt.Fprintf(out, "\n%s\n  %s\n", t.Executed, command)
	if r.Request.PDRatio {
		w.ratio(r)
	} else {
		w.phases(r)
	}
	fmt.Fprintf(out, "\n%s %s\n", t.Caution, t.Depends)
}

// phases prints each phase on its own.
func (w *wizard) phases(r *optimize.Response) {
	t, out := w.text, w.config.Out
	for k := range r.Devices[0].Searches {
		found, without := report.Leaders(r, k)
		if len(found) == 0 {
			fmt.Fprintf(out, "\n%s\n", fmt.Sprintf(t.NoRow, t.phase(r.Devices[0].Searches[k].Mode)))
			continue
		}
		first := &found[0]
		row := &first.Search.Rows[0]
		fmt.Fprintf(out, "\n%s\n", t.Best)
		w.line(t.Mode, fmt.Sprintf("%s, %d x %s", t.phase(first.Search.Mode), row.NumDevices, first.Device.Name))
		w.line(t.Format, w.format(first.Search.Linear, first.Search.Attention))
		w.line(t.Parallel, row.Label)
		w.line(t.Batch, strconv.Itoa(row.Best.Batch))
		w.line(t.Concurrency, strconv.Itoa(row.Best.Concurrency))
		w.line(t.Throughput, fmt.Sprintf("%.2f %s", row.Best.Throughput, t.Tokens))
		w.latency(first.Search.Mode, row)
		if len(r.Devices) > 1 {
			fmt.Fprintf(out, "\n%s\n", t.Across)
			for i := range found {
				w.row(i, found[i].Device.Name+" "+found[i].Row.Label, found[i].Search, found[i].Row)
			}
			for _, name := range without {
				fmt.Fprintf(out, "  "+t.NoRow+"\n", name)
			}
		}
		fmt.Fprintf(out, "\n%s\n", t.Top)
		for i := range first.Search.Rows[:min(topRows, len(first.Search.Rows))] {
			w.row(i, first.Search.Rows[i].Label, first.Search, &first.Search.Rows[i])
		}
	}
}

// format is the number formats of a result in words.
func (w *wizard) format(linear, attention string) string {
	own := fmt.Sprintf(w.text.Own, w.own())
	if linear == "" || linear == string(dtype.Auto) {
		linear = own
	}
	if attention == "" || attention == string(dtype.Auto) {
		attention = own
	}
	if linear == attention {
		return linear
	}
	return fmt.Sprintf(w.text.Formats, linear, attention)
}

// planned prints the command and the best deployment of a plan, or what would help.
func (w *wizard) planned(command string, r *plan.Response) {
	t, out := w.text, w.config.Out
	fmt.Fprintf(out, "\n%s\n  %s\n", t.Executed, command)
	if len(r.Contenders) == 0 || !r.Answer.Meets {
		fmt.Fprintf(out, "\n%s: %s\n", t.Infeasible, fmt.Sprintf(t.NoRow, r.Model))
	}
	for i := range r.Contenders {
		c := &r.Contenders[i]
		if i == 0 {
			fmt.Fprintf(out, "\n%s\n", t.Best)
			w.line(t.Mode, fmt.Sprintf("%s, %d x %s, %s", map[string]string{"agg": t.Aggregated, "disagg": t.Disaggregated}[c.Mode], c.GPUs, c.System, c.EngineTitle))
			w.line(t.Format, w.format(string(r.Request.Formats.Linear), string(r.Request.Formats.Attention)))
			w.line(t.Parallel, t.Phrase(c.Deployment))
			w.line(t.Concurrency, strconv.Itoa(c.Concurrency))
			w.line(t.Throughput, fmt.Sprintf("%.2f %s, %.2f %s", c.Tokens.Value, t.Tokens, c.RequestRate.Value, t.Requests))
			w.line(t.TTFT, fmt.Sprintf("%.2f ms", c.Judged.TTFT.Zero().Value))
			if c.Judged.TPOT != nil {
				w.line(t.TPOT, fmt.Sprintf("%.2f ms", c.Judged.TPOT.Value))
			}
			if c.Judged.Chance != nil {
				w.line(t.Chance, fmt.Sprintf("%.0f %%", 100**c.Judged.Chance))
			}
			fmt.Fprintf(out, "\n%s\n", t.Top)
		}
		if i < topRows {
			fmt.Fprintf(out, "  %d. %s: %s, %.2f %s\n", i+1, c.Name, t.Phrase(c.Deployment), c.Tokens.Value, t.Tokens)
		}
	}
	fmt.Fprintf(out, "\n%s\n", t.Caution)
}

// line prints a figure.
func (w *wizard) line(name, value string) { fmt.Fprintf(w.config.Out, "  %s: %s\n", name, value) }

// latency prints the latencies that a mode has.
func (w *wizard) latency(m search.Mode, row *optimize.Row) {
	if m != search.DecodeOnly {
		w.line(w.text.TTFT, fmt.Sprintf("%.2f ms", row.Best.TTFT.Ms()))
	}
	if m != search.PrefillOnly {
		w.line(w.text.TPOT, fmt.Sprintf("%.2f ms", row.Best.TPOT.Ms()))
	}
}

// row prints a candidate on one line.
func (w *wizard) row(i int, name string, p *optimize.Search, row *optimize.Row) {
	t := w.text
	figures := []string{fmt.Sprintf("%.2f %s", row.Best.Throughput, t.Tokens)}
	if p.Mode != search.DecodeOnly {
		figures = append(figures, fmt.Sprintf("TTFT %.2f ms", row.Best.TTFT.Ms()))
	}
	if p.Mode != search.PrefillOnly {
		figures = append(figures, fmt.Sprintf("TPOT %.2f ms", row.Best.TPOT.Ms()))
	}
	fmt.Fprintf(w.config.Out, "  "+t.Row+"\n", i+1, name, strings.Join(figures, ", "), row.Best.Batch, row.Best.Concurrency)
}

// ratio prints how phases are matched, the device with the most requests first.
func (w *wizard) ratio(r *optimize.Response) {
	t, out := w.text, w.config.Out
	found, without := report.Matched(r)
	p := &found[0].Ratio.Pairs[0]
	fmt.Fprintf(out, "\n%s\n", t.Best)
	w.line(t.Mode, fmt.Sprintf("%s, %d + %d x %s", t.Matched, r.Request.PrefillDevices, r.Request.DecodeDevices, found[0].Name))
	w.line(t.Format, w.format(found[0].Searches[0].Linear, found[0].Searches[0].Attention))
	w.line(t.Parallel, fmt.Sprintf("%s %s, %s %s", t.Prefill, p.P.Label, t.Decode, p.D.Label))
	w.line(t.Batch, fmt.Sprintf("%d, %d", p.P.Batch, p.D.Batch))
	w.line(t.Concurrency, fmt.Sprintf("%d, %d", p.P.Concurrency, p.D.Concurrency))
	w.line(t.Throughput, fmt.Sprintf("%s %.2f %s, %s %.2f %s", t.Prefill, p.P.Best.Throughput, t.Tokens, t.Decode, p.D.Best.Throughput, t.Tokens))
	w.line(t.TTFT, fmt.Sprintf("%.2f ms", p.P.Best.TTFT.Ms()))
	w.line(t.TPOT, fmt.Sprintf("%.2f ms", p.D.Best.TPOT.Ms()))
	if len(r.Devices) > 1 {
		fmt.Fprintf(out, "\n%s\n", t.Across)
		for _, d := range found {
			fmt.Fprintf(out, "  %s: "+t.RatioLine+"\n", d.Name, d.Ratio.Pairs[0].Ratio, d.Ratio.Pairs[0].Balanced)
		}
		for _, name := range without {
			fmt.Fprintf(out, "  "+t.NoRow+"\n", name)
		}
	}
	w.pairs(r, found[0])
}

// pairs prints the pairs of a device, and how many instances carry the most.
func (w *wizard) pairs(r *optimize.Response, d *optimize.Device) {
	t, out := w.text, w.config.Out
	pairs := d.Ratio.Pairs
	fmt.Fprintf(out, "\n%s\n", t.Top)
	for i := range pairs[:min(topRows, len(pairs))] {
		fmt.Fprintf(out, "  %d. %s / %s: "+t.RatioLine+"\n", i+1, pairs[i].P.Label, pairs[i].D.Label, pairs[i].Ratio, pairs[i].Balanced)
	}
	p := &pairs[0]
	fmt.Fprintf(out, "\n%s\n", t.RatioTitle)
	fmt.Fprintf(out, "  "+t.RatioLine+"\n", p.Ratio, p.Balanced)
	fmt.Fprintf(out, "  "+t.PhaseLine+"\n", t.Prefill, p.P.Label, p.P.Batch, p.P.Concurrency, p.PrefillQPS)
	fmt.Fprintf(out, "  "+t.PhaseLine+"\n", t.Decode, p.D.Label, p.D.Batch, p.D.Concurrency, p.DecodeQPS)
	if n := d.Ratio.Instances; n != nil {
		fmt.Fprintf(out, "  "+t.Instances+"\n", n.Prefill, n.Decode, n.Devices(r.Request.PrefillDevices, r.Request.DecodeDevices), n.QPS)
	}
}
