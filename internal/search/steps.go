package search

import (
	"plimsoll/internal/cost"
	"plimsoll/internal/graph"
	"plimsoll/internal/memory"
	"plimsoll/internal/parallel"
	"plimsoll/internal/serving"
	"plimsoll/internal/step"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Steps evaluates the steps of one layout on one device. It remembers
// prefill steps, which repeat over batch sizes, and is not safe for concurrent
// use.
type Steps struct {
	spec     graph.Spec
	eval     *step.Evaluator
	memory   *memory.Model
	device   units.Bytes
	reserved units.Bytes
	images   graph.Images // of one request
	segments []graph.Segment
	prefills map[[3]int]serving.Step
}

var _ serving.Engine = (*Steps)(nil)

// NewSteps prepares a layout; the error says why it is illegal.
func NewSteps(spec graph.Spec, c cost.Coster, device, reserved units.Bytes, images graph.Images) (*Steps, error) {
	g, err := graph.New(spec)
	if err != nil {
		return nil, err
	}
	return &Steps{
		spec: spec, eval: step.New(g, c), memory: memory.New(&spec),
		device: device, reserved: reserved, images: images,
		prefills: map[[3]int]serving.Step{},
	}, nil
}

// Spec returns what is deployed.
func (d *Steps) Spec() *graph.Spec { return &d.spec }

// imageMarks are the two tokens around the tokens of an image.
const imageMarks = 2

// Prefill evaluates a step that computes prompts, their images included.
func (d *Steps) Prefill(requests, query, seq int) serving.Step {
	key := [3]int{requests, query, seq}
	if s, ok := d.prefills[key]; ok {
		return s
	}
	extra := 0
	if d.images.Count > 0 {
		extra = d.images.Count * (d.images.Tokens + imageMarks)
	}
	perRank := d.spec.Layout.PerRank(requests)
	s := d.step(perRank, graph.Segment{Query: query + extra, Seq: seq + extra}, true)
	d.prefills[key] = s
	return s
}

// Decode evaluates a step that produces tokens.
func (d *Steps) Decode(requests, query, seq int) serving.Step {
	return d.step(d.spec.Layout.PerRank(requests), graph.Segment{Query: query, Seq: seq, Decode: true}, false)
}

// step evaluates requests equal requests on a rank. In a pipeline they travel
// as one micro-batch per stage: a token takes as long as a micro-batch needs
// through all stages, and a prefill also waits for the pipeline to fill.
func (d *Steps) step(requests int, s graph.Segment, fill bool) serving.Step {
	stages := d.spec.Layout.PP
	micro := parallel.Fullest(requests, stages)
	s.Requests = micro
	b := graph.Batch{Segments: append(d.segments[:0], s)}
	d.segments = b.Segments
	if d.images.Count > 0 && !s.Decode {
		b.Images = d.images
		b.Images.Count *= micro
	}
	t := d.eval.Totals(b)
	if batches := parallel.Fullest(requests, micro); fill && batches > 1 {
		t.Time += t.Time * units.Seconds(float64(batches-1)/float64(stages))
	}
	b.Segments[0].Requests = requests
	return serving.Step{Time: t.Time, Use: d.memory.Use(b, d.device, d.reserved), Bound: t.Bound}
}

// Packed evaluates a step of unequal pieces of prompts on one rank.
func (d *Steps) Packed(pieces []workload.Piece) serving.Step {
	d.segments = d.segments[:0]
	for _, p := range pieces {
		d.segments = append(d.segments, graph.Segment{Requests: p.Requests, Query: p.Query, Seq: p.Seq})
	}
	b := graph.Batch{Segments: d.segments}
	t := d.eval.Totals(b)
	return serving.Step{Time: t.Time, Use: d.memory.Use(b, d.device, d.reserved), Bound: t.Bound}
}
