package ascend

import (
	"encoding/binary"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
)

// Steps evaluates the steps of one layout on one device. It remembers steps of
// equal requests, which repeat over batch sizes, and is not safe for concurrent
// use.
type Steps struct {
	spec     graph.Spec
	eval     *step.Evaluator
	memory   *memory.Model
	device   units.Bytes
	reserved units.Bytes
	images   graph.Images // of one request
	segments []graph.Segment
	known    map[shape]formulas.Step
	packed   map[string]formulas.Step // by their pieces
	key      []byte
}

// shape is a step of equal requests.
type shape struct {
	requests, query, seq int // requests of one rank
	decode               bool
}

var _ formulas.Engine = (*Steps)(nil)

// NewSteps prepares a layout; the error says why it is illegal.
func NewSteps(spec graph.Spec, c cost.Coster, device, reserved units.Bytes, images graph.Images) (*Steps, error) {
	g, err := graph.New(spec)
	if err != nil {
		return nil, err
	}
	return &Steps{
		spec: spec, eval: step.New(g, c), memory: memory.New(&spec),
		device: device, reserved: reserved, images: images,
		known: map[shape]formulas.Step{}, packed: map[string]formulas.Step{},
	}, nil
}

// Spec returns what is deployed.
func (d *Steps) Spec() *graph.Spec { return &d.spec }

// imageMarks are the two tokens around the tokens of an image.
const imageMarks = 2

// Prefill evaluates a step that computes prompts, their images included.
func (d *Steps) Prefill(requests, query, seq int) formulas.Step {
	extra := 0
	if d.images.Count > 0 {
		extra = d.images.Count * (d.images.Tokens + imageMarks)
	}
	return d.step(shape{d.spec.Layout.PerRank(requests), query + extra, seq + extra, false})
}

// Decode evaluates a step that produces tokens.
func (d *Steps) Decode(requests, query, seq int) formulas.Step {
	return d.step(shape{d.spec.Layout.PerRank(requests), query, seq, true})
}

// step evaluates equal requests on a rank.
func (d *Steps) step(x shape) formulas.Step {
	s, ok := d.known[x]
	if !ok {
		s = d.evaluate(x)
		d.known[x] = s
	}
	return s
}

// evaluate evaluates equal requests on a rank. In a pipeline they travel as one
// micro-batch per stage: a token takes as long as a micro-batch needs through all
// stages, and a prefill also waits for the pipeline to fill.
func (d *Steps) evaluate(x shape) formulas.Step {
	stages := d.spec.Layout.PP
	micro := parallel.MaxPerRank(x.requests, stages)
	b := graph.Batch{Segments: append(d.segments[:0], graph.Segment{Requests: micro, Query: x.query, Seq: x.seq, Decode: x.decode})}
	d.segments = b.Segments
	if d.images.Count > 0 && !x.decode {
		b.Images = d.images
		b.Images.Count *= micro
	}
	t := d.eval.Totals(b)
	if batches := parallel.MaxPerRank(x.requests, micro); !x.decode && batches > 1 {
		t.Time += t.Time * units.Seconds(float64(batches-1)/float64(stages))
	}
	b.Segments[0].Requests = x.requests
	return formulas.Step{Time: t.Time, Use: d.memory.Use(b, d.device, d.reserved), Bound: t.Bound}
}

// Cached is the KV cache of equal requests.
func (d *Steps) Cached(requests, seq int) units.Bytes {
	d.segments = append(d.segments[:0], graph.Segment{Requests: d.spec.Layout.PerRank(requests), Seq: seq})
	return d.memory.KV(graph.Batch{Segments: d.segments})
}

// Packed evaluates a step of unequal pieces of prompts on one rank.
func (d *Steps) Packed(pieces []workload.Piece) formulas.Step {
	d.segments, d.key = d.segments[:0], d.key[:0]
	for _, p := range pieces {
		d.segments = append(d.segments, graph.Segment{Requests: p.Requests, Query: p.Query, Seq: p.Seq})
		for _, n := range [...]int{p.Requests, p.Query, p.Seq} {
			d.key = binary.AppendUvarint(d.key, uint64(n))
		}
	}
	if s, ok := d.packed[string(d.key)]; ok {
		return s
	}
	b := graph.Batch{Segments: d.segments}
	t := d.eval.Totals(b)
	s := formulas.Step{Time: t.Time, Use: d.memory.Use(b, d.device, d.reserved), Bound: t.Bound}
	d.packed[string(d.key)] = s
	return s
}
