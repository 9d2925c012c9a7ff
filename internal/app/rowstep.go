package app

import (
	"fmt"
	"strings"

	"plimsoll/internal/device"
	"plimsoll/internal/graph"
	"plimsoll/internal/search"
	"plimsoll/internal/step"
)

// rowStep is the step behind a row as one data-parallel rank computes it: in a
// pipeline one micro-batch, of unequal prompts those of mean length, of prompts
// cut into chunks the first chunk.
func rowStep(p *Pass, row *search.Result, decode bool) graph.Batch {
	l, best := &row.Load, &row.Best
	share := func(requests int) int {
		ranks := row.Spec.Layout.DP * row.Spec.Layout.PP
		return max(1, (requests+ranks-1)/ranks)
	}
	if decode {
		return graph.Batch{Segments: []graph.Segment{{
			Requests: share(best.Concurrency), Query: l.DecodeQuery, Seq: l.DecodeSeq(), Decode: true,
		}}}
	}
	n := share(best.PrefillBatch)
	query := min(l.Budget, l.EffectiveInput())
	var b graph.Batch
	if im := p.Problem.Images; im.Count > 0 {
		b.Images = graph.Images{Count: n * im.Count, Patches: im.Patches, Tokens: im.Tokens}
		query += im.Count * (im.Tokens + imageMarks)
	}
	b.Segments = []graph.Segment{{Requests: n, Query: query, Seq: query}}
	return b
}

// NamedTrace is a step to be written as a trace.
type NamedTrace struct {
	Name   string
	Result *step.Result
}

// Traces evaluates the steps behind every row in detail, named by what tells
// them apart: the layout, and the device and phase where there are several.
func (o *OptimizeResponse) Traces() []NamedTrace {
	var out []NamedTrace
	for i := range o.Devices {
		d := &o.Devices[i]
		for k := range d.Passes {
			p := &d.Passes[k]
			for _, row := range p.Rows {
				g, err := graph.New(row.Spec)
				if err != nil {
					continue // the row was evaluated with this spec
				}
				name := o.traceName(row)
				if len(d.Passes) > 1 {
					name = Phase(p.Mode) + "_" + name
				}
				if len(o.Devices) > 1 {
					name = strings.ReplaceAll(d.Device.Name, "/", "-") + "_" + name
				}
				e := step.New(g, p.Problem.Coster)
				out = append(out, NamedTrace{name, e.Evaluate(rowStep(p, row, p.Mode != search.PrefillOnly), false)})
			}
		}
	}
	return out
}

// traceName is a layout in the vendor's form, which knows TP, DP and speculated
// tokens, and what else tells rows apart. PP and MoE-TP follow from the others.
func (o *OptimizeResponse) traceName(row *search.Result) string {
	l := &row.Spec.Layout
	name := fmt.Sprintf("tp%ddp%d", l.TP, l.DP)
	if o.Model.HasExperts() {
		name += fmt.Sprintf("ep%dmoedp%d", l.EP, l.MoEDP)
	}
	if l.DCP > 1 {
		name += fmt.Sprintf("dcp%d", l.DCP)
	}
	name += fmt.Sprintf("mtp%d", row.Spec.MTP)
	if d := o.Request.Draft; d.Method != "" {
		name += fmt.Sprintf("%s%d", d.Method, d.Block)
	}
	return name
}

// command is a command line under construction.
type command []string

func (c *command) add(flag string, value any) { *c = append(*c, fmt.Sprintf("--%s %v", flag, value)) }

// stepCommand is the command that evaluates a step alone, "" where there is
// none: "plimsoll step" knows no draft model and one image per request.
func (o *OptimizeResponse) stepCommand(d *device.Profile, row *search.Result, b graph.Batch) string {
	r, s := o.Request, &b.Segments[0]
	if r.Draft.Method != "" || b.Images.Count > s.Requests {
		return ""
	}
	c := command{"plimsoll step", o.Model.ID}
	if r.DeviceFile != "" && d == o.Devices[0].Device {
		c.add("device-file", r.DeviceFile)
	} else {
		c.add("device", d.Name)
	}
	if p := &r.PerfData; p.Dir != "" {
		c.add("perf-data", p.Dir)
		if p.Engine != "" {
			c.add("perf-engine", p.Engine)
		}
	}
	o.addLayout(&c, row)
	c.add("num-queries", s.Requests*row.Spec.Layout.DP)
	query := s.Query
	if b.Images.Count > 0 {
		query -= b.Images.Tokens + imageMarks
	}
	c.add("query-length", query)
	if cached := s.Seq - s.Query; cached > 0 {
		c.add("context-length", cached)
	}
	if b.Images.Count > 0 {
		c.add("image-height", r.ImageHeight)
		c.add("image-width", r.ImageWidth)
	}
	if s.Decode {
		c = append(c, "--decode")
	}
	if row.Spec.MTP > 0 {
		c.add("num-mtp-tokens", row.Spec.MTP)
	}
	o.addModelling(&c, d, row.Spec.Compile)
	return strings.Join(c, " ")
}

func (o *OptimizeResponse) addLayout(c *command, row *search.Result) {
	l := &row.Spec.Layout
	c.add("num-devices", l.Devices)
	c.add("tp-size", l.TP)
	if l.PP > 1 {
		c.add("pp-size", l.PP)
	}
	if o.Model.HasExperts() {
		c.add("ep-size", l.EP)
		c.add("moe-tp-size", l.MoETP)
		c.add("moe-dp-size", l.MoEDP)
	}
	if l.DCP > 1 {
		c.add("dcp-size", l.DCP)
	}
}

// addModelling adds what was asked of number formats and fusion.
func (o *OptimizeResponse) addModelling(c *command, d *device.Profile, compiled bool) {
	r := o.Request
	for _, f := range []struct {
		given bool
		flag  string
		value any
	}{
		{r.LinearAction != "", "quantize-linear-action", r.LinearAction},
		{r.NonExpertAction != "", "quantize-non-expert-linear-action", r.NonExpertAction},
		{r.AttentionAction != "", "quantize-attention-action", r.AttentionAction},
		{r.MXFP4Group != graph.DefaultMXFP4Group, "mxfp4-group-size", r.MXFP4Group},
		{r.EmbeddingTP == graph.EmbeddingCols, "word-embedding-tp", "col"},
		{r.EmbeddingTP == graph.EmbeddingRows, "word-embedding-tp", "row"},
		{r.Policy != "", "policy", r.Policy},
		{r.Pricing != "", "pricing", r.Pricing},
	} {
		if f.given {
			c.add(f.flag, f.value)
		}
	}
	how, _ := r.on(d) // the row was evaluated so
	fuses := how.fuses()
	for _, f := range []struct {
		given bool
		word  string
	}{
		{r.SharedExpertTP, "--enable-shared-expert-tp"},
		{compiled && !fuses, "--compile"},
		{!compiled && fuses, "--no-compile"},
		{r.SequenceParallel || r.MatMulAllReduce || r.DispatchCombine, "--compilation-config"},
		{r.SequenceParallel, "enable_sequence_parallel"},
		{r.MatMulAllReduce, "enable_matmul_allreduce"},
		{r.DispatchCombine, "enable_dispatch_ffn_combine"},
	} {
		if f.given {
			*c = append(*c, f.word)
		}
	}
}
