package session

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// The fields that several operations have.

// AskFamily adds the family that a model's config.json is read as.
func AskFamily(t *ask.Table, dst *string) {
	ask.One(t, dst, "as-family", ask.Text, "read the model's config.json as this `family`, regardless of its architecture; generic reads any decoder")
}

// AskDeviceFile adds the user's own device profile.
func AskDeviceFile(t *ask.Table, dst *string) {
	ask.One(t, dst, "device-file", ask.Text, "your own device profile, a YAML `file`")
}

// AskPerfData adds measured kernels.
func AskPerfData(t *ask.Table, r *prices.Tables) {
	ask.One(t, &r.Dir, "perf-data", ask.Text, "take operator times from a `directory` of measured kernel tables, in AIConfigurator's layout")
	ask.One(t, &r.Engine, "perf-engine", ask.Text, "use only the tables of `ENGINE[@VERSION]` (default the fastest kernel of all engines in their newest versions)")
}

// AskCalibration adds the file that replaces the shipped calibration, and what is read from it.
func AskCalibration(t *ask.Table, dst *string, what string) {
	ask.One(t, dst, "calibration", ask.Text, strings.TrimSpace(what+" from")+" a calibration `file` (plimsoll calibrate) instead of the shipped one")
}

// AskEngine adds an engine, its version, its settings and the preset that fills unset ones.
func AskEngine(t *ask.Table, e *deployment.Engine, what string) {
	ask.One(t, &e.Name, "engine", ask.Text, what+" (plimsoll engines lists them)")
	ask.One(t, &e.Version, "engine-version", ask.Text, "engine `version` (default the newest)")
	ask.List(t, &e.Settings, "set", ask.Text, "engine settings, each as `KEY=VALUE`")
	AskPreset(t, &e.Preset)
}

// AskPreset adds the preset that fills unset engine settings.
func AskPreset(t *ask.Table, dst *string) {
	ask.One(t, dst, "engine-preset", ask.Text, "fill unset engine settings from a preset: "+strings.Join(engine.PresetNames(), ", ")+" (plimsoll engines NAME shows them)")
}

// AskLayout adds the sizes of a replica's layout. The others are one unless they are given.
func AskLayout(t *ask.Table, l *parallel.Layout, devices, dp string) {
	l.TP, l.PP, l.EP = 1, 1, 1
	ask.One(t, &l.Devices, "num-devices", ask.Whole, devices)
	ask.One(t, &l.TP, "tp-size", ask.Whole, "tensor parallelism of attention and dense layers")
	ask.One(t, &l.DP, "dp-size", ask.Whole, dp)
	ask.One(t, &l.PP, "pp-size", ask.Whole, "pipeline parallelism")
	ask.One(t, &l.EP, "ep-size", ask.Whole, "expert parallelism")
	ask.One(t, &l.MoETP, "moe-tp-size", ask.Whole, "tensor parallelism of each expert (default devices / (EP·MoE-DP·PP))")
}

// AskSharding adds how embeddings and shared experts are sharded.
func AskSharding(t *ask.Table, m *deployment.Modelling) {
	ask.One(t, &m.EmbeddingTP, "word-embedding-tp", embedding(), "shard the word embedding over TP: col or row").Shown("")
	ask.Switch(t, &m.SharedExpertTP, "enable-shared-expert-tp", "shard the shared experts over TP (needs EP)")
}

func embedding() ask.Type[graph.EmbeddingTP] {
	names := map[string]graph.EmbeddingTP{"col": graph.EmbeddingCols, "row": graph.EmbeddingRows}
	word := ask.OneOf("col", "row")
	return ask.Type[graph.EmbeddingTP]{
		Name: word.Name,
		Read: func(w string) (graph.EmbeddingTP, error) {
			w, err := word.Read(w)
			return names[w], err
		},
		Write: func(x graph.EmbeddingTP) string {
			for name, is := range names {
				if is == x {
					return name
				}
			}
			return ""
		},
	}
}

// AskFormats adds the quantization of linear layers and of the KV cache.
func AskFormats(t *ask.Table, f *deployment.Formats) {
	ask.One(t, &f.Linear, "quantize-linear-action", ask.OneOf(dtype.LinearActions()...),
		"quantization of linear layers: "+listed(dtype.LinearActions())+" (default W8A8_DYNAMIC on Ascend, elsewhere AUTO, the checkpoint's own)")
	ask.One(t, &f.Attention, "quantize-attention-action", ask.OneOf(dtype.AttentionActions()...),
		"quantization of the KV cache: "+listed(dtype.AttentionActions())+" (default DISABLED on Ascend, elsewhere AUTO)")
}

// AskExpertFormats adds the quantization that only some operations take.
func AskExpertFormats(t *ask.Table, f *deployment.Formats) {
	f.MXFP4Group = graph.DefaultMXFP4Group
	ask.One(t, &f.NonExpert, "quantize-non-expert-linear-action", ask.OneOf(dtype.LinearActions()...), "quantization of attention, dense and shared-expert layers (default that of the other linear layers)")
	ask.One(t, &f.MXFP4Group, "mxfp4-group-size", ask.Whole, "elements that share an MXFP4 scale")
}

// AskModelling adds how a step is modelled, with further compiler passes of an operation.
func AskModelling(t *ask.Table, m *deployment.Modelling, passes ...ask.Mark) {
	ask.Choice(t, &m.Fusion, "compile", deployment.Compiled, deployment.Eager, "fuse operators as a graph compiler does (default except on Ascend devices and with --pricing roofline)")
	ask.Choice(t, &m.Fusion, "no-compile", deployment.Eager, deployment.Compiled, "do not fuse operators (default on Ascend devices and with --pricing roofline)")
	passes = append(passes,
		ask.Mark{Word: "enable_sequence_parallel", On: &m.SequenceParallel},
		ask.Mark{Word: "enable_matmul_allreduce", On: &m.MatMulAllReduce},
		ask.Mark{Word: "enable_dispatch_ffn_combine", On: &m.DispatchCombine})
	var names []string
	for _, p := range passes {
		names = append(names, p.Word)
	}
	ask.Marks(t, "compilation-config", passes, "further compiler passes: "+strings.Join(names, ", "))
	ask.One(t, &m.Policy, "policy", ask.OneOf("tensorcast", "physical"),
		"modelling assumptions: tensorcast, those of Ascend's model (default on Ascend), or physical")
	ask.One(t, &m.Pricing, "pricing", OrAuto(ask.OneOf(Auto, prices.Roofline, prices.Calibrated, prices.Surfaces)),
		"cost model of operators: roofline, from the peaks of the profile; calibrated, fitted to measured kernels; surfaces, those fits corrected by measured kernels (default roofline with --policy tensorcast, otherwise the most accurate available)")
}

// Auto is the word for a default.
const Auto = "auto"

// OrAuto reads auto as "", the default.
func OrAuto[T ~string](t ask.Type[T]) ask.Type[T] {
	read := t.Read
	t.Read = func(word string) (T, error) {
		x, err := read(word)
		if x == Auto {
			x = ""
		}
		return x, err
	}
	return t
}

// AskImages adds the images of a request.
func AskImages(t *ask.Table, number, height, width *int) {
	ask.One(t, number, "image-batch-size", ask.Whole, "images per request (default 1)")
	ask.One(t, height, "image-height", ask.Whole, "height of an image in pixels")
	ask.One(t, width, "image-width", ask.Whole, "width of an image in pixels")
}

// CheckEngine reports parts of an engine that is not named.
func CheckEngine(e *deployment.Engine) error {
	switch {
	case e.Name != "":
	case e.Version != "":
		return ask.Needs("engine_version", "engine")
	case e.Settings != nil:
		return ask.Needs("set", "engine")
	}
	return nil
}

func listed[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

// AskArrivals adds how requests of a rate come.
func AskArrivals(t *ask.Table, p *traffic.Process, variation *float64, load, whose string) {
	ask.One(t, p, "arrival", ask.Named(traffic.Poisson, traffic.Gamma, traffic.Constant), "arrival process for "+load+": poisson, gamma or constant")
	ask.One(t, variation, "arrival-variation", ask.Number, "coefficient of variation of "+whose+"; 1 is Poisson, higher is burstier")
}

// AskCaches adds the routing and the host cache.
func AskCaches(t *ask.Table, routing *string, host *deployment.HostCache) {
	ask.One(t, routing, "routing", ask.OneOf(sim.RoutingNames()...),
		"policy that routes requests to replicas: "+listed(sim.RoutingNames())+" (default round-robin)")
	ask.One(t, &host.GiB, "host-cache", ask.Number, "host memory of a replica for KV blocks evicted from its devices, in `GiB`")
	host.Bandwidth = deployment.DefaultHostBandwidth
	ask.One(t, &host.Bandwidth, "host-bandwidth", ask.Number, "bandwidth between host memory and one device, in `GB/s`")
}

// Host is the host cache that was typed: without memory it has no bandwidth, unless one was typed.
func Host(t *ask.Table, h deployment.HostCache) deployment.HostCache {
	if h.GiB == 0 && !t.Given("host-bandwidth") {
		return deployment.HostCache{}
	}
	return h
}

// AskStatistic adds the statistic that limits apply to.
func AskStatistic(t *ask.Table, s *workload.Statistic, what string) {
	ask.One(t, &s.Percentile, "percentile", Percentile(), what)
	ask.One(t, &s.Goodput, "goodput", ask.Number, "`share` of requests that must be within all limits at once, such as 0.95; replaces --percentile")
}

// LengthLow is how a ratio of lengths is described.
const LengthLow = "shortest length as a share of the longest; lengths are uniform in between"
