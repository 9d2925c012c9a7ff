package replica

import (
	"cmp"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// Multipliers multiplies the prices of a step's parts and the host's times; a
// calibration fits it. Ones leave everything as it is.
type Multipliers struct {
	Decode, Prefill                                     [step.Parts]float64
	PerStep, PerSequence, PerPrefillStep                float64
	PerLayer, LaunchFloor, APIFixed, APIPerToken, First float64
}

// Ones leave prices and host times as they are.
func Ones() Multipliers {
	t := Multipliers{
		PerStep: 1, PerSequence: 1, PerPrefillStep: 1, PerLayer: 1, LaunchFloor: 1, APIFixed: 1, APIPerToken: 1, First: 1,
	}
	for p := range t.Decode {
		t.Decode[p], t.Prefill[p] = 1, 1
	}
	return t
}

// Pace is how long an engine takes for a step whose kernels are known: they, the
// gaps between them, launches where no captured graph is replayed, and what of the
// host's work the device waits for.
type Pace struct {
	host        engine.Host
	graph       engine.Graph
	multipliers Multipliers
	layers      int
	drafts      int // layers that draft tokens, one behind the other
	stages      int
	// ahead says that launches pass behind the step before. Workers of several devices also run ahead, but steps of theirs
	// were not seen, and the launch times fitted to them count as exposed.
	ahead bool
	// Latent attention takes so many times as long in decodes and prompts as its price, dense products and those of
	// experts whatever the step.
	decode, prompt    units.Seconds
	products, experts units.Seconds
	routed            float64 // how many times as long experts compute in steps with prompts
	chosen            float64 // share of the experts that a token chooses

	tiles    engine.Tiles  // of dense products
	throttle units.Seconds // how much longer these take on a device at the limit of its power
	query    int           // rows of a request in decode
	ranks    int           // that share the rows of a step
}

// NewPace prepares the pace of an engine with a model on a device.
func NewPace(s *graph.Spec, d *device.Profile, e *engine.Profile) Pace {
	p := Pace{
		host: e.HostFor(d.Generation, engine.Classify(s.Model)), graph: e.Graph,
		multipliers: Ones(), layers: len(s.Model.Layers), drafts: layersOf(s), stages: max(1, s.Layout.PP), decode: 1, prompt: 1,
		tiles: e.TilesOf(d.Generation, s.Quant.Attention), query: 1 + s.MTP, ranks: inStep(s), throttle: units.Seconds(d.Throttle),
	}
	if s.Widens(s.Quant.Experts) {
		p.host.PerLayerFloor = cmp.Or(p.host.Widened, p.host.PerLayerFloor)
	}
	if heads := latentHeads(s); heads > 0 {
		decode, prefill := e.LatentKernels(d.Generation, heads)
		p.decode, p.prompt = units.Seconds(decode), units.Seconds(prefill)
	}
	products, experts, prompts := e.Slower(d.Generation, s.Model.Hidden, s.Quant.Attention, s.Quant.Experts)
	p.products, p.experts, p.routed, p.chosen = units.Seconds(products), units.Seconds(experts), prompts/experts, chosen(s)
	if s.Layout.TP*s.Layout.PP <= 1 && inStep(s) == 1 {
		p.host.Exposed *= e.Alone
		p.host.First = cmp.Or(p.host.FirstAlone, p.host.First)
		p.ahead = e.LaunchAhead
	} else {
		p.host.APIPerOutput = 0 // First was fitted to engines with several devices and has it
	}
	if s.MTP > 0 && (!e.MTP.Overlapped || s.Drafter.Method == draft.NGram) {
		p.host.Exposed, p.host.Overlapped = 1, false
		n := units.Seconds(prepared(s))
		p.host.PerStep, p.host.PerSequence = n*p.host.PerStep, n*p.host.PerSequence
	}
	return p
}

// layersOf are the layers that draft, one behind the other.
func layersOf(s *graph.Spec) int {
	if s.Drafter.Method == draft.NGram {
		return 0
	}
	return s.MTP
}

// prepared are the passes of a step that the host prepares one after the other, with the results of the one before, where it
// does not run ahead: the model's, the first draft's and, in one graph, those of all further drafts (SGLang,
// speculative/eagle_worker.py: draft, verify, forward_draft_extend_after_decode). Looking drafts up is part of the first.
func prepared(s *graph.Spec) int {
	if s.Drafter.Method == draft.NGram {
		return 1
	}
	return 1 + min(s.MTP, 2)
}

// chosen is the share of its experts that a token chooses.
func chosen(s *graph.Spec) float64 {
	for i := range s.Model.Kinds {
		if f := &s.Model.Kinds[i].FFN; f.Kind == model.MoE {
			return float64(f.TopK) / float64(f.Experts)
		}
	}
	return 0
}

// latentHeads are the heads of latent attention on a rank, 0 without any. Sparse
// attention has kernels of its own.
func latentHeads(s *graph.Spec) int {
	for i := range s.Model.Kinds {
		if a := &s.Model.Kinds[i].Attention; a.Kind == model.MLA && a.Indexer.TopK == 0 {
			return a.Heads / max(1, s.Layout.TP)
		}
	}
	return 0
}

// Scaled is the pace with the prices of kernels and host times multiplied.
func (p Pace) Scaled(t Multipliers) Pace {
	p.multipliers = t
	h := &p.host
	scale := func(x *units.Seconds, f float64) { *x *= units.Seconds(f) }
	scale(&h.PerStep, t.PerStep)
	scale(&h.PerSequence, t.PerSequence)
	scale(&h.PerPrefillStep, t.PerPrefillStep)
	scale(&h.PerLayer, t.PerLayer)
	scale(&h.PerLayerFloor, t.LaunchFloor)
	scale(&h.Pieces, t.LaunchFloor)
	scale(&h.APIFixed, t.APIFixed)
	scale(&h.APIPerToken, t.APIPerToken)
	scale(&h.First, t.First)
	return p
}

// Step is the time of a step with so many requests in decode, prompts and tokens of
// these, whose kernels take t, and how much of it is the kernels', as scaled.
func (p *Pace) Step(t *step.Times, decode, prompts, tokens int) (total, kernels units.Seconds) {
	w := p.alone(t, decode, tokens)
	return p.host.Step(w.layers+w.head+w.attention, decode+prompts, tokens > 0), w.kernels
}

// Through is the time of such a step through all stages of a pipeline, and how long the slowest
// takes: one with a layer more than the last, or the last with the head. Passing a batch on to
// the next stage takes send. Stages share the layers evenly but for whole ones, of which the
// last has the fewest (vLLM, distributed/utils.py, get_pp_indices; TensorRT-LLM, mapping.py,
// pp_layers); layers count as equal. The host of each stage has all of its work for each batch.
func (p *Pace) Through(t *step.Times, send units.Seconds, decode, prompts, tokens int) (took, stage units.Seconds) {
	w := p.alone(t, decode, tokens)
	share := func(layers int) units.Seconds {
		return (w.layers + w.attention) * units.Seconds(layers) / units.Seconds(p.layers)
	}
	send *= units.Seconds(p.phase(tokens)[step.Head])
	head := max(0, w.head-send*units.Seconds(p.stages-1))
	stage = max(share((p.layers+p.stages-1)/p.stages)+send, share(p.layers/p.stages)+head)
	sequences, prefill := decode+prompts, tokens > 0
	return p.host.Step(w.layers+w.head+w.attention, sequences, prefill), p.host.Step(stage, sequences, prefill)
}

// alone is the work of a step on a device that had nothing to do: kernels wait for their launches.
func (p *Pace) alone(t *step.Times, decode, tokens int) work {
	w := p.work(t, decode, tokens)
	w.layers = p.launched(w.layers, p.launches(decode, tokens))
	return w
}

// launched is the time of the layers' kernels on a device that had nothing to do. On one device the longer of the two
// queues was seen: prompts of 48 to 4,096 tokens of Qwen3-8B took what their launches or their kernels take, and 3 to 4 ms more.
func (p *Pace) launched(kernels, launches units.Seconds) units.Seconds {
	if p.ahead {
		return max(kernels, launches)
	}
	return engine.Launch(kernels, launches)
}

// work is what a step occupies the device with: layers without attention, with the gaps between
// their kernels; what is outside the layers; and attention. Kernels are without the gaps, and products are the dense ones
// of the layers.
type work struct{ layers, head, attention, kernels, products units.Seconds }

// phase are the multipliers of a step with so many tokens of prompts.
func (p *Pace) phase(tokens int) *[step.Parts]float64 {
	if tokens > 0 {
		return &p.multipliers.Prefill
	}
	return &p.multipliers.Decode
}

func (p *Pace) work(t *step.Times, decode, tokens int) work {
	prefill := tokens > 0
	f := p.phase(tokens)
	experts := p.experts
	if prefill {
		experts *= p.computes(decode*p.query + tokens)
	}
	products := p.products * units.Seconds(p.tiles.Longer((decode*p.query+tokens+p.ranks-1)/p.ranks))
	products *= t[step.Products] * units.Seconds(f[step.Products])
	layers := products + t[step.Experts]*units.Seconds(f[step.Experts])*experts +
		t[step.Exchange]*units.Seconds(f[step.Exchange]) + t[step.Elementwise]*units.Seconds(f[step.Elementwise])
	head, attention := t[step.Head]*units.Seconds(f[step.Head]), t[step.Attention]*units.Seconds(f[step.Attention])
	if prefill {
		attention *= p.prompt
	} else {
		attention *= p.decode
	}
	kernels := layers + head + attention
	layers += p.host.PerLayer*units.Seconds(p.layers+p.drafts) + p.host.PerDraft*units.Seconds(p.drafts)
	return work{layers, head, attention, kernels, products}
}

// balance is the rows from which on a product takes longer than reading its weights (800 TFLOP/s in 16 bits, 4 TB/s).
const balance = 200

// computes is how many times as long the products of experts take in a step of so many tokens whose kernels are slow to compute and
// not to read weights.
func (p *Pace) computes(tokens int) units.Seconds {
	if p.routed == 1 {
		return 1
	}
	x := float64(tokens) * p.chosen / balance
	return units.Seconds(math.Hypot(p.routed*x, 1) / math.Hypot(x, 1))
}

// launches is how long the host launches the layers of a step, 0 where it replays one graph.
func (p *Pace) launches(decode, tokens int) units.Seconds {
	switch {
	case tokens > 0 && p.graph.EagerPrefill, decode+tokens > p.graph.MaxBatch:
		return p.host.PerLayerFloor * units.Seconds(p.layers)
	case tokens > 0:
		return p.host.Pieces * units.Seconds(p.layers)
	}
	return 0
}

// Launch is the time of such a step alone, and the step behind another one: the device waits for no launch before the last,
// after which the step lasts as much longer as any step with prompts does.
func (p *Pace) Launch(t *step.Times, decode, prompts, tokens int) (alone units.Seconds, behind server.Launch) {
	w, launches := p.work(t, decode, tokens), p.launches(decode, tokens)
	alone = p.host.Step(p.launched(w.layers, launches)+w.head+w.attention, decode+prompts, tokens > 0)
	behind = server.Launch{
		Device: p.host.Step(w.layers+w.head+w.attention, decode+prompts, false),
		Host:   p.host.Work(decode+prompts) + launches,
		Rest:   p.host.PerPrefillStep,
	}
	if rows := decode*p.query + tokens; rows > balance {
		behind.Compute = w.products * (1 - balance/units.Seconds(rows))
		behind.Throttled = behind.Compute * p.throttle
	}
	return alone, behind
}
