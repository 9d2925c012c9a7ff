package step_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// gpu completes the spec of a model as engines run it on a GPU, and finds its
// prices there.
func gpu(t rapid.TB, s graph.Spec, device string) (*graph.Graph, *calibrated.Model) {
	t.Helper()
	s.Layout, s.Policy, s.Compile = s.Layout.Complete(s.Model), graph.Physical(), true
	s.Quant = graph.Resolve(s.Model, s.Policy, graph.Actions{})
	g, err := graph.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return g, prices()[device]
}

// prices are those of the devices that steps are priced on here.
var prices = sync.OnceValue(func() map[string]*calibrated.Model {
	out := map[string]*calibrated.Model{}
	for _, name := range []string{"h200_sxm", "b200_sxm", "a100_sxm"} {
		out[name], _ = calibrated.New(profiles()[name])
	}
	return out
})

// shapes are the models of the catalog, one of each shape.
func shapes() []*model.Model {
	var out []*model.Model
	seen := map[string]bool{}
	families, byID := models()
	for _, ids := range families {
		for _, id := range ids {
			m := *byID[id]
			m.ID, m.Family = "", ""
			if key := fmt.Sprintf("%+v", m); !seen[key] {
				seen[key] = true
				out = append(out, byID[id])
			}
		}
	}
	return out
}

// layouts are the ways to cut a model over up to 16 devices that are legal for it.
func layouts(m *model.Model) []parallel.Layout {
	var out []parallel.Layout
	for _, l := range []parallel.Layout{
		{Devices: 1},
		{Devices: 8, TP: 8},
		{Devices: 8, TP: 8, EP: 8},
		{Devices: 8, DP: 8, EP: 8},
		{Devices: 8, TP: 4, DP: 2, EP: 8},
		{Devices: 8, TP: 4, DP: 2},
		{Devices: 16, TP: 8, PP: 2},
		{Devices: 4, TP: 4, DCP: 2},
	} {
		if l = l.Complete(m); l.Check(m) == nil {
			out = append(out, l)
		}
	}
	return out
}

func decode(n, query, context int) graph.Segment {
	return graph.Segment{Requests: n, Query: query, Seq: context + query, Decode: true}
}

func chunk(n, tokens, context int) graph.Segment {
	return graph.Segment{Requests: n, Query: tokens, Seq: context + tokens}
}

// steps are batches of one step: decodes, prompts, pieces of prompts and both
// together, up to the longest context of the model.
func steps(m *model.Model, query int) []graph.Batch {
	var out []graph.Batch
	add := func(s ...graph.Segment) { out = append(out, graph.Batch{Segments: s}) }
	long := max(m.MaxPosition, 4096)
	for _, context := range []int{1, 1000, min(32768, long), min(131072, long)} {
		for _, n := range []int{1, 33, 300} {
			add(decode(n, query, context))
		}
	}
	for _, tokens := range []int{3, 100, 2049, min(32768, long)} {
		for _, context := range []int{0, max(0, long-tokens)} {
			add(chunk(1, tokens, context))
		}
	}
	add(chunk(5, 300, 0))
	add(chunk(3, 2000, 700))
	add(decode(50, query, 3000), chunk(2, 1000, 0))
	add(decode(256, query, 700), chunk(1, 7000, 20000))
	add(decode(3, query, 100), chunk(1, 3, 500))
	return out
}

// sums are those of segments, each phase's together.
func sums(segments []graph.Segment) *graph.Sums {
	var out graph.Sums
	for _, s := range segments {
		span := &out.Prefill
		if s.Decode {
			span = &out.Decode
		}
		x := op.Equal(float64(s.Requests), float64(s.Query), float64(s.Seq))
		span.Requests += x.Requests
		span.Tokens += x.Tokens
		span.Pairs += x.Pairs
		span.Context += x.Context
	}
	return &out
}

func total(t step.Times) (sum units.Seconds) {
	for _, x := range t {
		sum += x
	}
	return sum
}

// apart is how far the curve is from the evaluator, as a share.
func apart(c *step.Curve, e *step.Evaluator, b graph.Batch) float64 {
	return float64(total(c.Times(sums(b.Segments)))/e.Totals(b).Time) - 1
}

// TestOnePrice: for equal requests curve and evaluator agree about every model of
// the catalog, to rounding up to 256 tokens and to 0.5 % beyond. Models take turns
// with layouts and devices.
func TestOnePrice(t *testing.T) {
	for i, m := range shapes() {
		device := []string{"h200_sxm", "b200_sxm"}[i%2]
		legal := layouts(m)
		for j := range min(3, len(legal)) {
			l := legal[(i+j*len(legal)/3)%len(legal)]
			for _, mtp := range []int{0, 2} {
				g, prices := gpu(t, graph.Spec{Model: m, Layout: l, MTP: mtp}, device)
				e, c := step.New(g, prices), step.NewCurve(g, prices)
				for _, b := range steps(m, 1+mtp) {
					most := 0.005
					if n := sums(b.Segments).Counts(); n[op.Tokens] <= 256 {
						most = rounding
					}
					if off := apart(c, e, b); !(math.Abs(off) <= most) {
						t.Errorf("%s on %s, %s, %d drafted, %+v: the curve is %+.2g %% off", m.ID, device, l.Label(true), mtp, b.Segments, 100*off)
					}
				}
			}
		}
	}
}

// TestAnyCount: curve and evaluator agree about any number of tokens, those where
// experts fill another tile included, to the height of one such stair: a line
// between two counts passes through the stairs between them.
func TestAnyCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyModel(t)
		l := rapid.SampledFrom(layouts(m)).Draw(t, "layout")
		g, prices := gpu(t, graph.Spec{
			Model: m, Layout: l, MatMulAllReduce: rapid.Bool().Draw(t, "overlap"),
		}, rapid.SampledFrom([]string{"h200_sxm", "b200_sxm", "a100_sxm"}).Draw(t, "device"))
		e, c := step.New(g, prices), step.NewCurve(g, prices)
		for range 5 {
			n := int(math.Exp2(rapid.Float64Range(0, 17).Draw(t, "octave")))
			for _, s := range []graph.Segment{chunk(1, n, 0), decode(n, 1, 10)} {
				if off := apart(c, e, graph.Batch{Segments: []graph.Segment{s}}); !(math.Abs(off) <= 0.01) {
					t.Errorf("%s, %s, %+v: the curve is %+.2g %% off", m.ID, l.Label(true), s, 100*off)
				}
			}
		}
	})
}

// TestUnequalRequests: attention that looks at less than everything is counted for
// requests of the mean length; steps of unequal ones are within 1 % on average.
func TestUnequalRequests(t *testing.T) {
	_, byID := models()
	for _, id := range []string{"openai/gpt-oss-120b", "google/gemma-3-27b-it", "deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V4-Flash", "MiniMaxAI/MiniMax-M3"} {
		g, prices := gpu(t, graph.Spec{Model: byID[id], Layout: parallel.Layout{Devices: 8, TP: 8}}, "h200_sxm")
		e, c := step.New(g, prices), step.NewCurve(g, prices)
		for _, mean := range []float64{1000, 4000, 16000} {
			for _, phase := range []string{"decode", "prefill"} {
				random := rand.New(rand.NewPCG(1, 2))
				sum := 0.0
				const tries = 100
				for range tries {
					var b graph.Batch
					for range 2 + random.IntN(5) {
						n := 6 + int(mean*random.ExpFloat64())
						s := decode(1, 1, n)
						if phase == "prefill" {
							s = chunk(1, n, 0)
						}
						b.Segments = append(b.Segments, s)
					}
					sum += math.Abs(apart(c, e, b))
				}
				if off := sum / tries; !(off <= 0.005) {
					t.Errorf("%s, %s around %g: %.2g %% off", id, phase, mean, 100*off)
				}
			}
		}
	}
}

// phases draws a step of at most one segment of each phase.
func phases(t *rapid.T) *point {
	p := anyPolicy(t)
	p.batch.Images = graph.Images{}
	if s := p.batch.Segments; len(s) == 2 && s[0].Decode == s[1].Decode {
		p.batch.Segments = s[:1]
	}
	return p
}

// following are the items that follow some measures.
func following(items []op.Item, low, high op.Measure) []op.Item {
	return slices.DeleteFunc(items, func(it op.Item) bool { return it.Follows < low || it.Follows > high })
}

// merged are the counts of equal items, in whichever run of layers, or outside them.
func merged(items []op.Item) map[op.Item]float64 {
	out := map[op.Item]float64{}
	for _, it := range items {
		n := it.Count
		it.Count, it.Layers, it.Run = 0, 0, min(1, it.Run)
		if it.Op.Kind == op.Attention || it.Op.Kind == op.Latent { // as much attention inside the layers as outside
			it.Run = 0
		}
		out[it] += n
	}
	return out
}

// TestVaryingOperators: from sums come the operators that a whole step marks as
// those no single count decides, under every policy.
func TestVaryingOperators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := phases(t)
		g := p.evaluator(t).Graph()
		want := merged(following(g.Append(nil, p.batch), op.Several, op.Context))
		if got := merged(g.AppendVarying(nil, sums(p.batch.Segments))); !maps.Equal(want, got) {
			t.Errorf("want %+v,\ngot %+v", want, got)
		}
	})
}

// TestMeasures: operators that follow one count of a batch are the same in another
// batch that agrees in it.
func TestMeasures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := phases(t)
		g := p.evaluator(t).Graph()
		for by, n := range sums(p.batch.Segments).Counts() {
			m := op.Measure(by)
			want := following(g.Append(nil, p.batch), m, m)
			other := graph.Batch{Segments: []graph.Segment{decode(int(n), 1, 0)}}
			if got := following(g.Append(nil, other), m, m); !slices.Equal(want, got) {
				t.Errorf("%d: want %+v,\ngot %+v", m, want, got)
			}
		}
	})
}

// TestTimesAllocatesNothing where counts have been seen, and says the same from
// many goroutines at once as from one.
func TestTimesAllocatesNothing(t *testing.T) {
	_, byID := models()
	for _, id := range []string{"Qwen/Qwen3-32B", "deepseek-ai/DeepSeek-V3.2", "Qwen/Qwen3.5-397B-A17B"} {
		g, prices := gpu(t, graph.Spec{Model: byID[id], Layout: parallel.Layout{Devices: 8, TP: 8}, MTP: 1}, "h200_sxm")
		c := step.NewCurve(g, prices)
		s := sums([]graph.Segment{decode(37, 2, 3000), chunk(2, 700, 300)})
		want := c.Times(s)
		if n := testing.AllocsPerRun(100, func() { c.Times(s) }); n != 0 {
			t.Errorf("%s: %g allocations", id, n)
		}
		tally := c.Tally()
		if n := testing.AllocsPerRun(100, func() { tally.Add(s, 1) }); n != 0 {
			t.Errorf("%s: %g allocations to count the work", id, n)
		}
		fresh := step.NewCurve(g, prices)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for n := 1; n < 3000; n += 7 {
					fresh.Times(sums([]graph.Segment{decode(n, 2, 100)}))
				}
				if got := fresh.Times(s); got != want {
					t.Errorf("%s: want %v, got %v", id, want, got)
				}
			})
		}
		group.Wait()
	}
}
