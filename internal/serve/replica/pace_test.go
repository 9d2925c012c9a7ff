package replica_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// TestPaceIsTheReplicas: a step evaluated operator by operator, at the pace of its
// engine, takes as long as the replica's: decodes inside captured graphs and beyond
// them, and prompts.
func TestPaceIsTheReplicas(t *testing.T) {
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	prices, _ := calibrated.New(d)
	for _, id := range []string{"Qwen/Qwen3-32B", "Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3"} {
		m, err := model.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		l := parallel.Layout{Devices: 8, TP: 8}.Complete(m)
		spec := graph.Spec{
			Model: m, Layout: l, Policy: graph.Physical(), Compile: true,
			Quant: graph.Resolve(m, graph.Physical(), graph.Actions{}),
		}
		g, err := graph.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		multipliers := replica.Ones()
		multipliers.Decode[step.Products], multipliers.Prefill[step.Attention], multipliers.PerStep, multipliers.LaunchFloor = 1.2, 0.7, 3, 2
		for _, name := range []string{"vllm", "sglang", "trtllm"} {
			e, err := engine.LookupVersion(name, "")
			if err != nil {
				t.Fatal(err)
			}
			e = e.On(d, engine.Use{Devices: 8, Model: spec.Model})
			r, err := replica.New(&deployment.Served{Spec: spec, Device: d, Engine: e, Replicas: 1}, prices)
			if err != nil {
				t.Fatal(err)
			}
			pace := replica.NewPace(&spec, d, e).Scaled(multipliers)
			for _, c := range []struct {
				batch   server.Batch
				segment graph.Segment
			}{
				{server.Batch{Decode: 64, DecodeContext: 64 * 2000, Sampled: 64}, graph.Segment{Requests: 64, Query: 1, Seq: 2000, Decode: true}},
				{server.Batch{Decode: 1024, DecodeContext: 1024 * 300, Sampled: 1024}, graph.Segment{Requests: 1024, Query: 1, Seq: 300, Decode: true}},
				{
					server.Batch{PrefillRequests: 2, PrefillTokens: 4096, PrefillPairs: 2 * 2048 * 2049 / 2, Sampled: 2},
					graph.Segment{Requests: 2, Query: 2048, Seq: 2048},
				},
			} {
				times := step.New(g, prices).Evaluate(graph.Batch{Segments: []graph.Segment{c.segment}}, false).Times
				got, kernels := pace.Step(&times, c.batch.Decode, c.batch.PrefillRequests, c.batch.PrefillTokens)
				if want := r.Scaled(multipliers).Step(c.batch); !near(got, want) {
					t.Errorf("%s under %s, %+v: %v, the replica %v", id, name, c.segment, got, want)
				}
				if kernels <= 0 || kernels >= got {
					t.Errorf("%s under %s: kernels take %v of %v", id, name, kernels, got)
				}
			}
		}
	}
}

// TestFirstAlone: an engine with one device has its own constant of the first token and sends tokens one after the other; with several
// both are in the constant that was fitted to these. A prompt alone takes the longer of its launches and its kernels.
func TestFirstAlone(t *testing.T) {
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Lookup("Qwen/Qwen3-8B")
	if err != nil {
		t.Fatal(err)
	}
	prices, _ := calibrated.New(d)
	e, err := engine.LookupVersion("vllm", "0.24.0")
	if err != nil {
		t.Fatal(err)
	}
	pool := func(devices int, launches units.Seconds) (*engine.Terms, sim.Pool) {
		own := e.On(d, engine.Use{Devices: devices, Model: m})
		terms := *own.Hosts[engine.Generic]
		terms.Floor.Dense = launches
		own.Hosts = map[string]*engine.Terms{engine.Generic: &terms}
		spec := graph.Spec{
			Model: m, Layout: parallel.Layout{Devices: devices, TP: devices}.Complete(m), Policy: graph.Physical(), Compile: true,
			Quant: graph.Resolve(m, graph.Physical(), graph.Actions{}),
		}
		r, err := replica.New(&deployment.Served{Spec: spec, Device: d, Engine: own, Replicas: 1}, prices)
		if err != nil {
			t.Fatal(err)
		}
		return &terms, r.Pool(1)
	}
	terms, one := pool(1, 0)
	if one.Engine.First != terms.FirstAlone || one.Engine.APIPerOutput != terms.APIPerOutput || terms.APIPerOutput == 0 || terms.FirstAlone >= terms.First {
		t.Errorf("one device: first %v and %v an output, of %+v", one.Engine.First, one.Engine.APIPerOutput, terms)
	}
	if _, two := pool(2, 0); two.Engine.First != terms.First || two.Engine.APIPerOutput != 0 {
		t.Errorf("two devices: first %v and %v an output, of %+v", two.Engine.First, two.Engine.APIPerOutput, terms)
	}
	prompt := server.Batch{PrefillRequests: 1, PrefillTokens: 2048, PrefillPairs: 2048 * 2049 / 2, Sampled: 1}
	kernels := one.Stepper.Step(prompt)
	if _, fast := pool(1, 1e-6); fast.Stepper.Step(prompt) != kernels {
		t.Error("launches that are shorter than the kernels cost time")
	}
	if _, slow := pool(1, 1e-2); slow.Stepper.Step(prompt) < 36*1e-2 || slow.Stepper.Step(prompt) > 36*1e-2+kernels/2 {
		t.Errorf("36 layers launched in 10 ms each take %v, their kernels %v", slow.Stepper.Step(prompt), kernels)
	}
}
