package ops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// TestConfiguredRows: an experiment has more different rows than layouts, and the best of them is on the frontier: nothing there is better
// in both figures.
func TestConfiguredRows(t *testing.T) {
	e := experiment.Experiment{
		Name: "agg", Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Mode: experiment.Aggregated, Devices: 2,
		Input: 1000, Output: 200, Limits: workload.Limits{TTFT: 0.3, TPOT: 0.01},
	}
	disagg := e
	disagg.Name, disagg.Mode, disagg.Devices = "disagg", experiment.Disaggregated, 4
	e.Complete()
	disagg.Complete()
	out, err := configure.Run(t.Context(), new(session.Session), configure.Request{Experiments: []experiment.Experiment{e, disagg}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Results {
		x := &out.Results[i]
		if i == 0 && len(x.Rows) < 3 { // two layouts, and lower loads of them
			t.Errorf("%s: %d rows", x.Experiment.Name, len(x.Rows))
		}
		best := &x.Rows[0]
		isBest := func(s experiment.Speed) bool {
			return s.User == best.User() && s.Device == best.PerDevice(&x.Experiment)
		}
		if !slices.ContainsFunc(x.Frontier, isBest) {
			t.Errorf("%s: the best row is not on the frontier", x.Experiment.Name)
		}
		for k := range x.Rows {
			o := &x.Rows[k]
			if o.Version == "" {
				t.Errorf("%s: row %d has no version", x.Experiment.Name, k)
			}
			if o.Throughput > best.Throughput {
				t.Errorf("%s: row %d carries more than the best", x.Experiment.Name, k)
			}
			for _, other := range x.Rows[:k] {
				if other.Concurrency == o.Concurrency && other.Copies == o.Copies && other.X == o.X && other.Y == o.Y && other.Deployment.Pools[len(other.Deployment.Pools)-1].Layout == o.Deployment.Pools[len(o.Deployment.Pools)-1].Layout {
					t.Errorf("%s: row %d is there twice", x.Experiment.Name, k)
				}
			}
		}
		for _, s := range x.Frontier {
			if s.Option == nil || !isBest(s) && s.User >= best.User() && s.Device >= best.PerDevice(&x.Experiment) {
				t.Errorf("%s: %+v beats the best row, or has no deployment", x.Experiment.Name, s)
			}
		}
	}
}

// TestRowsBetweenLayouts: where layouts are fewer than rows, a lower load of the best layout that carries more than the best of another one
// stands between them: no load below those of a layout's rows carries more than the last row. Fewer rows are among more.
func TestRowsBetweenLayouts(t *testing.T) {
	t.Parallel()
	e := experiment.Experiment{
		Name: "agg", Model: "Qwen/Qwen3-32B-FP8", System: "h200_sxm", Engine: deployment.Engine{Name: "trtllm"}, Mode: experiment.Aggregated, Devices: 8,
		Input: 1000, Output: 64, Limits: workload.Limits{TTFT: 1, TPOT: 0.01},
	}
	e.Complete()
	w := &session.Session{Memo: new(session.Memo)}
	rows := func(top int) []experiment.Option {
		q := configure.Request{Experiments: []experiment.Experiment{e}}
		q.Top = top
		out, err := configure.Run(t.Context(), w, q)
		if err != nil {
			t.Fatal(err)
		}
		return out.Results[0].Rows
	}
	all := rows(6)
	layout := func(o *experiment.Option) parallel.Layout { return o.Deployment.Pools[0].Layout }
	lowest, order := map[parallel.Layout]*experiment.Option{}, []parallel.Layout{}
	for i := range all {
		o := &all[i]
		if i > 0 && o.Throughput > all[i-1].Throughput {
			t.Errorf("row %d carries more than the one above", i)
		}
		lowest[layout(o)] = o
		if order = append(order, layout(o)); o.Batch == 0 || o.Judged.Sure() < e.Confidence {
			t.Errorf("row %d: batch %d, within the limits with a probability of %g", i, o.Batch, o.Judged.Sure())
		}
	}
	if len(all) != 6 || len(lowest) < 2 || order[1] != order[0] {
		t.Fatalf("%d rows of %d layouts; the second of %+v: the case shows nothing", len(all), len(lowest), order[1])
	}
	for l, o := range lowest {
		q := simulate.Request{Deployment: o.Deployment}
		q.Input, q.Output, q.LengthLow, q.Concurrency = e.Input, e.Output, 1, (o.Batch-1)*o.Copies
		below, err := simulate.Run(t.Context(), w, q)
		if err != nil {
			t.Fatal(err)
		}
		if last := all[len(all)-1].Throughput; below.Result.OutputRate > 1.001*last {
			t.Errorf("%+v at batch %d carries %g tokens/s and has no row; the last has %g", l, o.Batch-1, below.Result.OutputRate, last)
		}
	}
	for _, o := range rows(3) {
		if !slices.ContainsFunc(all, func(x experiment.Option) bool { return layout(&x) == layout(&o) && x.Concurrency == o.Concurrency }) {
			t.Errorf("%+v at %d requests is no row of more", layout(&o), o.Concurrency)
		}
	}
}

// TestLayoutsWithoutRow: every layout of the space has a row or a reason.
func TestLayoutsWithoutRow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model  string
		mode   experiment.ServingMode
		limits workload.Limits
		top    int
		want   []string
	}{
		{"Qwen/Qwen3-32B", experiment.Aggregated, workload.Limits{TPOT: 0.01}, 5, []string{
			"TP=1 | PP=1 | DP=1: TPOT ", "TP=2 | PP=1 | DP=1: TPOT ",
		}},
		{"Qwen/Qwen3-32B", experiment.Aggregated, workload.Limits{TPOT: 0.01}, 1, []string{
			"TP=1 | PP=1 | DP=1: TPOT ", "TP=2 | PP=1 | DP=1: TPOT ", "TP=8 | PP=1 | DP=1: carries less than the rows above",
		}},
		{"Qwen/Qwen3-32B", experiment.Aggregated, workload.Limits{TPOT: 0.001}, 5, []string{
			"TP=1 | PP=1 | DP=1: TPOT ", "TP=2 | PP=1 | DP=1: TPOT ", "TP=4 | PP=1 | DP=1: TPOT ", "TP=8 | PP=1 | DP=1: TPOT ",
		}},
		{"Qwen/Qwen3-8B", experiment.Disaggregated, workload.Limits{TPOT: 0.03}, 5, []string{"decode TP=8 | PP=1 | DP=1: no replica has room for such a worker"}},
		{"Qwen/Qwen3-235B-A22B", experiment.Aggregated, workload.Limits{}, 2, nil},
	} {
		e := experiment.Experiment{
			Name: "x", Model: c.model, System: "h200_sxm", Engine: deployment.Engine{Name: "vllm"}, Mode: c.mode, Devices: 8, Input: 500, Output: 20, Limits: c.limits,
			Workers: experiment.WorkerSpace{MaxBatch: 4}, Decode: experiment.WorkerSpace{MaxBatch: 4},
		}
		e.Complete()
		q := configure.Request{Experiments: []experiment.Experiment{e}}
		q.Top = c.top
		out, err := configure.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Fatal(err)
		}
		x := &out.Results[0]
		if len(x.Left) != len(x.Rejected) {
			t.Errorf("%d layouts, %q", len(x.Left), x.Rejected)
		}
		if c.want == nil { // many: some have no room
			seen := map[parallel.Layout]bool{}
			for i := range x.Rows {
				seen[x.Rows[i].Deployment.Pools[0].Layout] = true
			}
			for _, l := range x.Left {
				if seen[l.Layout] || l.Why == "" {
					t.Errorf("%+v has a row and a reason, or neither: %q", l.Layout, l.Why)
				}
				seen[l.Layout] = true
			}
			if all := (search.Machine{Domain: 8, Node: 8}).Layouts(8, true, &search.Sizes{}); len(seen) != len(all) || len(x.Left) == 0 {
				t.Errorf("%d layouts have a row or a reason, of %d", len(seen), len(all))
			}
			continue
		}
		if !slices.EqualFunc(x.Rejected, c.want, strings.HasPrefix) {
			t.Errorf("%s %s, %d rows: want %q, got %q", c.model, c.mode, c.top, c.want, x.Rejected)
		}
	}
}
