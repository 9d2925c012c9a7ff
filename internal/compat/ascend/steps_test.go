package ascend_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// TestDeploymentRanks: requests are dealt over ranks, and the fullest counts.
func TestDeploymentRanks(t *testing.T) {
	p := stated(t, "Qwen/Qwen3-8B", "TEST_DEVICE", graph.Actions{})
	deploy := func(l parallel.Layout) *ascend.Steps {
		spec := p.Spec
		spec.Layout = l.Complete(spec.Model)
		d, err := ascend.NewSteps(spec, p.Coster, p.Memory, p.Reserved, p.Images)
		if err != nil {
			t.Fatal(err)
		}
		if d.Spec().Layout != spec.Layout {
			t.Errorf("deployed %+v", d.Spec().Layout)
		}
		return d
	}
	one, four := deploy(parallel.Layout{Devices: 1}), deploy(parallel.Layout{Devices: 4})
	for _, n := range []int{1, 4, 5, 8} {
		rank := (n + 3) / 4
		if d := cmp.Diff(one.Decode(rank, 1, 500), four.Decode(n, 1, 500)); d != "" {
			t.Errorf("decode of %d (-one rank +four):\n%s", n, d)
		}
		if d := cmp.Diff(one.Prefill(rank, 300, 500), four.Prefill(n, 300, 500)); d != "" {
			t.Errorf("prefill of %d (-one rank +four):\n%s", n, d)
		}
	}
	if d := cmp.Diff(one.Prefill(3, 300, 300), one.Packed([]workload.Piece{{Requests: 3, Query: 300, Seq: 300, Last: true}})); d != "" {
		t.Errorf("equal pieces (-prefill +packed):\n%s", d)
	}
	first := four.Prefill(8, 300, 300)
	if d := cmp.Diff(first, four.Prefill(8, 300, 300)); d != "" {
		t.Errorf("the same again (-first +second):\n%s", d)
	}
}

// TestDeploymentStages: a token of a pipeline takes a micro-batch through all
// stages; prompts also wait for the pipeline to fill; memory holds all requests.
func TestDeploymentStages(t *testing.T) {
	p := stated(t, "Qwen/Qwen3-8B", "TEST_DEVICE", graph.Actions{})
	spec := p.Spec
	spec.Layout = parallel.Layout{Devices: 2, PP: 2}.Complete(spec.Model)
	d, err := ascend.NewSteps(spec, p.Coster, p.Memory, p.Reserved, p.Images)
	if err != nil {
		t.Fatal(err)
	}
	const seq = 511 // and the token to come: whole blocks of the cache
	one, two := d.Decode(1, 1, seq), d.Decode(2, 1, seq)
	if two.Time != one.Time || two.Use.KV != 2*one.Use.KV {
		t.Errorf("decode of one: %v, %v; of two: %v, %v", one.Time, one.Use.KV, two.Time, two.Use.KV)
	}
	one, two = d.Prefill(1, seq, seq), d.Prefill(2, seq, seq)
	near(t, "prefill of two", 1.5*float64(one.Time), float64(two.Time), 1e-12)
}

// TestDeploymentImages: pictures add their tokens and two marks each to a
// prompt, and the tower to its step; decode sees none of them.
func TestDeploymentImages(t *testing.T) {
	p := stated(t, "Qwen/Qwen3-VL-8B-Instruct", "TEST_DEVICE", graph.Actions{})
	spec := p.Spec
	spec.Vision = true
	spec.Layout = parallel.Layout{}.Complete(spec.Model)
	deploy := func(images graph.Images) *ascend.Steps {
		d, err := ascend.NewSteps(spec, p.Coster, p.Memory, p.Reserved, images)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	v := spec.Model.Vision
	images := graph.Images{Count: 2, Patches: v.Patches(512, 512), Tokens: v.Tokens(512, 512)}
	with, without := deploy(images), deploy(graph.Images{})
	g, err := graph.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	prompt := 100 + 2*(images.Tokens+2)
	want := step.New(g, p.Coster).Totals(graph.Batch{
		Segments: []graph.Segment{{Requests: 3, Query: prompt, Seq: prompt}},
		Images:   graph.Images{Count: 3 * 2, Patches: images.Patches, Tokens: images.Tokens},
	})
	if got := with.Prefill(3, 100, 100); got.Time != want.Time || got.Use.KV != without.Prefill(3, prompt, prompt).Use.KV {
		t.Errorf("want %v, got %v with %v of KV", want.Time, got.Time, got.Use.KV)
	}
	if d := cmp.Diff(without.Decode(3, 1, 500), with.Decode(3, 1, 500)); d != "" {
		t.Errorf("decode (-without +with):\n%s", d)
	}
}
