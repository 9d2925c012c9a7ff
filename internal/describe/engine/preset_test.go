package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// TestPresets: every preset is of an engine, has a source, sets what the engine has, and is about roles and generations
// that there are.
func TestPresets(t *testing.T) {
	t.Parallel()
	var generations []string
	for _, name := range device.Names() {
		d, err := device.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		generations = append(generations, d.Generation)
	}
	n := 0
	for _, name := range engine.Names() {
		p, err := engine.LookupVersion(name, "")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, s := range engine.Presets(name) {
			n++
			if s.Source == "" || seen[s.Name] || len(s.Rules) == 0 {
				t.Errorf("%s %s: no source, no rules, or twice", name, s.Name)
			}
			seen[s.Name] = true
			for _, r := range s.Rules {
				checkRule(t, p, &s, &r, generations)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d presets belong to an engine", n)
	}
}

func checkRule(t *testing.T, p *engine.Profile, s *engine.Preset, r *engine.Rule, generations []string) {
	t.Helper()
	if !slices.Contains([]string{"", "both", "prefill", "decode"}, r.Role) {
		t.Errorf("%s %s: role %q", p.Name, s.Name, r.Role)
	}
	for _, g := range r.Generations {
		if !slices.Contains(generations, g) {
			t.Errorf("%s %s: no device of generation %q", p.Name, s.Name, g)
		}
	}
	all := slices.Concat(r.Set, r.Least)
	for key, values := range r.Others {
		for _, v := range values {
			all = append(all, key+"="+v)
		}
	}
	for _, a := range all {
		if strings.HasSuffix(a, "batch") {
			continue // of the load
		}
		if _, err := p.With(a); err != nil {
			t.Errorf("%s %s: %v", p.Name, s.Name, err)
		}
	}
}

// TestPresetFor: a preset says only what is not given, keeps larger defaults, the last rule counts, and settings come by name.
func TestPresetFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, engine, preset string
		at                   engine.Place
		given                []string
		want                 map[string]string
	}{
		{"decode", "sglang", "srt-slurm", engine.Place{Role: "decode", Generation: "hopper", Ranks: 8}, nil, map[string]string{"held_tokens": "10"}},
		{"wide decode", "sglang", "srt-slurm", engine.Place{Role: "decode", Generation: "blackwell", Ranks: 8, Narrow: true}, nil, map[string]string{"held_tokens": "50", "kv_format": "fp8"}},
		{"given", "sglang", "srt-slurm", engine.Place{Role: "decode", Generation: "blackwell", Ranks: 8, Narrow: true}, []string{"held_tokens", "kv_format"}, map[string]string{}},
		{"prefill", "vllm", "srt-slurm", engine.Place{Role: "prefill", Generation: "hopper", Ranks: 1}, nil, map[string]string{"token_budget": "16384"}},
		{"aggregated", "vllm", "srt-slurm", engine.Place{Role: "both", Generation: "hopper", Ranks: 1}, nil, map[string]string{}},
		{"below the batch", "trtllm", "srt-slurm", engine.Place{Role: "decode", Generation: "hopper", Batch: 9}, nil, map[string]string{"max_sequences": "8"}},
		{"a little above one", "trtllm", "srt-slurm", engine.Place{Role: "decode", Generation: "hopper", Batch: 1.25}, nil, map[string]string{"max_sequences": "1"}},
		{"less than one", "trtllm", "srt-slurm", engine.Place{Role: "decode", Generation: "hopper", Batch: 0.5}, nil, map[string]string{}},
		{"a batch that was configured", "trtllm", "srt-slurm", engine.Place{Role: "decode", Generation: "hopper", Batch: 24}, nil, map[string]string{}},
		{"graphs for the batch", "vllm", "srt-slurm", engine.Place{Role: "decode", Generation: "hopper", Batch: 600}, nil, map[string]string{"graph.max_batch": "600"}},
		{"a default that is larger", "atom", "srt-slurm", engine.Place{Role: "prefill", Generation: "hopper"}, nil, map[string]string{}},
		{"AMD devices", "sglang", "srt-slurm", engine.Place{Role: "decode", Generation: "cdna4", Ranks: 1}, nil, map[string]string{"held_tokens": "0", "kv_format": "fp8", "memory_share": "0.85", "max_sequences": "128", "graph.max_batch": "128"}},
		{"a limit of the load", "atom", "srt-slurm", engine.Place{Role: "decode", Generation: "cdna4", Batch: 1024}, nil, map[string]string{"kv_format": "fp8", "memory_share": "0.85", "max_sequences": "1024", "graph.max_batch": "1024"}},
		{"a release", "sglang", "inferencex", engine.Place{Role: "both", Generation: "cdna4", Ranks: 8, Release: "0.5.13"}, nil, map[string]string{"memory_share": "0.8", "attention_dp.wait_steps": "30"}},
		{"the newest release", "sglang", "inferencex", engine.Place{Role: "both", Generation: "cdna4", Ranks: 8}, nil, map[string]string{"memory_share": "0.8", "attention_dp.wait_steps": "30"}},
		{"an earlier release", "sglang", "inferencex", engine.Place{Role: "both", Generation: "cdna4", Ranks: 8, Release: "0.5.10"}, nil, map[string]string{"memory_share": "0.8"}},
		{"a build", "sglang", "inferencex", engine.Place{Role: "both", Generation: "cdna4", Ranks: 8, Release: "rocm720-20260501"}, nil, map[string]string{"memory_share": "0.8"}},
		{"drafts", "vllm", "inferencex-mtp", engine.Place{Role: "both", Generation: "hopper"}, nil, map[string]string{"token_budget": "8192", "memory_share": "0.9", "mtp.tokens": "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := engine.LookupVersion(c.engine, "")
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.Preset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			c.at.Given = func(key string) bool { return slices.Contains(c.given, key) }
			got := map[string]string{}
			drawn := s.For(p, c.at)
			if !slices.IsSortedFunc(drawn, func(a, b engine.Drawn) int { return strings.Compare(a.Key, b.Key) }) {
				t.Errorf("an order that a map gave: %+v", drawn)
			}
			for _, d := range drawn {
				if d.Value != "" {
					got[d.Key] = d.Value
				}
				if slices.Contains(d.Others, d.Value) {
					t.Errorf("%s: %q is among the others %v", d.Key, d.Value, d.Others)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestPresetRefuses: a name that is none gets the nearest.
func TestPresetRefuses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"vllm":    `unknown preset "inferencx" of the engine vllm; nearest: inferencex (presets: srt-slurm, inferencex, inferencex-mtp)`,
		"generic": `unknown preset "inferencx": the engine generic has none`,
	} {
		p, err := engine.LookupVersion(name, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Preset("inferencx"); err == nil || err.Error() != want {
			t.Errorf("want %s, got %v", want, err)
		}
		for _, mode := range []string{engine.Aggregated, engine.Disaggregated} {
			if s := p.Assumed(mode); s != nil != (name == "vllm") {
				t.Errorf("%s, %s: %v", name, mode, s)
			}
		}
	}
}
