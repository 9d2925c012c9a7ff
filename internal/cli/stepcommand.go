package cli

import (
	"fmt"
	"strings"

	"plimsoll/internal/app"
	"plimsoll/internal/deployment"
	"plimsoll/internal/graph"
)

// commandLine is a command line under construction.
type commandLine []string

// add adds a flag with its value, if it is given.
func (c *commandLine) add(given bool, flag string, value any) {
	if given {
		*c = append(*c, fmt.Sprintf("--%s %v", flag, value))
	}
}

// word adds a word, if it is given.
func (c *commandLine) word(given bool, word string) {
	if given {
		*c = append(*c, word)
	}
}

// stepCommand is the command that asks for a step.
func stepCommand(r *app.StepRequest) string {
	d, p := &r.Deployment, &r.Deployment.Pools[0]
	l, m, f := &p.Layout, &d.Modelling, &d.Formats
	c := commandLine{"plimsoll step", d.Model}
	c.add(r.DeviceFile != "", "device-file", r.DeviceFile)
	c.add(r.DeviceFile == "", "device", d.System)
	c.add(r.PerfData.Dir != "", "perf-data", r.PerfData.Dir)
	c.add(r.PerfData.Engine != "", "perf-engine", r.PerfData.Engine)
	c.add(true, "num-devices", l.Devices)
	c.add(true, "tp-size", l.TP)
	c.add(l.PP > 1, "pp-size", l.PP)
	experts := l.EP*l.MoETP*l.MoEDP > 1
	c.add(experts, "ep-size", l.EP)
	c.add(experts, "moe-tp-size", l.MoETP)
	c.add(experts, "moe-dp-size", l.MoEDP)
	c.add(l.DCP > 1, "dcp-size", l.DCP)
	c.add(true, "num-queries", r.Queries)
	c.add(true, "query-length", r.QueryLength)
	c.add(r.ContextLength > 0, "context-length", r.ContextLength)
	c.add(r.ImageBatch > 0, "image-batch-size", r.ImageBatch)
	c.add(r.ImageHeight > 0, "image-height", r.ImageHeight)
	c.add(r.ImageWidth > 0, "image-width", r.ImageWidth)
	c.word(r.Decode, "--decode")
	c.add(p.MTP > 0, "num-mtp-tokens", p.MTP)
	c.add(f.Linear != "", "quantize-linear-action", f.Linear)
	c.add(f.NonExpert != "", "quantize-non-expert-linear-action", f.NonExpert)
	c.add(f.Attention != "", "quantize-attention-action", f.Attention)
	c.add(f.MXFP4Group != 0 && f.MXFP4Group != graph.DefaultMXFP4Group, "mxfp4-group-size", f.MXFP4Group)
	c.add(m.EmbeddingTP == graph.EmbeddingCols, "word-embedding-tp", "col")
	c.add(m.EmbeddingTP == graph.EmbeddingRows, "word-embedding-tp", "row")
	c.add(m.Policy != "", "policy", m.Policy)
	c.add(m.Pricing != "", "pricing", m.Pricing)
	c.word(m.SharedExpertTP, "--enable-shared-expert-tp")
	c.word(m.Fusion == deployment.Compiled, "--compile")
	c.word(m.Fusion == deployment.Eager, "--no-compile")
	c.word(m.SequenceParallel || m.MatMulAllReduce || m.DispatchCombine, "--compilation-config")
	c.word(m.SequenceParallel, sequenceParallel)
	c.word(m.MatMulAllReduce, matmulAllreduce)
	c.word(m.DispatchCombine, dispatchCombine)
	return strings.Join(c, " ")
}
