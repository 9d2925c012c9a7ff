package report_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// compared are two experiments, the better one first.
func compared(models ...string) *configure.Response {
	out := &configure.Response{At: 0}
	for i, m := range models {
		o := experiment.Option{
			Run: &simulate.Response{}, Figures: figures.Figures{Times: figures.Times{TTFT: 0.2, TPOT: 0.01}, Throughput: 800 / float64(i+1)}, Concurrency: 64, Copies: 2, Y: 1, Used: 8, Memory: 1 << 30, Version: "1.3.0",
			Deployment: deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Both, Layout: parallel.Layout{Devices: 4, TP: 4}}}},
		}
		x := experiment.Result{
			Experiment: experiment.Experiment{Name: []string{"first", "second"}[i], Model: m, Mode: experiment.Aggregated, Devices: 8, Input: 1000 * (i + 1), Output: 100},
			Rows:       []experiment.Option{o},
		}
		slower := o
		slower.Memory, slower.Throughput, slower.TPOT = 0, 2*o.Throughput, 0.02
		x.Frontier = []experiment.Speed{{User: o.User(), Device: o.PerDevice(&x.Experiment), Option: &x.Rows[0]}, {User: 50, Device: 2 * o.PerDevice(&x.Experiment), Option: &slower}}
		out.Results = append(out.Results, x)
	}
	return out
}

// TestFrontierWithoutColour: each series has a mark of its own in the plot, and the best point covers one of its own.
func TestFrontierWithoutColour(t *testing.T) {
	var b bytes.Buffer
	report.Configure(&b, compared("M", "M"), report.OptimizeView{Plots: true, Width: 80})
	_, text, _ := strings.Cut(b.String(), "Pareto Frontier:\n")
	plot, _, _ := strings.Cut(text, "Deployment Details")
	for glyph, want := range map[string]int{"●": 2, "■": 2, "▲": 3} { // one each in the legend; the best covers a point of the first
		if got := strings.Count(plot, glyph); got != want {
			t.Errorf("%s is there %d times, want %d:\n%s", glyph, got, want, plot)
		}
	}
}

// TestHeaderOfAll: experiments that ask different questions are all in the header, and the same ones once.
func TestHeaderOfAll(t *testing.T) {
	for want, r := range map[string]*configure.Response{
		"first:\n    Model: A (is_moe: False)\n    Total GPUs: 8\n    ISL: 1000, ":  compared("A", "B"),
		"second:\n    Model: B (is_moe: False)\n    Total GPUs: 8\n    ISL: 2000, ": compared("A", "B"),
		"SLA Target:\n    Model: A (is_moe: False)\n":                               compared("A"),
	} {
		var b bytes.Buffer
		report.Configure(&b, r, report.OptimizeView{})
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
		if !strings.Contains(b.String(), "| total_gpus(used) |") {
			t.Errorf("the guide's column is missing in\n%s", b.String())
		}
	}
}

// TestFrontierCSV: the frontier has the columns of the rows, with the version and without what only rows have.
func TestFrontierCSV(t *testing.T) {
	x := &compared("A").Results[0]
	var rows, frontier bytes.Buffer
	if err := report.OptionsCSV(&rows, x); err != nil {
		t.Fatal(err)
	}
	if err := report.ParetoCSV(&frontier, x); err != nil {
		t.Fatal(err)
	}
	a, _ := csv.NewReader(&rows).ReadAll()
	b, err := csv.NewReader(&frontier).ReadAll()
	if err != nil || len(b) != 3 || !slices.Equal(a[0], b[0]) || !slices.Equal(a[1], b[2]) {
		t.Fatalf("%v\n%v\n%v", err, a, b)
	}
	cell := func(row []string, name string) string { return row[slices.Index(a[0], name)] }
	if cell(a[1], "version") != "1.3.0" || cell(b[1], "tokens/s/user") != "50.000" || cell(b[1], "memory") != "" || cell(b[2], "memory") == "" {
		t.Errorf("%v", b)
	}
}
