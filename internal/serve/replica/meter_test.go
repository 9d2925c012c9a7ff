package replica_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// fleetOf is a fleet of pools under vLLM.
func fleetOf(t *testing.T, id, system string, pools ...deployment.Pool) (*deployment.Resolved, *replica.Fleet) {
	t.Helper()
	m, err := model.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup(system)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.LookupVersion("vllm", "")
	if err != nil {
		t.Fatal(err)
	}
	asked := deployment.Deployment{
		Model: id, System: system, Engine: deployment.Engine{Name: "vllm"}, Pools: pools,
		Modelling: deployment.Modelling{Policy: "physical", Fusion: deployment.Compiled},
	}
	r, err := asked.Resolve(deployment.Parts{Model: m, Device: d, Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	f, err := replica.NewFleet(r, func(p *deployment.Served) (cost.Coster, error) {
		prices, _ := calibrated.New(p.Device)
		return prices, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, f
}

// run simulates a closed loop with a meter.
func run(t *testing.T, f *replica.Fleet, concurrency, input, output int) (*replica.Meters, *statistics.Result) {
	t.Helper()
	c := f.Config(traffic.Benchmark(concurrency, traffic.Lengths{Tokens: input}, traffic.Lengths{Tokens: output}))
	plain, err := sim.Run(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	m := f.Meter(&c)
	res, err := sim.Run(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	if plain.OutputRate != res.OutputRate || plain.TTFT != res.TTFT {
		t.Errorf("a meter changes the run: %g tokens/s, without %g", res.OutputRate, plain.OutputRate)
	}
	return m, res
}

// TestMeter: one request alone is a prefill step and decode steps, whose work the graph
// has; devices that do nothing draw idle power.
func TestMeter(t *testing.T) {
	const id, input, output = "Qwen/Qwen3-32B", 1000, 101
	d, f := fleetOf(t, id, "h200_sxm", deployment.Pool{Role: deployment.Both, Replicas: 1, Layout: parallel.Layout{Devices: 2, TP: 2}})
	m, res := run(t, f, 1, input, output)
	g, err := graph.New(d.Pools[0].Spec)
	if err != nil {
		t.Fatal(err)
	}
	prices, _ := calibrated.New(d.Device)
	e := step.New(g, prices)
	prefill := e.Evaluate(graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: input, Seq: input}}}, false).Activity()
	decode := e.Evaluate(graph.Batch{Segments: []graph.Segment{{Requests: 1, Query: 1, Seq: input + output/2 + 1, Decode: true}}}, false).Activity()
	used := m.Used(res)[0]
	requests := float64(res.Requests)
	for k := range prefill {
		if got, want := used.Loads.Prefill.Activity[k], requests*prefill[k]; math.Abs(got-want) > 1e-6*want {
			t.Errorf("prefill, kind %d: want %g, got %g", k, want, got)
		}
		if got, want := used.Loads.Decode.Activity[k], requests*(output-1)*decode[k]; math.Abs(got-want) > 1e-3*want {
			t.Errorf("decode, kind %d: want %g, got %g", k, want, got)
		}
	}
	if used.Devices != 2 || used.Busy < 0.9 {
		t.Errorf("%d devices, %g busy", used.Devices, used.Busy)
	}
	energy, ok := m.Energy(res, 1)
	p, _ := power.New(d.Device)
	if !ok || energy.Watts <= p.Idle() || float64(energy.Watts) >= d.Device.Power || energy.Tier != device.Calibrated {
		t.Errorf("energy %+v of a device between %g and %g W", energy, p.Idle(), d.Device.Power)
	}
	if want := 2 * float64(energy.Watts) / res.OutputRate; math.Abs(float64(energy.PerToken)-want) > 1e-9*want {
		t.Errorf("want %g J per token, got %g", want, energy.PerToken)
	}
	if more, _ := m.Energy(res, 1.5); more.Watts <= energy.Watts {
		t.Errorf("kernels that draw half as much again draw %g W, otherwise %g W", more.Watts, energy.Watts)
	}
}

// TestLoadAndEnergy: under more load devices draw more, and a token takes less.
func TestLoadAndEnergy(t *testing.T) {
	for id, l := range map[string]parallel.Layout{
		"Qwen/Qwen3-32B": {Devices: 2, TP: 2}, "openai/gpt-oss-120b": {Devices: 4, TP: 1, DP: 4, EP: 4}, "deepseek-ai/DeepSeek-V3": {Devices: 8, TP: 8},
	} {
		_, f := fleetOf(t, id, "b200_sxm", deployment.Pool{Role: deployment.Both, Replicas: 1, Layout: l})
		var before replica.Energy
		for _, concurrency := range []int{1, 4, 16, 64, 256} {
			m, res := run(t, f, concurrency, 1000, 200)
			e, ok := m.Energy(res, 1)
			if !ok {
				t.Fatal("no energy")
			}
			if before.Watts > 0 && (e.Watts < before.Watts || e.PerToken > before.PerToken) {
				t.Errorf("%s with %d requests: %.0f W and %.3f J per token, before %.0f W and %.3f J", id, concurrency, e.Watts, e.PerToken, before.Watts, before.PerToken)
			}
			before = e
		}
	}
}

// TestCopies: replicas that are alike draw what one draws, for the same energy of a
// token; a prefill pool that waits draws less.
func TestCopies(t *testing.T) {
	one := deployment.Pool{Role: deployment.Both, Replicas: 1, Layout: parallel.Layout{Devices: 1, TP: 1}}
	four := one
	four.Replicas = 4
	_, f1 := fleetOf(t, "Qwen/Qwen3-8B", "h200_sxm", one)
	_, f4 := fleetOf(t, "Qwen/Qwen3-8B", "h200_sxm", four)
	m1, r1 := run(t, f1, 8, 500, 100)
	m4, r4 := run(t, f4, 32, 500, 100)
	a, _ := m1.Energy(r1, 1)
	b, _ := m4.Energy(r4, 1)
	if math.Abs(float64(a.Watts/b.Watts)-1) > 1e-6 || math.Abs(float64(a.PerToken/b.PerToken)-1) > 1e-6 || b.Devices != 4 {
		t.Errorf("one: %+v, four: %+v", a, b)
	}
	prefill, decode := one, one
	prefill.Role, decode.Role = deployment.Prefill, deployment.Decode
	_, f2 := fleetOf(t, "Qwen/Qwen3-8B", "h200_sxm", prefill, decode)
	m2, r2 := run(t, f2, 1, 500, 300)
	u := m2.Used(r2)
	p, _ := power.New(mustLookup(t, "h200_sxm"))
	if w := p.Mean(&u[0].Loads, u[0].Busy); w > 2*p.Idle() || u[0].Busy > 0.2 {
		t.Errorf("prefill devices that are %.0f %% busy draw %.0f W, idle ones %.0f W", 100*u[0].Busy, w, p.Idle())
	}
	if u[0].Loads.Decode.Time != 0 || u[1].Loads.Prefill.Time != 0 || u[1].Loads.Decode.Time < units.Seconds(0.1) {
		t.Errorf("%+v", u)
	}
}

func mustLookup(t *testing.T, name string) *device.Profile {
	t.Helper()
	d, err := device.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
