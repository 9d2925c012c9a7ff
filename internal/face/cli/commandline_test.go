package cli_test

import (
	encoding "encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	words "mvdan.cc/sh/v3/shell"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// line is a request that has a command line.
type line interface{ CommandLine() string }

// TestCommandLinesAskTheSame: a command line that is printed for a request asks for it: read as the command reads it, its own command line
// is the same. Requests that use every field that flags have always have one.
func TestCommandLinesAskTheSame(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) line{"step": aStep, "simulate": aSimulation, "plan": aPlan, "throughput-optimizer": aSearch} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			r := draw(t)
			first := r.CommandLine()
			if first == "" {
				said, _ := encoding.Marshal(r)
				t.Fatalf("no command line for %s", said)
			}
			typed, err := words.Fields(first, func(string) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			back, err := cli.Asked(typed[1:])
			if err != nil {
				t.Fatalf("%s: %v", first, err)
			}
			if again := asLine(back).CommandLine(); again != first {
				t.Fatalf("\n%s\n%s", first, again)
			}
		}))
	}
}

// asLine is a request that was read.
func asLine(request any) line {
	switch r := request.(type) {
	case step.Request:
		return &r
	case simulate.Request:
		return &r
	case plan.Request:
		return &r
	case optimize.Request:
		return &r
	}
	panic(fmt.Sprintf("%T", request))
}

// TestNoCommandLine: a request that no flags can ask for has no command line, rather than one that asks for another.
func TestNoCommandLine(t *testing.T) {
	bins := &workload.Distribution{Bins: []workload.Bin{{Min: 1, Max: 5, Weight: 1}}}
	one := []session.Workload{{Input: 10, Output: 10}}
	base := plan.Request{Model: "Qwen/Qwen3-8B", Systems: []string{"h200_sxm"}, Devices: 1, Workloads: one}
	with := func(change func(*plan.Request)) line {
		r := base
		change(&r)
		return &r
	}
	if base.CommandLine() == "" {
		t.Error("none for a usual plan")
	}
	for name, r := range map[string]line{
		"config":        with(func(r *plan.Request) { r.Config = encoding.RawMessage(`{"a":1}`) }),
		"lengths":       with(func(r *plan.Request) { r.Workloads = []session.Workload{{InputLengths: bins, Output: 1}} }),
		"trace data":    with(func(r *plan.Request) { r.Workloads = []session.Workload{{TraceData: "a,b"}} }),
		"trace's name":  with(func(r *plan.Request) { r.Workloads = []session.Workload{{Name: "a", Trace: "x:y.csv"}, one[0]} }),
		"workload name": with(func(r *plan.Request) { r.Workloads = []session.Workload{{Name: "a=b", Input: 1, Output: 1}, one[0]} }),
		"formats":       with(func(r *plan.Request) { r.Formats.GEMM = "fp8" }),
		"mixed prefix":  with(func(r *plan.Request) { r.Workloads = []session.Workload{{Input: 10, Output: 1, Prefix: 5}, one[0]} }),
		"simulation":    &simulate.Request{Traffic: simulate.Traffic{Rate: 1, InputLengths: bins}},
		"pool's system": &simulate.Request{Traffic: simulate.Traffic{Rate: 1}, Deployment: deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Both, System: "h100_sxm"}}}},
		"search":        &optimize.Request{Model: "m", Distribution: bins, Output: 1},
		"image model":   &step.Request{Deployment: deployment.Deployment{Pools: []deployment.Pool{{}, {}}}, Decode: true},
	} {
		if got := r.CommandLine(); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The values that requests draw from.
var (
	aName  = rapid.SampledFrom([]string{"Qwen/Qwen3-8B", "./my model", "it's", "-x", "h200_sxm", "a=b:c"})
	aPath  = rapid.SampledFrom([]string{"", "a.yaml", "dir/a b.json"})
	aCount = rapid.IntRange(1, 4096)
	aShare = rapid.SampledFrom([]float64{0.05, 0.5, 0.995, 1.0 / 3})
	aTime  = rapid.Map(rapid.SampledFrom([]float64{0, 20, 33.3, 1000, math.Inf(1)}), func(ms float64) units.Seconds { return units.Seconds(ms / 1e3) })
)

func maybe[T any](t *rapid.T, name string, g *rapid.Generator[T]) (out T) {
	if rapid.Bool().Draw(t, name+"?") {
		out = g.Draw(t, name)
	}
	return out
}

func some[T any](t *rapid.T, name string, g *rapid.Generator[T]) []T {
	return maybe(t, name, rapid.SliceOfN(g, 1, 3))
}

func aSource(t *rapid.T) session.Sources {
	out := session.Sources{DeviceFile: aPath.Draw(t, "device file"), Calibration: aPath.Draw(t, "calibration")}
	if out.PerfData.Dir = aPath.Draw(t, "tables"); out.PerfData.Dir != "" {
		out.PerfData.Engine = aPath.Draw(t, "engine of tables")
	}
	return out
}

func anEngine(t *rapid.T) deployment.Engine {
	if rapid.Bool().Draw(t, "no engine") {
		return deployment.Engine{}
	}
	return deployment.Engine{
		Name: rapid.SampledFrom([]string{"vllm", "sglang"}).Draw(t, "engine"), Version: maybe(t, "version", rapid.Just("0.20.0")),
		Preset: maybe(t, "preset", rapid.Just("chunked")), Settings: some(t, "settings", rapid.SampledFrom([]string{"a=1", "b=x y"})),
	}
}

func aStep(t *rapid.T) line {
	r := &step.Request{Sources: aSource(t), Queries: aCount.Draw(t, "queries"), QueryLength: maybe(t, "query", aCount), ContextLength: maybe(t, "context", aCount)}
	r.Decode, r.Multistream = rapid.Bool().Draw(t, "decode"), rapid.Bool().Draw(t, "multistream")
	r.PrefixHitRate, r.Layers, r.ReservedGiB = maybe(t, "hits", aShare), maybe(t, "layers", aCount), maybe(t, "reserved", aShare)
	r.ImageHeight, r.ImageWidth, r.ImageBatch = maybe(t, "height", aCount), maybe(t, "width", aCount), maybe(t, "images", aCount)
	d := &r.Deployment
	d.Model, d.AsFamily, d.System, d.Engine = rapid.Just("Qwen/Qwen3-8B").Draw(t, "model"), maybe(t, "family", rapid.Just("qwen3")), maybe(t, "device", rapid.Just("h200_sxm")), anEngine(t)
	m := &d.Modelling
	m.Fusion = rapid.SampledFrom([]deployment.Fusion{deployment.ByDefault, deployment.Compiled, deployment.Eager}).Draw(t, "fusion")
	m.Policy = rapid.SampledFrom([]string{"", "tensorcast", "physical"}).Draw(t, "policy")
	m.EmbeddingTP = rapid.SampledFrom([]graph.EmbeddingTP{graph.EmbeddingCopied, graph.EmbeddingCols, graph.EmbeddingRows}).Draw(t, "embedding")
	m.SequenceParallel, m.SharedExpertTP = rapid.Bool().Draw(t, "sequence"), rapid.Bool().Draw(t, "shared")
	d.Formats.MXFP4Group = graph.DefaultMXFP4Group
	size := rapid.IntRange(0, 8)
	d.Pools = []deployment.Pool{{Role: deployment.Both, MTP: maybe(t, "mtp", rapid.IntRange(1, 9)), Layout: parallel.Layout{
		Devices: size.Draw(t, "devices"), TP: size.Draw(t, "tp"), DP: size.Draw(t, "dp"), PP: size.Draw(t, "pp"), EP: size.Draw(t, "ep"), MoETP: size.Draw(t, "moe tp"), MoEDP: size.Draw(t, "moe dp"), DCP: size.Draw(t, "dcp"),
	}}}
	return r
}

func presets() []string {
	var out []string
	for _, p := range workload.Presets() {
		out = append(out, p.Name)
	}
	return out
}

func aWorkload(t *rapid.T) session.Workload {
	x := session.Workload{Name: rapid.SampledFrom([]string{"", "a", "b c"}).Draw(t, "name"), Share: maybe(t, "share", aShare)}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		x.Input, x.Output = aCount.Draw(t, "input"), aCount.Draw(t, "output")
	case 1:
		x.Preset = rapid.SampledFrom(presets()).Draw(t, "preset")
	case 2:
		x.Trace = "trace.csv"
	default:
		x.Session = &workload.Session{System: aCount.Draw(t, "system"), Turns: rapid.IntRange(2, 9).Draw(t, "turns"), First: aCount.Draw(t, "first"), User: aCount.Draw(t, "user"), Output: aCount.Draw(t, "output"), Think: maybe(t, "think", rapid.Just(units.Seconds(2.5)))}
	}
	return x
}

func aSimulation(t *rapid.T) line {
	r := &simulate.Request{Sources: aSource(t), Seed: maybe(t, "seed", rapid.Just(uint64(7)))}
	r.Percentile, r.Goodput = maybe(t, "percentile", rapid.Just(99.9)), maybe(t, "goodput", aShare)
	r.Limits = workload.Limits{TTFT: aTime.Draw(t, "ttft"), TPOT: aTime.Draw(t, "tpot")}
	r.Protocol = rapid.SampledFrom([]simulate.Protocol{"", simulate.Steady, simulate.Benchmark}).Draw(t, "protocol")
	x := &r.Traffic
	x.Requests = maybe(t, "requests", aCount)
	switch rapid.IntRange(0, 2).Draw(t, "load") {
	case 0:
		x.Concurrency = aCount.Draw(t, "concurrency")
	case 1:
		x.Rate, x.Process, x.Variation = aShare.Draw(t, "rate"), traffic.Gamma, aShare.Draw(t, "variation")
	default:
		x.Trace = "trace file.csv"
	}
	switch {
	case x.Trace != "":
	case rapid.Bool().Draw(t, "mixed"):
		x.Workloads = rapid.SliceOfN(rapid.Custom(aWorkload), 1, 3).Draw(t, "workloads")
		for i := range x.Workloads {
			x.Workloads[i].Name = fmt.Sprint("n", i)
		}
	default:
		x.Input, x.Prefix, x.LengthLow = maybe(t, "input", aCount), maybe(t, "prefix", aCount), maybe(t, "low", aShare)
		if x.Output = maybe(t, "output", aCount); x.Output == 0 {
			x.OutputLengths = workload.Builtin()
		}
	}
	d := &r.Deployment
	d.Model, d.System, d.Engine = "Qwen/Qwen3-8B", maybe(t, "device", rapid.Just("h100_sxm")), anEngine(t)
	d.Routing, d.Host.GiB = rapid.SampledFrom(append(sim.RoutingNames(), "")).Draw(t, "routing"), maybe(t, "host", aShare)
	size := rapid.IntRange(0, 4)
	pool := deployment.Pool{Role: deployment.Both, Replicas: maybe(t, "replicas", aCount), MTP: maybe(t, "mtp", rapid.IntRange(1, 9)), AcceptanceRates: some(t, "rates", aShare)}
	pool.Layout = parallel.Layout{TP: size.Draw(t, "tp"), PP: size.Draw(t, "pp"), DP: size.Draw(t, "dp"), EP: size.Draw(t, "ep")}
	d.Pools = []deployment.Pool{pool}
	if rapid.Bool().Draw(t, "disaggregated") {
		prefill := pool
		pool.Role, prefill.Role, prefill.Replicas = deployment.Decode, deployment.Prefill, aCount.Draw(t, "prefill replicas")
		prefill.Settings, prefill.Layout.TP = some(t, "prefill settings", rapid.Just("a=1")), size.Draw(t, "prefill tp")
		d.Pools = []deployment.Pool{prefill, pool}
	}
	return r
}

func aPlan(t *rapid.T) line {
	r := &plan.Request{Model: aName.Filter(func(s string) bool { return !strings.HasPrefix(s, "-") }).Draw(t, "model"), Sources: aSource(t)}
	r.Systems = rapid.SliceOfN(rapid.SampledFrom([]string{"h200_sxm", "mi300x", "all"}), 1, 3).Draw(t, "systems")
	switch rapid.IntRange(0, 2).Draw(t, "load") {
	case 0:
		r.Devices = aCount.Draw(t, "gpus")
	case 1:
		r.Rate, r.Process = aShare.Draw(t, "rate"), rapid.SampledFrom([]traffic.Process{traffic.Poisson, traffic.Constant}).Draw(t, "arrivals")
	default:
		r.Daily, r.ColdStart = rapid.SliceOfN(aShare, 1, 3).Draw(t, "daily"), new(maybe(t, "cold start", aShare))
	}
	r.Spare, r.Utilization = maybe(t, "spare", aCount), maybe(t, "utilization", aShare)
	r.Limits = workload.Limits{TTFT: aTime.Draw(t, "ttft"), TPOT: aTime.Draw(t, "tpot"), Latency: aTime.Draw(t, "latency")}
	r.NoLimits, r.NoChanges = rapid.Bool().Draw(t, "no limits"), rapid.Bool().Draw(t, "no changes")
	r.Percentile, r.Goodput, r.Confidence = maybe(t, "percentile", rapid.Just(95.0)), maybe(t, "goodput", aShare), maybe(t, "confidence", aShare)
	r.Engines, r.EnginePreset = some(t, "engines", rapid.SampledFrom([]string{"vllm", "sglang@0.5.9"})), maybe(t, "preset", rapid.Just("chunked"))
	r.Modes = maybe(t, "modes", rapid.Just([]experiment.ServingMode{experiment.Disaggregated}))
	r.Routing, r.Host.GiB = rapid.SampledFrom(append(sim.RoutingNames(), "")).Draw(t, "routing"), maybe(t, "host", aShare)
	r.Formats.Checkpoint, r.Formats.KV = rapid.SampledFrom([]string{"", "fp8"}).Draw(t, "weights"), rapid.SampledFrom([]string{"", "int8"}).Draw(t, "cache")
	r.Draft, r.MTP, r.AcceptanceRates = maybe(t, "draft", rapid.Just("mtp:2")), maybe(t, "nextn", rapid.IntRange(1, 9)), some(t, "accepted", aShare)
	r.Prices = maybe(t, "prices", rapid.MapOfN(rapid.SampledFrom([]string{"", "h200_sxm", "mi300x"}), aShare, 1, 3))
	r.EnergyPrice = new(maybe(t, "energy", aShare))
	r.API = maybe(t, "api", rapid.Just(&plan.APIPrice{Input: 0.5, Output: 2}))
	r.Workloads = rapid.SliceOfN(rapid.Custom(aWorkload), 1, 3).Draw(t, "workloads")
	for i := range r.Workloads {
		if x := &r.Workloads[i]; len(r.Workloads) > 1 || x.Session != nil || x.Share != 0 {
			x.Name = fmt.Sprint("n", i)
		}
	}
	return r
}

func aSearch(t *rapid.T) line {
	r := &optimize.Request{Model: "Qwen/Qwen3-8B", Sources: aSource(t), Devices: []string{"h200_sxm", "TEST_DEVICE"}, NumDevices: maybe(t, "devices", aCount), Output: aCount.Draw(t, "output")}
	if rapid.Bool().Draw(t, "lengths") {
		r.Distribution = workload.Builtin()
	} else {
		r.Input = aCount.Draw(t, "input")
	}
	r.Disagg, r.PDRatio = rapid.Bool().Draw(t, "disagg"), rapid.Bool().Draw(t, "ratio")
	r.PrefillDevices, r.DecodeDevices = maybe(t, "prefill", aCount), maybe(t, "decode", aCount)
	r.Limits = workload.Limits{TTFT: aTime.Draw(t, "ttft"), TPOT: aTime.Draw(t, "tpot"), Latency: aTime.Draw(t, "latency")}
	r.Budget = maybe(t, "budget", aCount)
	r.AutoBudget = r.Budget == 0 && rapid.Bool().Draw(t, "auto")
	r.PrefixHitRate, r.ServingCost, r.BatchRange = maybe(t, "hits", aShare), maybe(t, "cost", rapid.Just(units.Seconds(0.0125))), maybe(t, "range", rapid.SliceOfN(aCount, 1, 2))
	r.ReservedGiB = new(maybe(t, "reserved", aShare))
	sizes := rapid.SliceOfN(aCount, 0, 3)
	r.Space = search.Space{TP: maybe(t, "tp", sizes), EP: maybe(t, "ep", sizes), PP: maybe(t, "pp", sizes), MTP: some(t, "mtp", rapid.IntRange(0, 9))}
	if rapid.Bool().Draw(t, "draft") {
		r.Draft = optimize.Draft{Method: "dflash", Block: 4, Accepted: 2.5, Layers: 3}
	}
	r.Engine, r.LengthLow, r.Confidence = anEngine(t), maybe(t, "low", aShare), maybe(t, "confidence", aShare)
	r.Evaluate = rapid.SampledFrom([]optimize.Evaluation{"", optimize.ByFormulas, optimize.BySimulation}).Draw(t, "evaluate")
	r.Price, r.Explain = maybe(t, "price", aShare), rapid.Bool().Draw(t, "explain")
	return r
}
