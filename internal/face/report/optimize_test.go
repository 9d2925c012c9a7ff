package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	opsstep "github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// TestOptimizePictures: the blocks of every mode, for one device and several.
func TestOptimizePictures(t *testing.T) {
	for _, c := range []struct {
		name    string
		view    report.OptimizeView
		devices []string
		fill    func(r *optimize.Response)
	}{
		{"aggregated", report.OptimizeView{}, []string{a2}, func(r *optimize.Response) {
			p := aggregated(1)
			p.Deviations = []opsstep.Effect{{Name: "full-attention", Doc: "prefill attention is counted whole", Share: 0.098}}
			p.Notes = []string{"batch 87 was chosen because experts divide evenly at it"}
			r.Devices[0].Searches = []optimize.Search{p}
		}},
		{"aggregated-memory", report.OptimizeView{Memory: true}, []string{a2}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{aggregated(1)}
		}},
		{"aggregated-color", report.OptimizeView{Color: true}, []string{a2}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{aggregated(1)}
		}},
		{"disaggregated", report.OptimizeView{Memory: true}, []string{a2}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{prefill(8), decode()}
		}},
		{"distribution", report.OptimizeView{}, []string{a2}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{unequal(r, search.PrefillOnly)}
		}},
		{"distribution-aggregated", report.OptimizeView{}, []string{a2}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{unequal(r, search.Aggregated)}
		}},
		{"ratio", report.OptimizeView{}, []string{a2}, func(r *optimize.Response) {
			r.Request.NumDevices = 1
			matched(r, &r.Devices[0], formulas.Instances{})
		}},
		{"ratio-budget", report.OptimizeView{Memory: true}, []string{a2}, func(r *optimize.Response) {
			r.Request.NumDevices = 64
			matched(r, &r.Devices[0], formulas.Instances{Prefill: 2, Decode: 7})
		}},
		{"nothing", report.OptimizeView{}, []string{a2}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{nothingFits(search.Aggregated)}
		}},
		{"cross-aggregated", report.OptimizeView{}, []string{a2, a3}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{aggregated(1)}
			r.Devices[1].Searches = []optimize.Search{aggregated(1.5)}
		}},
		{"cross-disaggregated", report.OptimizeView{}, []string{a2, a3}, func(r *optimize.Response) {
			r.Devices[0].Searches = []optimize.Search{prefill(8), decode()}
			r.Devices[1].Searches = []optimize.Search{nothingFits(search.PrefillOnly), decode()}
		}},
		{"cross-ratio", report.OptimizeView{}, []string{a2, a3, "TEST_DEVICE"}, func(r *optimize.Response) {
			r.Request.NumDevices = 64
			matched(r, &r.Devices[0], formulas.Instances{})
			matched(r, &r.Devices[1], formulas.Instances{Prefill: 2, Decode: 7})
			matched(r, &r.Devices[2], formulas.Instances{})
			for i := range r.Devices[1].Ratio.Pairs { // a faster device
				r.Devices[1].Ratio.Pairs[i].Balanced *= 2
			}
			r.Devices[2].Searches[1], r.Devices[2].Ratio = nothingFits(search.DecodeOnly), &optimize.Ratio{}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := response(t, c.devices...)
			c.fill(r)
			got := text(r, c.view)
			golden.Check(t, "testdata/optimize-"+c.name+".golden", got)
			for line := range strings.Lines(string(got)) {
				if strings.HasSuffix(line, " \n") {
					t.Errorf("blanks at the end of %q", line)
				}
			}
			aligned(t, string(got))
		})
	}
}

// aligned checks that the lines of a table are equally long, colour aside.
func aligned(t *testing.T, text string) {
	t.Helper()
	width := 0
	for line := range strings.Lines(regexp.MustCompile("\x1b\\[[0-9]m").ReplaceAllString(text, "")) {
		n := len([]rune(line))
		switch {
		case !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "|"):
			width = 0
		case width == 0:
			width = n
		case n != width:
			t.Errorf("%d columns instead of %d: %s", n, width, line)
		}
	}
}

// TestOptimizePlots: one device is plotted unless that is switched off, several
// are not.
func TestOptimizePlots(t *testing.T) {
	for devices, want := range map[string]int{a2: 2, a2 + " " + a3: 0} {
		r := response(t, strings.Fields(devices)...)
		for i := range r.Devices {
			r.Devices[i].Searches = []optimize.Search{aggregated(1)}
		}
		if got := strings.Count(string(text(r, report.OptimizeView{Plots: true, Width: 100})), ": throughput and "); got != want {
			t.Errorf("%s: want %d plots, got %d", devices, want, got)
		}
		if got := text(r, report.OptimizeView{Width: 100}); strings.Contains(string(got), "throughput and") {
			t.Errorf("%s: plots although switched off", devices)
		}
	}
}

// TestNothingNamesWhatBinds: the line that says what to change.
func TestNothingNamesWhatBinds(t *testing.T) {
	over := rejected(4, 2, 426.081, 18.571, search.OverTPOT, "")
	for _, c := range []struct {
		limits workload.Limits
		mode   search.Mode
		result search.Result
		want   string
	}{
		{workload.Limits{TPOT: millis(5)}, search.Aggregated, over, "Nearest feasible limits: TPOT 18.58 ms (TTFT 426.09 ms), with TP=4 | PP=1 | DP=2 at batch 1"},
		{workload.Limits{TTFT: millis(5)}, search.Aggregated, over, "Nearest feasible limits: TTFT 426.09 ms (TPOT 18.58 ms), with"},
		{workload.Limits{TTFT: millis(5), TPOT: millis(5)}, search.Aggregated, over, "Nearest feasible limits: TTFT 426.09 ms and TPOT 18.58 ms, with"},
		{workload.Limits{TTFT: millis(5), TPOT: millis(99)}, search.Aggregated, over, "Nearest feasible limits: TTFT 426.09 ms (TPOT 18.58 ms), with"},
		{workload.Limits{TTFT: millis(5)}, search.PrefillOnly, over, "Nearest feasible limits: TTFT 426.09 ms, with"},
		{workload.Limits{TPOT: millis(5)}, search.DecodeOnly, over, "Nearest feasible limits: TPOT 18.58 ms, with"},
		{workload.Limits{}, search.Aggregated, withOOM(rejected(4, 2, 1, 1, search.NoMemory, "")), "No configurations fit in memory.\n"},
		{workload.Limits{}, search.Aggregated, withOOM(rejected(4, 2, 1, 1, search.NoMemory, "")), "  Use more devices, lower precision"},
		{workload.Limits{}, search.Aggregated, rejected(4, 2, 1, 1, search.IllegalShape, "why"), "No configurations are possible with these sizes.\n"},
		{workload.Limits{}, search.Aggregated, rejected(4, 2, 1, 1, search.IllegalShape, "why"), "    TP=4 | PP=1 | DP=2: why\n  No layout is legal"},
	} {
		r := response(t, a2)
		r.Devices[0].Searches = []optimize.Search{searched(c.mode, 8, c.limits, c.result)}
		if got := string(text(r, report.OptimizeView{})); !strings.Contains(got, c.want) {
			t.Errorf("want %q in\n%s", c.want, got)
		}
	}
}

// TestNothingNamesWhatHelps: changes with which the model fits are named with their commands, in place of the general advice.
func TestNothingNamesWhatHelps(t *testing.T) {
	r := response(t, a2)
	s := searched(search.Aggregated, 8, workload.Limits{TPOT: millis(50)}, withOOM(rejected(4, 2, 1, 1, search.NoMemory, "")))
	s.Helps = []optimize.Help{
		{What: "16 devices instead of 8", Command: "plimsoll one", Label: "TP=16 | PP=1 | DP=1", Batch: 7, Throughput: 1234.5},
		{What: "an INT8 KV cache", Label: "TP=8 | PP=1 | DP=1", Batch: 1, Feasible: &session.Limits{TTFT: new(100.0), TPOT: new(62.31)}},
	}
	r.Devices[0].Searches = []optimize.Search{s}
	got := string(text(r, report.OptimizeView{}))
	const want = `  What would help:
    16 devices instead of 8: 1234.50 tokens/s with TP=16 | PP=1 | DP=1 at batch 7
      plimsoll one
    an INT8 KV cache: fits, and meets TTFT 100.00 ms and TPOT 62.31 ms with TP=8 | PP=1 | DP=1 at batch 1
`
	if !strings.Contains(got, want) || strings.Contains(got, "Use more devices") {
		t.Errorf("want\n%s in\n%s", want, got)
	}
}

func withOOM(r search.Result) search.Result {
	r.First.OOM = figures.Prefill
	return r
}

// TestExplainPicture: why the best row is the best, and what distinguishes devices
// apart. The first device has nothing in one phase.
func TestExplainPicture(t *testing.T) {
	r := response(t, a2, a3, "TEST_DEVICE")
	for i := range r.Devices {
		d := &r.Devices[i]
		d.Searches = []optimize.Search{aggregated(float64(1 + i))}
		if i == 0 {
			d.Searches = []optimize.Search{nothingFits(search.Aggregated)}
			continue
		}
		p := &d.Searches[0]
		x := optimize.Explanation{
			Device: d.Name, Mode: p.Mode, Label: p.Rows[0].Label, Binds: p.Rows[0].Binds, Row: p.Rows[0],
			Next: p.Rows[1].Label, NextBinds: p.Rows[1].Binds, Gap: new(1 - p.Rows[1].Best.Throughput/p.Rows[0].Best.Throughput),
			Steps: []optimize.StepShare{
				{Phase: "prefill", Time: millis(350.25), Bound: step.Bounds{Memory: 1, Comm: 2, Cube: 4, Vector: 1}, Fixed: 3.5 / 350.25, Command: "plimsoll step a"},
				{Phase: "decode", Time: millis(40), Bound: step.Bounds{Memory: 3, Comm: 1}, Fixed: 0.1},
			},
			What: []optimize.WhatIf{
				{Change: "memory bandwidth +10 %", Throughput: 1100, Share: 0.1, OK: true},
				{Change: "TPOT limit -10 %"},
			},
		}
		if i == 2 {
			x.Next, x.Binds = "", search.Saturated
		}
		r.Explanations = append(r.Explanations, x)
	}
	golden.Check(t, "testdata/optimize-explain.golden", text(r, report.OptimizeView{}))
}

// TestRatioOfNothing: a ratio names the phase that has no layout.
func TestRatioOfNothing(t *testing.T) {
	r := response(t, a2)
	matched(r, &r.Devices[0], formulas.Instances{})
	d := &r.Devices[0]
	d.Searches[1] = nothingFits(search.DecodeOnly)
	d.Ratio = &optimize.Ratio{}
	got := string(text(r, report.OptimizeView{}))
	if !strings.Contains(got, "Qwen/Qwen3-32B, decode on 8 × "+a2) || strings.Contains(got, ", prefill on") {
		t.Errorf("want only decode to be named:\n%s", got)
	}
}
