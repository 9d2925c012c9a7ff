package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
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
func OptimizeCSV(w io.Writer, r *optimize.Response) error { return rawTable(r).CSV(w) }

// OptimizeDump prints the same table in aligned columns.
func OptimizeDump(w io.Writer, r *optimize.Response) { fmt.Fprintln(w, rawTable(r).Aligned()) }

// rawTable is the candidates of all searches as text.
func rawTable(r *optimize.Response) *table.Table {
	t := table.New(optimizeColumns()...)
	for i := range r.Devices {
		d := &r.Devices[i]
		for k := range d.Searches {
			p := &d.Searches[k]
			for j := range p.Rows {
				t.Row(rawRow(r, d, p, &p.Rows[j]))
			}
			for j := range p.Candidates {
				if c := &p.Candidates[j]; !c.OK {
					cells := append(rawHead(r, d, p, c.Effective, c.Budget, 0), "", "", "", "", "", c.Label, "", "", "", "", "", "", "")
					t.Row(append(cells, string(p.Mode), "false", string(c.Rejected), c.Reason))
				}
			}
		}
	}
	return t
}

// rawHead is what all candidates have.
func rawHead(r *optimize.Response, d *optimize.Device, p *optimize.Search, effective, budget, chunks int) []string {
	input := "distribution"
	if r.Request.Distribution == nil {
		input = strconv.Itoa(r.Request.Input)
	}
	return []string{
		d.Name, strconv.Itoa(p.NumDevices), r.Model, p.Linear, p.Attention,
		input, strconv.Itoa(r.Request.Output), strconv.Itoa(effective), strconv.Itoa(budget), strconv.Itoa(chunks),
	}
}

func rawRow(r *optimize.Response, d *optimize.Device, p *optimize.Search, row *optimize.Row) []string {
	return append(
		rawHead(r, d, p, row.Effective, row.Budget, row.Chunks),
		strconv.Itoa(row.Concurrency), f3some(row.TTFT.Ms()), f3some(row.TPOT.Ms()),
		f3(row.Throughput), f3(row.PerDevice), row.Label, strconv.Itoa(row.Batch),
		bounds(row.Best.PrefillBound), bounds(row.Best.DecodeBound),
		f3(row.Weights.GiB()), f3(row.KV.GiB()), f3(row.Activation.GiB()), f3(row.Available.GiB()),
		string(p.Mode), "true", string(row.Binds), "",
	)
}

// bounds prints a breakdown, nothing for a phase that did not run.
func bounds(b step.Bounds) string {
	if b == (step.Bounds{}) {
		return ""
	}
	return shares(b)
}
