package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/draw/chart"
	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// ParetoFile draws the Pareto frontier to a file, as PNG or SVG.
func ParetoFile(w io.Writer, format string, r *configure.Response) error {
	return chart.Write(w, format, []scatter.Chart{paretoChart(r)})
}

// OptionsCSV writes the rows of an experiment in those of AIConfigurator's columns that are known.
func OptionsCSV(w io.Writer, x *experiment.Result) error {
	t := table.New(optionColumns(x.Experiment.Mode)...)
	for i := range x.Rows {
		t.Row(optionCells(x, &x.Rows[i]))
	}
	return t.CSV(w)
}

// NeedsCSV writes the rows of a recommendation in the same columns and the ones AIConfigurator adds. Figures per GPU refer
// to the GPUs of the row.
func NeedsCSV(w io.Writer, x *experiment.Result) error {
	t := table.New(append(optionColumns(x.Experiment.Mode), "replicas_needed", "total_gpus_needed", "load_served_pct")...)
	for i := range x.Rows {
		n := &x.Rows[i]
		t.Row(optionCells(x, n), n.Copies, n.Used, f3(100*n.Load))
	}
	return t.CSV(w)
}

func optionColumns(m experiment.ServingMode) []string {
	head := []string{
		"model", "isl", "osl", "prefix", "concurrency", "request_rate", "ttft", "tpot", "request_latency", "seq/s", "seq/s/gpu",
		"tokens/s", "tokens/s/gpu", "tokens/s/user", "num_total_gpus", "replicas", "within_limits", "memory", "ctx_tokens", "backend", "version", "system",
	}
	worker := func(prefix string) {
		for _, c := range []string{"bs", "global_bs", "workers", "tp", "pp", "dp", "moe_tp", "moe_ep", "parallel"} {
			head = append(head, prefix+c)
		}
	}
	if m == experiment.Aggregated {
		worker("")
	} else {
		worker("(p)")
		worker("(d)")
		head = append(head, "(p)backend", "(p)version", "(p)system", "(d)backend", "(d)version", "(d)system")
	}
	return append(head, "power_w", "joules_per_output_token", "tokens/s/gpu_cluster")
}

func optionCells(x *experiment.Result, o *experiment.Option) []string {
	e := &x.Experiment
	g := float64(o.Devices(e))
	n := strconv.Itoa
	chance, memory, budget := "", "", "" // of rows alone
	if o.Memory > 0 {
		chance, memory, budget = f3(o.Judged.Sure()), f3(o.Memory.GiB()), n(o.Budget)
	}
	row := []string{
		e.Model, n(e.Input), n(e.Output), n(e.Prefix), n(o.Concurrency), f3(o.RequestRate), f3(o.TTFT.Ms()), f3some(o.TPOT.Ms()), f3(o.Latency.Ms()),
		f3(o.RequestRate), f3(o.RequestRate / g), f3(o.Throughput), f3(o.Throughput / g), f3some(o.User()), n(o.Used), n(o.Copies), chance,
		memory, budget, e.Engine.Name, o.Version, e.System,
	}
	worker := func(p *deployment.Pool, batch, workers int) {
		l := &p.Layout
		row = append(row, n(batch), n(batch*max(1, l.DP)), n(workers), n(l.TP), n(l.PP), n(l.DP), n(l.MoETP), n(l.EP), parallelOf(&p.Layout, true))
	}
	pools := o.Deployment.Pools
	if e.Mode == experiment.Aggregated {
		worker(&pools[0], o.Batch, o.Y)
	} else {
		worker(&pools[0], o.Prompts, o.X)
		worker(&pools[1], o.Batch, o.Y)
		row = append(row, e.Engine.Name, o.Version, e.System, e.Engine.Name, o.Version, cmp.Or(e.DecodeSystem, e.System))
	}
	watts, joules := "", "" // if the power of a device is unknown
	if p := o.Energy; p != nil {
		watts, joules = strconv.FormatFloat(float64(p.Watts), 'f', 1, 64), strconv.FormatFloat(p.PerToken.Value, 'g', 4, 64)
	}
	return append(row, watts, joules, f3(o.Throughput/g))
}

// ParetoCSV writes the deployments on the frontier of an experiment in the columns of its rows, the slowest for a user first.
func ParetoCSV(w io.Writer, x *experiment.Result) error {
	t := table.New(optionColumns(x.Experiment.Mode)...)
	for _, s := range slices.Backward(x.Frontier) {
		t.Row(optionCells(x, s.Option))
	}
	return t.CSV(w)
}
