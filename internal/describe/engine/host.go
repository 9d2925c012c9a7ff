package engine

import (
	"cmp"
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Terms are the host times on one generation of devices.
type Terms struct {
	// PerStep and PerSequence are the host's work for a step: scheduling, preparing
	// inputs, handling outputs. The engine hides it behind the GPU but for the share
	// Exposed.
	PerStep     units.Seconds
	PerSequence units.Seconds
	// PerPrefillStep is added to a step that has prompt tokens; it is not hidden.
	PerPrefillStep units.Seconds
	// PerLayer is the idle time between the kernels of a layer in a captured step.
	// It passes on the device and is not hidden. PerLinear is that of models with
	// recurrent layers; 0 means the same.
	PerLayer, PerLinear units.Seconds
	// Floor is the least time to launch a layer's kernels one by one, which bounds
	// a step that replays no graph; Pieces the least time for a layer whose graph is
	// replayed in pieces, with attention between them.
	Floor  Floors
	Pieces units.Seconds
	// Widened is Floor for a layer whose experts' kernels widen 4-bit weights in Triton; 0 means the same.
	Widened units.Seconds
	// PerDraft is the time to launch the kernels of a draft one by one, behind the draft before it; 0 where drafts replay a graph.
	PerDraft units.Seconds
	// APIFixed and APIPerToken are what the API server needs for a request and for
	// each token of its prompt: one request after the other, beside the GPU.
	APIFixed    units.Seconds
	APIPerToken units.Seconds
	// APIPerOutput is what it needs for each token that a step brings. A first token is the last of its step: requests that
	// generate come before those whose prompts were computed.
	APIPerOutput units.Seconds
	// First is a constant of the first token's latency: network, tokenizer,
	// streaming. FirstAlone is that of an engine with one device; 0 means the same.
	First, FirstAlone units.Seconds
}

// Floors are launch times of a layer by class of model.
type Floors struct{ Dense, MoE, Latent, Linear units.Seconds }

// Of returns the floor of a class.
func (f Floors) Of(c Class) units.Seconds {
	switch c {
	case MoE:
		return f.MoE
	case Latent:
		return f.Latent
	case Linear:
		return f.Linear
	case Dense:
	}
	return f.Dense
}

// Host is the host times for one model on one generation of devices.
type Host struct {
	Terms

	PerLayerFloor units.Seconds // Floor of the model's class
	// Exposed is the share of PerStep and PerSequence that the GPU waits for.
	Exposed float64
	// Overlapped reports whether any of it is hidden.
	Overlapped bool
}

// HostFor returns the host's times on a generation of devices for a class of
// model. A generation that is not listed takes the times of the one it is a
// variant of ("blackwell-ultra" those of "blackwell"), else the default.
func (p *Profile) HostFor(generation string, class Class) Host {
	t := p.Hosts[generation]
	for t == nil && generation != "" {
		generation = generation[:max(0, strings.LastIndexByte(generation, '-'))]
		t = p.Hosts[generation]
	}
	if t = cmp.Or(t, p.Hosts[Generic]); t == nil {
		t = &Terms{} // a host without cost
	}
	h := Host{Terms: *t, PerLayerFloor: t.Floor.Of(class), Exposed: p.Exposed, Overlapped: p.Exposed < 1}
	if class == Linear {
		h.PerLayer = cmp.Or(t.PerLinear, h.PerLayer)
	}
	h.Floor, h.PerLinear = Floors{}, 0 // in PerLayerFloor and PerLayer
	return h
}

// Step is the time of an engine step whose kernels take gpu: the longer of the
// GPU and the host work that overlaps with it, and what cannot overlap.
func (h *Host) Step(gpu units.Seconds, sequences int, prefill bool) units.Seconds {
	work := h.Work(sequences)
	exposed := units.Seconds(h.Exposed) * work
	t := max(gpu, work-exposed) + exposed
	if prefill {
		t += h.PerPrefillStep
	}
	return t
}

// Work is the host's work for a step beside launches.
func (h *Host) Work(sequences int) units.Seconds {
	return h.PerStep + h.PerSequence*units.Seconds(sequences)
}

// Launch is the time of the layers' kernels, attention left out, on a device that had nothing
// to do, when the host needs so long to launch them: a soft maximum, because short kernels wait
// for the host and long ones hide it.
func Launch(kernels, launches units.Seconds) units.Seconds {
	if launches == 0 {
		return kernels
	}
	return units.Seconds(math.Hypot(float64(kernels), float64(launches)))
}
