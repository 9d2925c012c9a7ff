package engine

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// tokens is how many tokens of cache a device holds.
func tokens(p *Profile, memory, weights, activation, perToken units.Bytes) int {
	return p.Budget(Needs{Memory: memory, Weights: weights, Activation: activation, PerToken: perToken}).Tokens
}

// TestPublishedCapacity: what engines logged and their guides compute.
func TestPublishedCapacity(t *testing.T) {
	const kib, gib = units.KiB, units.GiB
	for _, c := range []struct {
		source                                         string
		engine                                         string
		settings                                       []string
		memory, weights, activation, perToken, expects units.Bytes // expects: bytes of KV cache
		tolerance                                      float64
	}{
		{
			// Available 21.89 GiB give 631 blocks of 64 tokens of Qwen1.5-7B, 512 KiB a
			// token; the engine rounds the last block up.
			"TensorRT-LLM issue 2268", "trtllm",
			[]string{"block_tokens=64", "workspace_gib=0"},
			39.39 * gib, (39.39 - 21.89) * gib, 0, 512 * kib, 631 * 64 * 512 * kib, 1. / 630,
		},
		{
			// Llama-3.1-70B in 8 bits with 67.72 GiB of weights and a share of 0.98 has
			// 1381 blocks of 16 tokens, 320 KiB each: an 80 GB device (79.1 GiB), of which
			// 3.05 GiB go to activations and workspace.
			"vLLM PR 12569", "vllm",
			[]string{"memory_share=0.98", "workspace_gib=2"},
			79.1 * gib, 67.7229 * gib, 1.05 * gib, 320 * kib, 1381 * 16 * 320 * kib, 0.01,
		},
		{
			// 287.18 GB free before loading, 56.98 GB of weights and a share of 0.911
			// give a budget of 204.63 GB; Qwen3-30B-A3B takes 96 KiB a token.
			"SGLang PR 18263", "sglang",
			[]string{"memory_share=0.911", "workspace_gib=0"},
			287.18 * gib, 56.98 * gib, 0, 96 * kib, 204.63 * gib, 1e-4,
		},
		{
			// Llama-65B on 8 devices of 64 GB: (64 − 3 − 130/8 − 2) · 0.8 = 34.
			"MindIE tuning guide", "mindie", nil,
			64 * gib, 130. / 8 * gib, 0, 8192, 34.2 * gib, 1e-4,
		},
		{
			// Llama-70B in fp8 on two H100 with fp8 KV cache and 4 GB for workspace and
			// activations: (0.9 · 85.5 − 36.3 − 4) GB / 80 KiB = 447 thousand tokens.
			"by hand", "generic", nil,
			85.5e9, 36.3e9, 4e9 - 2*gib, 80 * kib, 447e3 * 80 * kib, 0.01,
		},
	} {
		p, err := lookup(t, c.engine).With(c.settings...)
		if err != nil {
			t.Fatal(err)
		}
		got := units.Bytes(tokens(p, c.memory, c.weights, c.activation, c.perToken)) * c.perToken
		if off := math.Abs(float64(got/c.expects) - 1); off > c.tolerance {
			t.Errorf("%s: %s of KV cache, want %s within %g", c.source, got, c.expects, c.tolerance)
		}
	}
}

// TestLeastStaticShare: DeepSeek-V4-Pro at TP 8 on H200 loads 125.65 GB with 12.25
// left, of 140.4; SGLang asks for a share of 0.9113 at least (InferenceX issue
// 2128).
func TestLeastStaticShare(t *testing.T) {
	p := *lookup(t, "sglang")
	p.Workspace = (140.4 - 125.65 - 12.25) * units.GiB
	for share, fits := range map[float64]bool{0.88: false, 0.911: false, 0.9113: true, 0.93: true} {
		p.MemoryShare = share
		if n := tokens(&p, 140.4*units.GiB, 125.65*units.GiB, 0, 1024); n > 0 != fits {
			t.Errorf("a share of %g leaves %d tokens", share, n)
		}
	}
}

// TestOn: the defaults that follow the device.
func TestOn(t *testing.T) {
	type got struct {
		budget, seqs, graph int
		share               float64
	}
	for _, c := range []struct {
		engine, version, device string
		devices                 int
		settings                []string
		want                    got
	}{
		{"vllm", "", "h100_sxm", 1, nil, got{8192, 1024, 512, 0.92}},
		{"vllm", "", "l40s", 1, nil, got{2048, 256, 512, 0.92}},
		{"vllm", "", "a100_sxm", 8, nil, got{2048, 256, 512, 0.92}},
		{"vllm", "", "a100_sxm", 8, []string{"token_budget=4096"}, got{4096, 256, 512, 0.92}},
		// 512 + 1.5·8192 + 2·256 + 128 MiB of 80 GiB: 0.836, as SGLang's logs have it.
		{"sglang", "", "h100_sxm", 1, nil, got{8192, 1024, 256, 0.836}},
		{"sglang", "", "h100_sxm", 8, nil, got{8192, 1024, 512, 0.819}},
		{"sglang", "", "l4", 1, nil, got{2048, 1024, 24, 0.847}},
		// SGLang PR 18263 logs 0.911.
		{"sglang", "", "mi355x", 1, nil, got{16384, 1024, 512, 0.911}},
		{"sglang", "", "h100_sxm", 1, []string{"memory_share=0.7", "graph.max_batch=64"}, got{8192, 1024, 64, 0.7}},
		{"sglang", "", "h100_sxm", 1, []string{"token_budget=32768"}, got{32768, 1024, 256, 0.386}},
		// 9.5 GiB and half a GiB of 80.
		{"sglang", "0.4.6", "h100_sxm", 1, nil, got{8192, 1024, 160, 0.875}},
		{"trtllm", "", "b200_sxm", 8, nil, got{8192, 2048, 128, 0.9}},
	} {
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		p, err := LookupVersion(c.engine, c.version)
		if err != nil {
			t.Fatal(err)
		}
		p, err = p.With(c.settings...)
		if err != nil {
			t.Fatal(err)
		}
		q := p.On(d, Use{Devices: c.devices})
		if (got{q.TokenBudget, q.MaxSequences, q.Graph.MaxBatch, q.MemoryShare}) != c.want {
			t.Errorf("%s %s on %d %s %v: %v, want %v", c.engine, c.version, c.devices, c.device, c.settings,
				got{q.TokenBudget, q.MaxSequences, q.Graph.MaxBatch, q.MemoryShare}, c.want)
		}
		if err := q.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestGraphLimit: vLLM captures twice its sequences, up to 512, on Blackwell since 0.28 up to 1024; 1024 for gpt-oss; and what
// it is given.
func TestGraphLimit(t *testing.T) {
	for _, c := range []struct {
		version, device string
		settings        []string
		family          string
		want            int
	}{
		{"", "h200_sxm", nil, "qwen3", 512},
		{"", "h200_sxm", []string{"max_sequences=16"}, "qwen3", 32},
		{"", "h200_sxm", []string{"max_sequences=16", "graph.max_batch=512"}, "qwen3", 512},
		{"", "h200_sxm", nil, "gpt_oss", 1024},
		{"", "h200_sxm", []string{"max_sequences=16"}, "gpt_oss", 1024},
		{"", "h200_sxm", []string{"graph.max_batch=64"}, "gpt_oss", 64},
		{"", "b200_sxm", nil, "qwen3", 1024},
		{"", "b200_sxm", []string{"max_sequences=16"}, "qwen3", 32},
		{"0.27.0", "b200_sxm", nil, "qwen3", 512},
		{"0.27.0", "b200_sxm", nil, "gpt_oss", 1024},
	} {
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		p, err := LookupVersion("vllm", c.version)
		if err == nil {
			p, err = p.With(c.settings...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := p.On(d, Use{Devices: 1, Model: &model.Model{Family: c.family}}).Graph.MaxBatch; got != c.want {
			t.Errorf("%s on %s with %s %v: %d, want %d", c.family, c.device, c.version, c.settings, got, c.want)
		}
	}
}

// TestCapacityLaws: whole blocks; more memory or share never holds less, more of
// the rest never more; and nothing is given twice.
func TestCapacityLaws(t *testing.T) {
	every(t, func(t *testing.T, p *Profile) {
		rapid.Check(t, func(t *rapid.T) {
			q := *p
			q.MemoryShare = rapid.Float64Range(0.01, 1).Draw(t, "share")
			draw := func(name string, most float64) units.Bytes {
				return units.Bytes(rapid.Float64Range(0, most).Draw(t, name))
			}
			memory, weights, activation := draw("memory", 300e9), draw("weights", 200e9), draw("activation", 20e9)
			perToken, more := draw("per token", 1e6)+1, draw("more", 50e9)
			n := tokens(&q, memory, weights, activation, perToken)
			if n < 0 || n%q.BlockTokens != 0 {
				t.Fatalf("%d tokens are no whole blocks of %d", n, q.BlockTokens)
			}
			if used := units.Bytes(n)*perToken + weights + activation + q.Workspace; n > 0 && used > memory*(1+1e-9) {
				t.Fatalf("%s are used of %s", used, memory)
			}
			if m := tokens(&q, memory+more, weights, activation, perToken); m < n {
				t.Fatalf("more memory holds less: %d then %d", n, m)
			}
			if m := tokens(&q, memory, weights+more, activation, perToken); m > n {
				t.Fatalf("more weights leave more: %d then %d", n, m)
			}
			if m := tokens(&q, memory, weights, activation+more, perToken); m > n {
				t.Fatalf("more activations leave more: %d then %d", n, m)
			}
			q.MemoryShare = rapid.Float64Range(q.MemoryShare, 1).Draw(t, "larger share")
			if m := tokens(&q, memory, weights, activation, perToken); m < n {
				t.Fatalf("a larger share holds less: %d then %d", n, m)
			}
		})
	})
}

func TestNoCacheIsUnbounded(t *testing.T) {
	every(t, func(t *testing.T, p *Profile) {
		if n := tokens(p, 80*units.GiB, units.GiB, 0, 0); n < math.MaxInt32-p.BlockTokens || n%p.BlockTokens != 0 {
			t.Errorf("%d tokens", n)
		}
		if n := tokens(p, 80*units.GiB, 90*units.GiB, 0, 0); n != 0 {
			t.Errorf("%d tokens where the weights do not fit", n)
		}
	})
}

// TestStates: SGLang gives the states of recurrent layers 0.9 of what it gives the
// cache; a log of LFM2 has 4.88 GB beside 5.42.
func TestStates(t *testing.T) {
	p := lookup(t, "sglang")
	n := Needs{Memory: 80 * units.GiB, Weights: 20 * units.GiB, PerToken: units.KiB}
	plain := p.Budget(n)
	n.State = 50 * units.MiB
	b := p.Budget(n)
	if ratio := float64(b.States / b.KV); math.Abs(ratio-4.88/5.42) > 0.01 {
		t.Errorf("states take %g of the cache", ratio)
	}
	if math.Abs(float64((b.States+b.KV)/plain.KV)-1) > 1e-9 || plain.States != 0 {
		t.Errorf("%s and %s are not the %s of a model without states", b.States, b.KV, plain.KV)
	}
	// A sequence has five states with the prefix cache, three before 0.5.14, and one without the cache; then a given number
	// of sequences has theirs and the cache the rest.
	pool := int(units.Bytes(b.States) / n.State)
	for _, c := range []struct {
		version  string
		settings []string
		drafts   int
		want     int
	}{
		{"", nil, 0, pool / 5},
		{"0.5.13", nil, 0, pool / 3},
		{"0.5.13", []string{"prefix_caching=false"}, 3, 0}, // states of four tokens for each
		{"", []string{"prefix_caching=false"}, 0, pool},
		{"", []string{"prefix_caching=false", "max_sequences=64"}, 0, 64},
		{"", []string{"max_sequences=64"}, 0, pool / 5},
	} {
		p, err := LookupVersion("sglang", c.version)
		if err == nil {
			p, err = p.With(c.settings...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n.Drafts = c.drafts; c.drafts > 0 {
			p.MaxSequences = 48
			rest := units.Bytes(plain.KV) - 48*4*n.State
			c.want = int(rest * 0.9 / 1.9 / n.State)
		}
		b := p.Budget(n)
		if b.Sequences != c.want {
			t.Errorf("sglang %s %v: %d sequences, want %d", c.version, c.settings, b.Sequences, c.want)
		}
		if math.Abs(float64((b.States+b.KV)/plain.KV)-1) > 1e-9 {
			t.Errorf("sglang %s %v: %s and %s are not %s", c.version, c.settings, b.States, b.KV, plain.KV)
		}
	}
	v := lookup(t, "vllm").Budget(n)
	if v.Sequences != 0 {
		t.Errorf("vllm: %d sequences, want no bound", v.Sequences)
	}
}

// TestShareInUse: what SGLang's rule leaves for data-parallel attention, drafts and images, by hand from server_args.py, and
// that the prefix cache of recurrent layers excludes overlapping before 0.5.14.
func TestShareInUse(t *testing.T) {
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	mib := float64(d.Memory / units.MiB)
	share := func(aside float64) float64 { return math.Round((mib-aside)/mib*1000) / 1000 }
	const plain = 512 + 1.5*8192 + 2*512 + 128*8
	tower := &model.Model{Vision: &model.Vision{PlainHidden: 1152}}
	recurrent := &model.Model{Kinds: []model.Layer{{Attention: model.Attention{Kind: model.GatedDelta}}}}
	for _, c := range []struct {
		version  string
		use      Use
		settings []string
		share    float64
		exposed  float64
	}{
		{"", Use{Devices: 8, Ranks: 1}, nil, share(plain), 0.25},
		{"", Use{Devices: 8, Ranks: 8}, nil, share(plain + 4.5*512*8), 0.25},
		{"", Use{Devices: 8, Ranks: 8}, []string{"graph.max_batch=256"}, share(plain - 2*256 + 3*256*8), 0.25},
		{"", Use{Devices: 8, Drafts: 3}, nil, share(plain), 0.25},
		{"0.5.12", Use{Devices: 8, Drafts: 3}, nil, share(plain + 4096), 0.25},
		{"0.5.9", Use{Devices: 8, Drafts: 3}, nil, share(plain + 2048), 0.25},
		{"", Use{Devices: 8, Ranks: 8, Side: Prompts}, nil, share(plain - 2*512), 0.25},
		{"0.5.14", Use{Devices: 8, Ranks: 8, Side: Prompts}, nil, share(plain + 4.5*512*8), 0.25},
		{"", Use{Devices: 8, Ranks: 8, Side: Decodes}, nil, share(plain - 1.5*(8192-2048) + 4.5*512*8), 0.25},
		{"0.5.12", Use{Devices: 8, Ranks: 8, Side: Prompts}, nil, share(plain + 4.5*512*8), 0.25},
		{"", Use{Devices: 8, Model: tower}, nil, share(plain) * 0.95 * (1 - 0.1*(1.265625-1)), 0.25},
		{"", Use{Devices: 8, Model: recurrent}, nil, share(plain), 0.25},
		{"0.5.12", Use{Devices: 8, Model: recurrent}, nil, share(plain), 1},
		{"0.5.12", Use{Devices: 8, Model: recurrent}, []string{"prefix_caching=false"}, share(plain), 0.25},
		{"0.5.12", Use{Devices: 8, Model: recurrent, Drafts: 3}, nil, share(plain + 4096), 0.25}, // without the prefix cache
		{"0.5.12", Use{Devices: 8, Model: &model.Model{Family: "kimi_linear", Kinds: recurrent.Kinds}}, nil, share(plain), 0.25},
		{"", Use{Devices: 8, Model: &model.Model{Family: "lfm2", Kinds: recurrent.Kinds}}, nil, share(plain), 1}, // without buffers
		{"", Use{Devices: 8, Model: &model.Model{Family: "lfm2", Kinds: recurrent.Kinds}}, []string{"prefix_caching=false"}, share(plain), 0.25},
		{"", Use{Devices: 8, Model: &model.Model{Family: "kimi_linear", Kinds: recurrent.Kinds}}, nil, share(plain), 0.25},
		{"0.5.14", Use{Devices: 8, Model: &model.Model{Family: "kimi_linear", Kinds: recurrent.Kinds}}, nil, share(plain), 1},
		{"0.5.15", Use{Devices: 8, Model: recurrent}, nil, share(plain), 0.25},
		{"0.5.12", Use{Devices: 8, Model: recurrent}, []string{"host.exposed=0"}, share(plain), 0},
	} {
		p, err := LookupVersion("sglang", c.version)
		if err == nil {
			p, err = p.With(c.settings...)
		}
		if err != nil {
			t.Fatal(err)
		}
		q := p.On(d, c.use)
		if math.Abs(q.MemoryShare-c.share) > 1e-9 || q.Exposed != c.exposed {
			t.Errorf("sglang %s %v %+v: share %g, exposed %g, want %g and %g", c.version, c.settings, c.use, q.MemoryShare, q.Exposed, c.share, c.exposed)
		}
	}
}

// TestRefusedBuffers: on AMD's devices hybrid models run without buffers and the overlapped scheduler in the releases that refuse the
// buffers (server_args.py of 0.5.14 and 0.5.15, _validate_mamba_extra_buffer; 0.5.16 takes them).
func TestRefusedBuffers(t *testing.T) {
	recurrent := &model.Model{Kinds: []model.Layer{{Attention: model.Attention{Kind: model.GatedDelta}}}}
	for _, c := range []struct {
		release, device string
		settings        []string
		off             bool
		slots           int
	}{
		{"", "mi355x", nil, true, 3},
		{"0.5.14", "mi355x", nil, true, 3},
		{"0.5.15.post1", "mi300x", nil, true, 3},
		{"0.5.15", "mi355x", []string{"prefix_caching=false"}, false, 3},
		{"0.5.15", "mi355x", []string{"recurrent.slots=4"}, true, 4},
		{"0.5.15", "b200_sxm", nil, false, 5},
		{"0.5.16", "mi355x", nil, false, 5},
		{"0.5.13", "mi355x", nil, false, 3},
	} {
		p, err := LookupVersion("sglang", c.release)
		if err == nil {
			p, err = p.With(c.settings...)
		}
		if err != nil {
			t.Fatal(err)
		}
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		q := p.On(d, Use{Devices: 8, Model: recurrent})
		if q.OverlapOff != c.off || q.Recurrent.Slots != c.slots || c.off && q.Exposed != 1 {
			t.Errorf("%+v: %t with %d slots, exposed %g", c, q.OverlapOff, q.Recurrent.Slots, q.Exposed)
		}
		if q = p.On(d, Use{Devices: 8, Model: &model.Model{}}); q.OverlapOff {
			t.Errorf("%+v: a model without recurrent layers", c)
		}
	}
}

// TestGraphMemory: captured graphs, the pool of the first and the selector of sparse
// attention take what vLLM logged, to a quarter GiB: 4.99 for the graphs of GLM-5.2
// with room for 819,200 tokens, and 4.0 of its activations (0.26); 0.53 for the graphs
// of Qwen2.5-7B.
func TestGraphMemory(t *testing.T) {
	const pool = 0.25
	p, err := lookup(t, "vllm").With("max_context=819200", fmt.Sprintf("workspace_gib=%g", pool))
	if err != nil {
		t.Fatal(err)
	}
	n := Needs{Memory: 184 * units.GiB, PerToken: 1, Kernels: 2152, IndexKey: 132, Context: 1 << 20}
	b := p.Budget(n)
	small := p.Budget(Needs{Memory: 80 * units.GiB, PerToken: 1, Kernels: 313, Context: 1 << 15})
	for what, c := range map[string]struct{ got, want units.InGiB }{
		"graphs": {b.Workspace, units.InGiB(4.99 * units.GiB)}, "selector": {b.Activation, units.InGiB(4 * units.GiB)}, "small graphs": {small.Workspace, units.InGiB(0.53 * units.GiB)},
	} {
		if off := math.Abs(float64(c.got - c.want)); off > float64(0.25*units.GiB) {
			t.Errorf("%s: want %s, got %s", what, c.want, c.got)
		}
	}
	n.IndexKey = 0
	if dense := p.Budget(n); dense.Activation != 0 || dense.Workspace >= b.Workspace {
		t.Errorf("without sparse attention: %s of activations, %s of workspace", dense.Activation, dense.Workspace)
	}
	q := lookup(t, "sglang")
	if b := q.Budget(n); units.Bytes(b.Workspace) != q.Workspace {
		t.Errorf("an engine that captures outside its share keeps %s for graphs", units.Bytes(b.Workspace)-q.Workspace)
	}
}

// TestCapturedSizes: 1, 2, 4, then every eighth, from 256 every sixteenth.
func TestCapturedSizes(t *testing.T) {
	for batch, want := range map[int]int{0: 0, 1: 1, 4: 3, 8: 4, 64: 11, 128: 19, 256: 35, 512: 51} {
		if got := (&Graph{MaxBatch: batch}).sizes(); got != want {
			t.Errorf("up to %d: want %d, got %d", batch, want, got)
		}
	}
}

// TestPrefixCacheWhileDrafting: only an engine that says so has no prefix cache for recurrent layers while it drafts; the newest known release of
// vllm-ascend has none by default.
func TestPrefixCacheWhileDrafting(t *testing.T) {
	t.Parallel()
	recurrent := &model.Model{Kinds: []model.Layer{{Attention: model.Attention{Kind: model.GatedDelta}}, {Attention: model.Attention{Kind: model.GQA, KVHeads: 2, HeadDim: 64}}}}
	for _, c := range []struct {
		name, version string
		want          bool
	}{{"vllm", "", true}, {"vllm-ascend", "", false}, {"trtllm", "", true}, {"sglang", "", true}, {"sglang", "0.5.12", false}} {
		p, err := LookupVersion(c.name, c.version)
		if err != nil {
			t.Fatal(err)
		}
		d, err := device.Lookup("h200_sxm")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.On(d, Use{Devices: 2, Model: recurrent, Drafts: 2}).PrefixCaching; got != c.want {
			t.Errorf("%s %s: prefix caching %t", c.name, c.version, got)
		}
	}
}

// TestRecurrentCaching: vLLM has a prefix cache of models with recurrent layers by default since 0.26, before if it is asked to, and of models
// without other layers only then; TensorRT-LLM has none before 1.3.0rc22; other models have one.
func TestRecurrentCaching(t *testing.T) {
	t.Parallel()
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string][]model.Layer{
		"hybrid": {{Attention: model.Attention{Kind: model.Mamba2}}, {Attention: model.Attention{Kind: model.GQA, KVHeads: 2, HeadDim: 64}}},
		"alone":  {{Attention: model.Attention{Kind: model.Mamba1}}},
		"plain":  {{Attention: model.Attention{Kind: model.GQA, KVHeads: 2, HeadDim: 64}}},
	}
	for _, c := range []struct {
		name, version, layers string
		own, asked            bool
	}{
		{"vllm", "", "hybrid", true, true},
		{"vllm", "0.26.0", "hybrid", true, true},
		{"vllm", "0.25.1", "hybrid", false, true},
		{"vllm", "0.25.1", "plain", true, true},
		{"vllm", "", "alone", false, true},
		{"trtllm", "", "hybrid", true, true},
		{"trtllm", "1.3.0rc13", "hybrid", false, false},
		{"trtllm", "1.3.0rc13", "plain", true, true},
		{"sglang", "", "hybrid", true, true},
	} {
		p, err := LookupVersion(c.name, c.version)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := p.With("prefix_caching=true")
		if err != nil {
			t.Fatal(err)
		}
		u := Use{Devices: 1, Model: &model.Model{Kinds: layers[c.layers]}}
		if own, given := p.On(d, u).PrefixCaching, asked.On(d, u).PrefixCaching; own != c.own || given != c.asked {
			t.Errorf("%s %s, %s: prefix caching %t, if asked for %t", c.name, c.version, c.layers, own, given)
		}
	}
}

// TestUnbufferedStates: SGLang has five states for a running sequence, three of a family without buffers, however often its defaults
// are chosen; what is given stays.
func TestUnbufferedStates(t *testing.T) {
	t.Parallel()
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []model.Layer{{Attention: model.Attention{Kind: model.ShortConv}}}
	for _, c := range []struct {
		family, setting string
		want            int
	}{{"qwen3_next", "prefix_caching=true", 5}, {"lfm2", "prefix_caching=true", 3}, {"lfm2", "recurrent.slots=4", 4}} {
		p, err := lookup(t, "sglang").With(c.setting)
		if err != nil {
			t.Fatal(err)
		}
		u := Use{Devices: 1, Model: &model.Model{Family: c.family, Kinds: kinds}}
		once := p.On(d, u)
		if twice := once.On(d, u); once.Recurrent.Slots != c.want || twice.Recurrent.Slots != c.want {
			t.Errorf("%s with %s: %d states, chosen again %d; want %d", c.family, c.setting, once.Recurrent.Slots, twice.Recurrent.Slots, c.want)
		}
	}
}
