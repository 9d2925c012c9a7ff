package commandline

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// The tokens of --compilation-config.
const (
	Multistream      = "enable_multistream"
	SequenceParallel = "enable_sequence_parallel"
	MatMulAllReduce  = "enable_matmul_allreduce"
	DispatchCombine  = "enable_dispatch_ffn_combine"
)

// commandLine is a command line under construction.
type commandLine []string

// add adds a flag with its values, if it is given.
func (c *commandLine) add(given bool, flag string, values ...any) {
	if !given {
		return
	}
	words := []string{"--" + flag}
	for _, v := range values {
		words = append(words, launch.Quote(fmt.Sprint(v)))
	}
	*c = append(*c, strings.Join(words, " "))
}

// list adds a flag with the values of a list, unless the list is nil.
func list[T any](c *commandLine, flag string, values []T) {
	words := make([]any, len(values))
	for i, v := range values {
		words[i] = v
	}
	c.add(values != nil, flag, words...)
}

// word adds a word, if it is given.
func (c *commandLine) word(given bool, word string) {
	if given {
		*c = append(*c, launch.Quote(word))
	}
}

// String is the line.
func (c commandLine) String() string { return strings.Join(c, " ") }

// limit adds a limit in milliseconds, if any.
func (c *commandLine) limit(flag string, s units.Seconds) {
	if math.IsInf(float64(s), 1) {
		c.add(true, flag, "inf")
		return
	}
	c.add(s > 0, flag, s.TypedMs())
}

// sources adds the files behind a prediction.
func (c *commandLine) sources(s *session.Sources) {
	c.add(s.DeviceFile != "", "device-file", s.DeviceFile)
	c.add(s.PerfData.Dir != "", "perf-data", s.PerfData.Dir)
	c.add(s.PerfData.Engine != "", "perf-engine", s.PerfData.Engine)
	c.add(s.Calibration != "", "calibration", s.Calibration)
}

// formats adds quantization.
func (c *commandLine) formats(f *deployment.Formats) {
	c.add(f.Linear != "", "quantize-linear-action", f.Linear)
	c.add(f.NonExpert != "", "quantize-non-expert-linear-action", f.NonExpert)
	c.add(f.Attention != "", "quantize-attention-action", f.Attention)
	c.add(f.MXFP4Group != 0 && f.MXFP4Group != graph.DefaultMXFP4Group, "mxfp4-group-size", f.MXFP4Group)
}

// modelling adds the modelling options.
func (c *commandLine) modelling(m *deployment.Modelling, multi bool) {
	c.add(m.EmbeddingTP == graph.EmbeddingCols, "word-embedding-tp", "col")
	c.add(m.EmbeddingTP == graph.EmbeddingRows, "word-embedding-tp", "row")
	c.add(m.Policy != "", "policy", m.Policy)
	c.add(m.Pricing != "", "pricing", m.Pricing)
	c.word(m.SharedExpertTP, "--enable-shared-expert-tp")
	c.word(m.Fusion == deployment.Compiled, "--compile")
	c.word(m.Fusion == deployment.Eager, "--no-compile")
	c.word(multi || m.SequenceParallel || m.MatMulAllReduce || m.DispatchCombine, "--compilation-config")
	c.word(multi, Multistream)
	c.word(m.SequenceParallel, SequenceParallel)
	c.word(m.MatMulAllReduce, MatMulAllReduce)
	c.word(m.DispatchCombine, DispatchCombine)
}

// engine adds the engine, if any.
func (c *commandLine) engine(e *deployment.Engine) {
	c.add(e.Name != "", "engine", e.Name)
	c.add(e.Version != "", "engine-version", e.Version)
	c.add(e.Preset != "", "engine-preset", e.Preset)
	list(c, "set", e.Settings)
}

// images adds the size of images.
func (c *commandLine) images(height, width int) {
	c.add(height > 0, "image-height", height)
	c.add(width > 0, "image-width", width)
}

// Step is the command line of a step request.
func Step(r *step.Request) string {
	d, p := &r.Deployment, &r.Deployment.Pools[0]
	l := &p.Layout
	c := commandLine{"plimsoll step", launch.Quote(d.Model)}
	c.add(d.AsFamily != "", "as-family", d.AsFamily)
	c.add(r.DeviceFile == "" || d.System != "", "device", d.System)
	c.sources(&r.Sources)
	c.engine(&d.Engine)
	c.add(l.Devices > 0, "num-devices", l.Devices)
	c.add(l.TP > 0, "tp-size", l.TP)
	c.add(l.DP > 0 && l.Devices != l.TP*l.PP*l.DP, "dp-size", l.DP)
	c.add(l.PP > 1, "pp-size", l.PP)
	experts := l.EP*l.MoETP*l.MoEDP > 1
	c.add(experts || l.EP > 1, "ep-size", l.EP)
	c.add(experts, "moe-tp-size", l.MoETP)
	c.add(experts || l.MoEDP > 1, "moe-dp-size", l.MoEDP)
	c.add(l.DCP > 1, "dcp-size", l.DCP)
	c.add(true, "num-queries", r.Queries)
	c.add(r.QueryLength > 0, "query-length", r.QueryLength)
	c.add(r.ContextLength > 0, "context-length", r.ContextLength)
	c.add(r.PrefixHitRate > 0, "prefix-cache-hit-rate", r.PrefixHitRate)
	c.add(r.ReservedGiB > 0, "reserved-memory-gb", r.ReservedGiB)
	c.add(r.Layers > 0, "num-hidden-layers-override", r.Layers)
	c.images(r.ImageHeight, r.ImageWidth)
	c.add(r.ImageBatch > 0, "image-batch-size", r.ImageBatch)
	c.word(r.Decode, "--decode")
	c.add(p.MTP > 0, "num-mtp-tokens", p.MTP)
	c.formats(&d.Formats)
	c.modelling(&d.Modelling, r.Multistream)
	return c.String()
}

// Optimize is the command line of a search. Lengths names the file of a distribution, of which a request holds only
// the content.
func Optimize(r *optimize.Request, lengths string) string {
	c := commandLine{"plimsoll throughput-optimizer", launch.Quote(r.Model)}
	c.add(r.AsFamily != "", "as-family", r.AsFamily)
	list(&c, "device", r.Devices)
	c.sources(&r.Sources)
	c.add(true, "num-devices", r.NumDevices)
	c.lengths("input-length", r.Input, "length-distribution", r.Distribution, lengths)
	c.add(true, "output-length", r.Output)
	c.limit("ttft-limit", r.Limits.TTFT)
	c.limit("tpot-limit", r.Limits.TPOT)
	c.limit("request-latency", r.Limits.Latency)
	c.word(r.Disagg, "--disagg")
	c.word(r.PDRatio, "--enable-optimize-prefill-decode-ratio")
	c.add(r.PrefillDevices > 0, "prefill-devices-per-instance", r.PrefillDevices)
	c.add(r.DecodeDevices > 0, "decode-devices-per-instance", r.DecodeDevices)
	c.add(r.AutoBudget, "max-batched-tokens", "auto")
	c.add(r.Budget > 0, "max-batched-tokens", r.Budget)
	c.add(r.PrefixHitRate > 0, "prefix-cache-hit-rate", r.PrefixHitRate)
	c.add(r.ServingCost > 0 && !math.IsInf(float64(r.ServingCost), 1), "serving-cost", r.ServingCost.TypedMs())
	list(&c, "batch-range", r.BatchRange)
	if x := r.ReservedGiB; x != nil {
		c.add(true, "reserved-memory-gb", *x)
	}
	c.add(r.Accounting != "", "accounting", r.Accounting)
	c.space(r)
	c.draft(&r.Draft)
	c.images(r.ImageHeight, r.ImageWidth)
	c.add(r.ImageBatch > 0, "image-batch-size", r.ImageBatch)
	c.formats(&r.Formats)
	c.modelling(&r.Modelling, false)
	c.add(r.Evaluate != "", "evaluate", r.Evaluate)
	c.add(r.Confidence != search.DefaultConfidence, "confidence", r.Confidence)
	if e := r.Engine; e.Name != simulate.DefaultEngine || e.Version != "" || e.Preset != "" || len(e.Settings) > 0 {
		c.engine(&e)
	}
	c.add(r.LengthLow != 1, "length-ratio-low", r.LengthLow)
	c.add(r.Price > 0, "price", r.Price)
	c.word(r.Explain, "--explain")
	return c.String()
}

// space adds the sizes to search.
func (c *commandLine) space(r *optimize.Request) {
	s := &r.Space
	list(c, "tp-sizes", s.TP)
	list(c, "ep-sizes", s.EP)
	list(c, "moe-dp-sizes", s.MoEDP)
	list(c, "pp-sizes", s.PP)
	list(c, "dcp-sizes", s.DCP)
	list(c, "num-mtp-tokens", s.MTP)
	list(c, "mtp-acceptance-rates", r.AcceptanceRates)
}

// draft adds a draft model, if there is one.
func (c *commandLine) draft(d *optimize.Draft) {
	if d.Method == "" {
		return
	}
	c.add(true, "speculative-method", d.Method)
	c.add(true, "num-speculative-tokens", d.Block-1)
	c.add(true, "acceptance-length", d.Accepted)
	c.add(true, "num-draft-layers", d.Layers)
}
