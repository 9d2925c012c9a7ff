package engine

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

func TestClassify(t *testing.T) {
	for id, want := range map[string]Class{
		"Qwen/Qwen3-32B":                   Dense,
		"Qwen/Qwen3-235B-A22B":             MoE,
		"openai/gpt-oss-120b":              MoE,
		"deepseek-ai/DeepSeek-V3.1":        Latent,
		"Qwen/Qwen3-Next-80B-A3B-Instruct": Linear,
	} {
		m, err := model.Lookup(id)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := Classify(m); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

func TestHostFor(t *testing.T) {
	p := lookup(t, "vllm")
	hopper, blackwell := p.HostFor("hopper", Dense), p.HostFor("blackwell", Dense)
	want := Host{Terms: Terms{
		PerStep: 1.2e-3, PerSequence: 14e-6, PerPrefillStep: 2.3e-3, PerLayer: 11e-6, Pieces: 200e-6, Widened: 2e-3,
		APIFixed: 0.7e-3, APIPerToken: 1e-6, APIPerOutput: 110e-6, First: 13e-3, FirstAlone: 3.5e-3,
	}, PerLayerFloor: 550e-6, Exposed: 0.3, Overlapped: true}
	near := cmp.Comparer(sameTime)
	if diff := cmp.Diff(want, hopper, near); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if hopper == blackwell {
		t.Error("generations do not differ")
	}
	for generation, want := range map[string]Host{
		"blackwell-ultra": blackwell, "cdna3": hopper, "": hopper,
	} {
		if got := p.HostFor(generation, Dense); got != want {
			t.Errorf("%s: %+v, want %+v", generation, got, want)
		}
	}
	if a := lookup(t, "vllm-ascend").HostFor("ascend-a3", Linear); a.PerDraft <= hopper.PerDraft || a.PerLayerFloor <= p.HostFor("hopper", Linear).PerLayerFloor {
		t.Errorf("vllm-ascend launches as fast as vllm: %+v", a)
	}
	if p.HostFor("hopper", Latent).PerLayerFloor <= hopper.PerLayerFloor {
		t.Error("latent attention launches no more than a dense layer")
	}
}

// TestEveryGenerationHasTimes: no device of the catalog gets a host that is free.
func TestEveryGenerationHasTimes(t *testing.T) {
	every(t, func(t *testing.T, p *Profile) {
		for _, name := range device.Names() {
			d, err := device.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []Class{Dense, MoE, Latent, Linear} {
				h := p.HostFor(d.Generation, c)
				if min(h.PerStep, h.PerSequence, h.PerPrefillStep, h.PerLayer, h.PerLayerFloor, h.APIFixed, h.APIPerToken, h.First) <= 0 {
					t.Errorf("%s %s: %+v", name, c, h)
				}
				if !p.Graph.EagerPrefill && (h.Pieces <= 0 || h.Pieces >= h.PerLayerFloor) {
					t.Errorf("%s %s: a layer in pieces takes %s, one without a graph %s", name, c, h.Pieces, h.PerLayerFloor)
				}
			}
			if q := p.On(d, Use{Devices: 8}); q.check() != nil || q.TokenBudget < 1024 {
				t.Errorf("on %s: %v, budget %d", name, q.check(), q.TokenBudget)
			}
		}
	})
}

// TestStepLaws: a step is never shorter than its kernels or its host work, never
// longer than both in turn, and hides nothing where nothing overlaps.
func TestStepLaws(t *testing.T) {
	every(t, func(t *testing.T, p *Profile) {
		rapid.Check(t, func(t *rapid.T) {
			h := p.HostFor("hopper", Dense)
			gpu := units.Seconds(rapid.Float64Range(0, 1).Draw(t, "gpu"))
			n := rapid.IntRange(0, 1024).Draw(t, "sequences")
			work := h.PerStep + h.PerSequence*units.Seconds(n)
			got := h.Step(gpu, n, false)
			const dust = 1e-12
			if got < max(gpu, work)-dust || got > gpu+work+dust {
				t.Fatalf("gpu %s and host %s make %s", gpu, work, got)
			}
			if !h.Overlapped && math.Abs(float64(got-gpu-work)) > dust {
				t.Fatalf("nothing overlaps, but gpu %s and host %s make %s", gpu, work, got)
			}
			if h.Step(gpu, n, true) <= got || h.Step(gpu, n+1, false) < got {
				t.Fatal("more work is no longer")
			}
			layers := rapid.IntRange(1, 128).Draw(t, "layers")
			if l := Launch(gpu, units.Seconds(layers)*h.PerLayerFloor); l < max(gpu, units.Seconds(layers)*h.PerLayerFloor)-dust {
				t.Fatalf("%d layers of %s are launched in %s", layers, gpu, l)
			}
		})
	})
}
