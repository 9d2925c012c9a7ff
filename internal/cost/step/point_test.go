package step_test

import (
	"slices"
	"sync"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/roofline"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// point is one step to evaluate: a deployment, its batch and its device.
type point struct {
	spec   graph.Spec
	batch  graph.Batch
	device *device.Profile
}

// evaluator prepares the point; a point that cannot be prepared fails the test.
func (p *point) evaluator(t rapid.TB) *step.Evaluator {
	t.Helper()
	g, err := graph.New(p.spec)
	if err != nil {
		t.Fatalf("%s %+v: %v", p.spec.Model.ID, p.spec.Layout, err)
	}
	return step.New(g, roofline.New(p.device, roofline.Settings{FreeUnsupported: p.spec.Policy.FreeUnsupported}))
}

// copy returns a point that can be changed without changing p.
func (p *point) copy() *point {
	q := *p
	m, d := *p.spec.Model, *p.device
	m.Layers, d.Links = slices.Clone(m.Layers), slices.Clone(d.Links)
	q.spec.Model, q.device = &m, &d
	q.batch.Segments = slices.Clone(p.batch.Segments)
	return &q
}

// models are the catalog's ids by family, and the models by id.
var models = sync.OnceValues(func() (families [][]string, byID map[string]*model.Model) {
	at := map[string]int{}
	byID = map[string]*model.Model{}
	for _, e := range model.IDs() {
		m, err := model.Lookup(e.ID)
		if err != nil {
			panic(err) // the tests of package model report it better
		}
		if _, ok := at[m.Family]; !ok {
			at[m.Family] = len(families)
			families = append(families, nil)
		}
		families[at[m.Family]] = append(families[at[m.Family]], e.ID)
		byID[e.ID] = m
	}
	return families, byID
})

// profiles are the devices of the catalog.
var profiles = sync.OnceValue(func() map[string]*device.Profile {
	all := map[string]*device.Profile{}
	for _, name := range device.Names() {
		p, err := device.Lookup(name)
		if err != nil {
			panic(err)
		}
		all[name] = p
	}
	return all
})

// anyModel draws a family first, so that large ones do not crowd out the others.
func anyModel(t *rapid.T) *model.Model {
	families, byID := models()
	family := rapid.IntRange(0, len(families)-1).Draw(t, "family")
	return byID[rapid.SampledFrom(families[family]).Draw(t, "model")]
}

// divisors of n, in order.
func divisors(n int) []int {
	var all []int
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
		}
	}
	return all
}

// anyLayout draws a layout that is legal for the model.
func anyLayout(t *rapid.T, m *model.Model) parallel.Layout {
	var sizes []int
	for _, tp := range []int{1, 2, 3, 4, 5, 8, 16} {
		l := parallel.Layout{Devices: tp, TP: tp}.Complete(m)
		if l.Check(m) == nil {
			sizes = append(sizes, tp)
		}
	}
	l := parallel.Layout{
		TP: rapid.SampledFrom(sizes).Draw(t, "TP"),
		DP: rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "DP"),
		PP: rapid.IntRange(1, 3).Draw(t, "PP"),
	}
	l.DCP = rapid.SampledFrom(divisors(l.TP)).Draw(t, "DCP")
	l.Devices = l.TP * l.DP * l.PP
	if m.HasExperts() {
		l.EP = rapid.SampledFrom(divisors(l.TP*l.DP)).Draw(t, "EP")
		l.MoEDP = rapid.SampledFrom(divisors(l.TP*l.DP/l.EP)).Draw(t, "MoE-DP")
	}
	l = l.Complete(m)
	if err := l.Check(m); err != nil {
		t.Skip(err) // more ranks than experts
	}
	return l
}

// anyBatch draws a prefill, a decode or both together.
func anyBatch(t *rapid.T, m *model.Model, mtp int) graph.Batch {
	var b graph.Batch
	for i := range rapid.IntRange(1, 2).Draw(t, "segments") {
		s := graph.Segment{Requests: rapid.IntRange(1, 200).Draw(t, "requests"), Query: 1 + mtp, Decode: true}
		if i == 1 || rapid.Bool().Draw(t, "prefill") {
			s.Query, s.Decode = rapid.IntRange(1, 5000).Draw(t, "query"), false
		}
		s.Seq = s.Query + rapid.IntRange(0, 200_000).Draw(t, "context")
		b.Segments = append(b.Segments, s)
	}
	if m.Vision != nil && rapid.Bool().Draw(t, "images") {
		side := rapid.IntRange(1, 2000).Draw(t, "pixels")
		b.Images = graph.Images{Count: 1, Patches: m.Vision.Patches(side, 640), Tokens: m.Vision.Tokens(side, 640)}
	}
	return b
}

// anyDrafter draws what drafts tokens, heads of other models among them.
func anyDrafter(t *rapid.T) graph.Drafter {
	switch by := rapid.SampledFrom(draft.Methods()).Draw(t, "drafter"); by {
	case draft.EAGLE3:
		heads := draft.Known().Heads
		return graph.Drafter{Method: by, Head: heads[rapid.IntRange(0, len(heads)-1).Draw(t, "head")].Model()}
	case draft.NGram:
		return graph.Drafter{Method: by}
	default:
		return graph.Drafter{}
	}
}

// anyPoint draws a step under a policy, on any device for which usable holds.
func anyPoint(t *rapid.T, policy graph.Policy, usable func(*device.Profile) bool) *point {
	m := anyModel(t)
	layout := anyLayout(t, m)
	actions := graph.Actions{
		Linear:    rapid.SampledFrom(dtype.LinearActions()).Draw(t, "linear"),
		NonExpert: rapid.SampledFrom(dtype.LinearActions()).Draw(t, "non-expert"),
		Attention: rapid.SampledFrom(dtype.AttentionActions()).Draw(t, "attention"),
	}
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	p := &point{spec: graph.Spec{
		Model: m, Layout: layout, Policy: policy, Quant: graph.Resolve(m, policy, actions),
		Compile: flag("compile"), MTP: rapid.IntRange(0, 3).Draw(t, "MTP"), Drafter: anyDrafter(t),
		EmbeddingTP:    graph.EmbeddingTP(rapid.IntRange(0, 2).Draw(t, "embedding TP")),
		SharedExpertTP: layout.EP > 1 && flag("shared-expert TP"),
		Draft:          graph.Draft{Layers: rapid.IntRange(0, 2).Draw(t, "draft layers"), Block: rapid.IntRange(0, 5).Draw(t, "draft block")},
		Vision:         true, SequenceParallel: flag("sequence parallel"),
		MatMulAllReduce: flag("matmul all-reduce"), DispatchCombine: flag("dispatch combine"),
	}}
	drafting := p.spec
	drafting.MTP = max(1, p.spec.MTP) // whose head must fit the layout too
	if _, err := graph.New(drafting); err != nil {
		t.Skip(err)
	}
	p.batch = anyBatch(t, m, p.spec.MTP)
	var fit []string
	for _, name := range device.Names() {
		if d := profiles()[name]; d.Ranks() >= layout.Devices && usable(d) {
			fit = append(fit, name)
		}
	}
	p.device = profiles()[rapid.SampledFrom(fit).Draw(t, "device")]
	t.Logf("layout %+v, batch %+v", layout, p.batch)
	return p
}

// physical draws a step whose numbers must obey the laws of nature.
func physical(t *rapid.T) *point {
	return anyPoint(t, graph.Physical(), func(d *device.Profile) bool { return d.Vendor != device.Test })
}

// time of the point.
func (p *point) time(t rapid.TB) units.Seconds {
	t.Helper()
	return p.evaluator(t).Totals(p.batch).Time
}
