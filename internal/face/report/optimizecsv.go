package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// optimizeColumns are the columns of the raw table, those of the vendor's dump
// first.
func optimizeColumns() []string {
	return []string{
		"device_name", "num_devices", "model_id", "quantize_linear_action", "quantize_attention_action",
		"input_length", "output_length", "effective_input_length", "max_batched_tokens", "prefill_num_chunks",
		"concurrency", "ttft", "tpot", "token/s", "token/s/device", "parallel", "batch_size",
		"percentage_breakdowns(p)", "percentage_breakdowns(d)", "weight_GB", "kv_cache_GB", "activation_GB", "avail_GB",
		"phase", "feasible", "bound_by", "reason",
	}
}

// OptimizeCSV writes every candidate of a search, best first in each
// search, then the rejected ones with their reason.
func OptimizeCSV(w io.Writer, r *optimize.Response) error {
	t := table.New(optimizeColumns()...)
	eachSearch(r, func(d *optimize.Device, p *optimize.Search) {
		for j := range p.Rows {
			t.Row(rawRow(rawHead(r, d, p), p, &p.Rows[j], nil))
		}
		for j := range p.Candidates {
			if c := &p.Candidates[j]; !c.OK {
				t.Row(rawReject(rawHead(r, d, p), p, c, nil))
			}
		}
	})
	return t.CSV(w)
}

// OptimizeDump prints all batches that were sampled in aligned columns: layouts in the order of enumeration, the batches of each in the
// order of throughput, and of unequal prompts the lengths in each.
func OptimizeDump(w io.Writer, r *optimize.Response) {
	columns, mixed := optimizeColumns(), r.Request.Distribution != nil
	if mixed {
		columns = slices.Concat(columns[:outputAt], []string{"num_input_tokens"}, columns[outputAt:inFlightAt], []string{"request_ratio", "samples"}, columns[inFlightAt:])
	}
	t := table.New(columns...)
	eachSearch(r, func(d *optimize.Device, p *optimize.Search) {
		for j := range p.Candidates {
			c := &p.Candidates[j]
			for k := range c.Evaluated {
				dumpRows(t, rawHead(r, d, p), p, &c.Evaluated[k], mixed)
			}
			if len(c.Evaluated) == 0 {
				var none *part
				if mixed {
					none = &part{}
				}
				t.Row(rawReject(rawHead(r, d, p), p, c, none))
			}
		}
	})
	fmt.Fprintln(w, t.Aligned())
}

// The places of the output length and of the requests in flight among the columns.
const outputAt, inFlightAt = 6, 10

// part is the cells of the columns that only unequal prompts have.
type part struct{ tokens, ratio, samples string }

// eachSearch visits the searches of all devices.
func eachSearch(r *optimize.Response, visit func(*optimize.Device, *optimize.Search)) {
	for i := range r.Devices {
		d := &r.Devices[i]
		for k := range d.Searches {
			visit(d, &d.Searches[k])
		}
	}
}

// dumpRows adds a batch, and of unequal prompts a row without figures for each length in the batch of a rank.
func dumpRows(t *table.Table, head []string, p *optimize.Search, x *optimize.Evaluated, mixed bool) {
	var all *part
	if mixed {
		all = &part{"all", "1.000", strconv.Itoa(x.Concurrency)}
	}
	cells := rawRow(head, p, &x.Row, all)
	if x.Rejected != search.Fits {
		cells = append(cells[:len(cells)-3], "false", string(x.Rejected), x.Reason)
	}
	t.Row(cells)
	for _, l := range x.Composition {
		of := x.Row
		of.Best.TTFT, of.Best.TPOT, of.Best.Throughput, of.Best.PrefillBound, of.Best.DecodeBound = 0, 0, 0, step.Bounds{}, step.Bounds{}
		detail := rawRow(head, p, &of, &part{strconv.Itoa(l.Tokens), fmt.Sprintf("%.3f", l.Ratio), strconv.Itoa(l.Samples)})
		t.Row(append(detail[:len(detail)-3], cells[len(cells)-3], "", ""))
	}
}

// rawHead is the columns that all rows of a search have, but for the output length.
func rawHead(r *optimize.Response, d *optimize.Device, p *optimize.Search) []string {
	input := "distribution"
	if r.Request.Distribution == nil {
		input = strconv.Itoa(r.Request.Input)
	}
	return []string{d.Name, strconv.Itoa(p.NumDevices), r.Model, p.Linear, p.Attention, input, strconv.Itoa(r.Request.Output)}
}

// rawLoad is the columns up to the requests in flight.
func rawLoad(head []string, effective, budget, chunks int, l *part) []string {
	out := slices.Concat(head, []string{strconv.Itoa(effective), strconv.Itoa(budget), strconv.Itoa(chunks)})
	if l != nil {
		out = append(slices.Insert(out, outputAt, l.tokens), l.ratio, l.samples)
	}
	return out
}

func rawRow(head []string, p *optimize.Search, row *optimize.Row, l *part) []string {
	return append(
		rawLoad(head, row.Effective, row.Budget, row.Chunks, l),
		strconv.Itoa(row.Concurrency), f3some(row.Best.TTFT.Ms()), f3some(row.Best.TPOT.Ms()),
		f3some(row.Best.Throughput), f3some(row.PerDevice()), row.Label, strconv.Itoa(row.Batch),
		bounds(row.Best.PrefillBound), bounds(row.Best.DecodeBound),
		f3(row.Weights.GiB()), f3(row.KV.GiB()), f3(row.Activation.GiB()), f3(row.Available.GiB()),
		string(p.Mode), "true", string(row.Binds), "",
	)
}

// rawReject is a layout without a batch.
func rawReject(head []string, p *optimize.Search, c *optimize.Candidate, l *part) []string {
	return append(rawLoad(head, c.Effective, c.Budget, 0, l), "", "", "", "", "", c.Label, "", "", "", "", "", "", "", string(p.Mode), "false", string(c.Rejected), c.Reason)
}

// bounds prints a breakdown, nothing for a phase that did not run.
func bounds(b step.Bounds) string {
	if b == (step.Bounds{}) {
		return ""
	}
	return shares(b)
}
