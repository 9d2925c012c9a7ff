package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// smallPlan is a plan that takes little time.
func smallPlan() Request {
	return Request{
		Model: "Qwen/Qwen3-8B", Systems: []string{"h200_sxm"}, Devices: 2, Workloads: []session.Workload{{Input: 1000, Output: 20}},
		Limits: workload.Limits{TTFT: 500 * units.Millisecond, TPOT: 15 * units.Millisecond}, NoChanges: true,
	}
}

// remembers is a session that all tests share but those that compare plans with other ways to ask.
var remembers = &session.Session{Memo: &session.Memo{Size: 10_000}}

// mustPlan is a plan of the session that tests share.
func mustPlan(t *testing.T, r Request) *Response {
	t.Helper()
	return planned(t, remembers, r)
}

func planned(t *testing.T, w *session.Session, r Request) *Response {
	t.Helper()
	out, err := Run(t.Context(), w, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPlanAgrees: a contender is the best row of its experiment, and what a simulation of
// its deployment gives; the best of all comes first.
func TestPlanAgrees(t *testing.T) {
	small := smallPlan()
	p := planned(t, &session.Session{}, small)
	if len(p.Contenders) != 6 || !p.Contenders[0].Meets || p.RankedBy != ByThroughput {
		t.Fatalf("%d contenders, by %s", len(p.Contenders), p.RankedBy)
	}
	for i := range p.Contenders {
		c := &p.Contenders[i].Found
		if i > 0 && c.Throughput > p.Contenders[i-1].Found.Throughput {
			t.Errorf("contender %d carries more than the one before", i+1)
		}
		e := c.Experiment
		r, err := configure.Run(t.Context(), &session.Session{}, configure.Request{Experiments: []experiment.Experiment{e}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Results[0].Rows[0], c.Option); diff != "" {
			t.Errorf("%s %s: cli and plan (-cli +plan):\n%s", e.Engine.Name, e.Mode, diff)
		}
		s, err := simulate.Run(t.Context(), &session.Session{}, simulate.Request{
			Deployment: c.Deployment, Limits: e.Limits, Traffic: simulate.Traffic{Concurrency: c.Concurrency, Input: e.Input, Output: e.Output},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := &s.Result; got.OutputRate != c.Throughput || got.TTFT.P95 != c.Run.Result.TTFT.P95 || got.TPOT.Mean != c.Run.Result.TPOT.Mean {
			t.Errorf("%s %s: plan %g tokens/s, simulate %g", e.Engine.Name, e.Mode, c.Throughput, got.OutputRate)
		}
		if !cmp.Equal(s.Energy, c.Energy) {
			t.Errorf("%s %s: plan %+v, simulate %+v", e.Engine.Name, e.Mode, c.Energy, s.Energy)
		}
		k := c.Cost
		energy := 2 * float64(c.Energy.Watts) / 1000 * simulate.DefaultEnergyPrice // of an hour
		hour := k.USDPerHour*2 + energy
		if math.Abs(k.PerMillion*c.Throughput*3600/1e6-hour) > 1e-9 || math.Abs(k.PerMonth-hour*money.HoursPerMonth) > 1e-6 ||
			math.Abs(k.Energy*c.Throughput*3600/1e6-energy) > 1e-9 || k.EnergyPrice != simulate.DefaultEnergyPrice {
			t.Errorf("cost %+v", k)
		}
	}
	at := slices.IndexFunc(p.Loads, func(l Load) bool { return l.Concurrency == p.Contenders[0].Concurrency })
	if at < 0 || p.Loads[at].Tokens != p.Contenders[0].Tokens || len(p.Timeline) == 0 || len(p.Pools) == 0 {
		t.Error("loads, series or pools are not those of the first contender")
	}
}

// TestRateAgrees: what a contender shows at a rate is what a simulation of one of its copies with its part of the rate gives, energy
// and goodput included.
func TestRateAgrees(t *testing.T) {
	r := smallPlan()
	r.Devices, r.Rate = 0, 5
	p := planned(t, &session.Session{}, r)
	for i := range p.Contenders {
		c := &p.Contenders[i].Found
		e := c.Experiment
		s, err := simulate.Run(t.Context(), &session.Session{}, simulate.Request{
			Deployment: some(&c.Option, 1), Limits: e.Limits, Traffic: simulate.Traffic{Rate: r.Rate / float64(c.Copies), Input: e.Input, Output: e.Output},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := &s.Result
		if off := math.Abs(got.OutputRate*float64(c.Copies)/c.Throughput - 1); off > 1e-12 || got.TTFT.P95 != c.Run.Result.TTFT.P95 || got.TPOT.Mean != c.Run.Result.TPOT.Mean {
			t.Errorf("%s %s: plan TTFT %v, TPOT %v, simulate %v, %v", e.Engine.Name, e.Mode, c.Run.Result.TTFT.P95, c.Run.Result.TPOT.Mean, got.TTFT.P95, got.TPOT.Mean)
		}
		if !cmp.Equal(s.Energy, c.Energy) {
			t.Errorf("%s %s: plan %+v, simulate %+v", e.Engine.Name, e.Mode, c.Energy, s.Energy)
		}
	}
}

// TestPlanChanges: every change is what its own request answers.
func TestPlanChanges(t *testing.T) {
	r := smallPlan()
	r.NoChanges, r.Engines, r.Modes = false, []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	p := planned(t, &session.Session{}, r)
	var names []string
	other := &session.Session{Memo: &session.Memo{Size: 10_000}}
	for i := range p.Changes {
		c := &p.Changes[i]
		names = append(names, c.What)
		again := planned(t, other, c.Request)
		if diff := cmp.Diff(again.Contenders[0].Found.Option, c.Found.Option); diff != "" {
			t.Errorf("%s (-request +change):\n%s", c.What, diff)
		}
		want := again.Contenders[0].Found.perDevice() / p.Contenders[0].Found.perDevice()
		if c.Meets && *c.Ratio != want {
			t.Errorf("%s: want a ratio of %g, got %g", c.What, want, *c.Ratio)
		}
	}
	want := []string{
		fmt.Sprintf("90 %% confidence instead of %.0f %%", 100*p.Contenders[0].Judged.Sure()),
		"TTFT limit 1000 ms instead of 500 ms", "TPOT limit 30 ms instead of 15 ms", "limits on the 95th percentile instead of the mean", "FP8 weights",
		"FP8 cache", "half of each prompt (500 tokens) in the prefix cache", "h100_sxm instead of h200_sxm", "b200_sxm instead of h200_sxm",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestPlanLoad: the devices carry the load, and over a day no part needs more than the
// peak.
func TestPlanLoad(t *testing.T) {
	r := smallPlan()
	r.Devices, r.Daily, r.Engines, r.Systems = 0, []float64{1, 20, 60, 5}, []string{"vllm"}, []string{"h200_sxm", "l40s"}
	r.Workloads = []session.Workload{{Input: 1000, Output: 100}}
	p := mustPlan(t, r)
	best := &p.Contenders[0].Found
	if p.RankedBy != ByDayCost || !best.Meets || best.RequestRate < 60*(1-1e-9) || best.Load > 1 {
		t.Fatalf("by %s, carries %g requests/s at load %g", p.RankedBy, best.RequestRate, best.Load)
	}
	for i := 1; i < len(p.Contenders); i++ {
		if c := &p.Contenders[i].Found; c.Meets && c.Scaled < best.Scaled {
			t.Errorf("%s costs less than the first", c.Experiment.System)
		}
	}
	if d := p.Day; d == nil || d.GPUs[2] != best.Used || slices.Max(d.GPUs) != best.Used || d.GPUs[0] > d.GPUs[1] || d.Mean > float64(best.Used) {
		t.Errorf("day %+v, %d devices", p.Day, best.Used)
	}
	r.Rate, r.Daily = 60, nil
	if again := mustPlan(t, r); again.Contenders[0].Found.Used != best.Used || again.Day != nil {
		t.Errorf("a rate needs %d devices, the same as a peak %d", again.Contenders[0].Found.Used, best.Used)
	}
}

// TestPlanWorkloads: workloads that share a deployment are simulated together; one alone
// is its lengths.
func TestPlanWorkloads(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	alone := mustPlan(t, r)
	r.Workloads = []session.Workload{{Name: "chat", Share: 3, Preset: "chat"}, {Name: "long", Input: 4000, Output: 60}}
	p := mustPlan(t, r)
	want := []session.PlanWorkload{{Name: "chat", Share: 0.75, Input: 1154.7, Output: 210.6}, {Name: "long", Share: 0.25, Input: 4000, Output: 60, Source: "given"}}
	want[0].Source = workload.Presets()[0].Source
	if diff := cmp.Diff(want, p.Workloads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a, b := alone.Contenders[0].Found.RequestRate, p.Contenders[0].Found.RequestRate; b >= a {
		t.Errorf("longer requests: %g a second, shorter ones %g", b, a)
	}
	c := &p.Contenders[0].Found
	s, err := simulate.Run(t.Context(), &session.Session{}, simulate.Request{
		Deployment: c.Deployment, Limits: c.Experiment.Limits, Traffic: simulate.Traffic{Concurrency: c.Concurrency, Workloads: r.Workloads},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Result.OutputRate != c.Throughput {
		t.Errorf("plan %g tokens/s, simulate %g", c.Throughput, s.Result.OutputRate)
	}
}

// TestPlanMistakes: all are told at once, by the names of the fields.
func TestPlanMistakes(t *testing.T) {
	for want, spoil := range map[string]func(*Request){
		"model is missing\nsystem is missing\ngpus is missing\nisl is missing\nosl is missing": func(r *Request) { *r = Request{} },
		"give one of gpus, rate and daily":         func(r *Request) { r.Rate = 3 },
		"rate must be at most 1000000, got 1e+07":  func(r *Request) { r.Devices, r.Rate = 0, 1e7 },
		"rate must be positive and finite, got -1": func(r *Request) { r.Devices, r.Rate = 0, -1 },
		"daily must have a rate above 0":           func(r *Request) { r.Devices, r.Daily = 0, []float64{0, 0} },
		"got \"chatt\"; nearest: chat":             func(r *Request) { r.Workloads = []session.Workload{{Preset: "chatt"}} },
		"isl must be":                              func(r *Request) { r.Workloads = []session.Workload{{Output: 3}} },
		"serving_mode must be one of agg, disagg":  func(r *Request) { r.Modes = []experiment.ServingMode{"both"} },
		"unknown device \"h2000\"":                 func(r *Request) { r.Systems = []string{"h2000"} },
		"price of h200_sxm must be positive":       func(r *Request) { r.Prices = map[string]float64{"h200_sxm": -1} },
		"more than the 40960 positions":            func(r *Request) { r.Workloads = []session.Workload{{Input: 50000, Output: 10}} },
		"need at least two devices":                func(r *Request) { r.Devices, r.Modes = 1, []experiment.ServingMode{experiment.Disaggregated} },
		"workloads that share a deployment are simulated without a prefix": func(r *Request) {
			r.Workloads = []session.Workload{{Input: 10, Output: 10, Prefix: 5}, {Input: 10, Output: 10}}
		},
		"unknown engine":               func(r *Request) { r.Engines = []string{"tgi"} },
		"names no release after @":     func(r *Request) { r.Engines = []string{"vllm@"} },
		"\"new\" is not a version":     func(r *Request) { r.Engines = []string{"vllm@new"} },
		"the oldest supported version": func(r *Request) { r.Engines = []string{"trtllm@0.10.0"} },
	} {
		r := smallPlan()
		spoil(&r)
		_, err := Run(t.Context(), &session.Session{}, r)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestPlanRelease: an engine in two releases is two contenders, each with its own, and so are their changes.
func TestPlanRelease(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes, r.NoChanges = []string{"vllm@0.11.0", "vllm@0.24.0"}, []experiment.ServingMode{experiment.Aggregated}, false
	p := mustPlan(t, r)
	if len(p.Contenders) != 2 || p.Contenders[0].EngineVersion == p.Contenders[1].EngineVersion || p.Contenders[0].Name == p.Contenders[1].Name {
		t.Fatalf("%+v", p.Contenders)
	}
	for _, c := range p.Changes {
		if c.Safe { // compares both
			continue
		}
		if want := "vllm@" + p.Contenders[0].EngineVersion; c.Request.Engines[0] != want {
			t.Errorf("%s: want %s, got %v", c.What, want, c.Request.Engines)
		}
	}
}

// TestPlanNothing: where nothing meets the limits, the nearest come in their order, with
// limits that can be met.
func TestPlanNothing(t *testing.T) {
	r := smallPlan()
	r.Limits, r.NoChanges, r.Engines = workload.Limits{TTFT: units.Millisecond, TPOT: units.Millisecond}, false, []string{"vllm"}
	r.Formats = deployment.Formats{KV: "fp8"}
	p := mustPlan(t, r)
	for i := range p.Contenders {
		c := &p.Contenders[i].Found
		if c.Meets || c.Nearest.TTFT <= r.Limits.TTFT {
			t.Errorf("contender %d: meets %v, nearest %v", i, c.Meets, c.Nearest)
		}
		if i > 0 && c.over() < p.Contenders[i-1].Found.over() {
			t.Errorf("contender %d is nearer than the one before", i+1)
		}
	}
	loose := r
	loose.Limits, loose.NoChanges = p.Contenders[0].Found.Nearest, true
	if again := mustPlan(t, loose); !again.Contenders[0].Meets {
		t.Error("limits that can be met are not met")
	}
}

// TestLooserLimitsNeverLose: with twice the limits no contender carries less, but for the
// last sixteenth of a load that is not searched.
func TestLooserLimitsNeverLose(t *testing.T) {
	for _, c := range []struct {
		model, system string
		devices       int
		input, output int
		ttft, tpot    units.Seconds // milliseconds
		engines       []string
	}{
		{"Qwen/Qwen3-32B", "ATLAS_800_A2_280T_64G", 8, 3500, 15, 0, 50, []string{"mindie"}},
		{"Qwen/Qwen3-8B", "h200_sxm", 2, 1000, 20, 300, 12, nil},
		{"Qwen/Qwen3-30B-A3B", "h100_sxm", 2, 500, 10, 800, 15, []string{"sglang"}},
		{"meta-llama/Llama-3.1-8B", "a100_sxm", 1, 4000, 10, 2000, 30, []string{"vllm"}},
	} {
		r := Request{
			Model: c.model, Systems: []string{c.system}, Devices: c.devices, Engines: c.engines, Workloads: []session.Workload{{Input: c.input, Output: c.output}}, NoChanges: true,
			Limits: workload.Limits{TTFT: c.ttft * units.Millisecond, TPOT: c.tpot * units.Millisecond},
		}
		tight := map[string]float64{}
		for _, x := range mustPlan(t, r).Contenders {
			if x.Meets {
				tight[x.Name] = x.Tokens.Value
			}
		}
		r.Limits.TTFT, r.Limits.TPOT = 2*r.Limits.TTFT, 2*r.Limits.TPOT
		for _, x := range mustPlan(t, r).Contenders {
			if was := tight[x.Name]; x.Tokens.Value < 0.98*was {
				t.Errorf("%s, %s: %g tokens/s, with twice the limits %g", c.model, x.Name, was, x.Tokens.Value)
			}
		}
	}
}

// TestPlanBug: a bug in a worker is the plan's error, not the failure of a contender.
func TestPlanBug(t *testing.T) {
	w := &session.Session{Progress: func(p session.Progress) {
		if p.Done > 0 { // the first report comes before the workers
			panic("a worker broke")
		}
	}}
	_, err := Run(t.Context(), w, smallPlan())
	if _, ok := errors.AsType[*pool.PanicError](err); !ok {
		t.Errorf("error %v, want a panic", err)
	}
}
