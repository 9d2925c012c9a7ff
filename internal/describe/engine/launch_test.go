package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// TestOptionByVersion: a flag that was renamed has the name of the release.
func TestOptionByVersion(t *testing.T) {
	for _, c := range []struct{ engine, release, key, want string }{
		{"vllm", "", "graph.sizes", "--cudagraph-capture-sizes"},
		{"vllm", "0.11.0", "graph.sizes", "--cuda-graph-sizes"},
		{"vllm", "0.8.5", "graph.sizes", ""},
		{"vllm", "0.10.2", "nodes.count", ""},
		{"vllm", "0.24.0", "token_budget", "--max-num-batched-tokens"},
		{"sglang", "0.5.12", "graph.sizes", "--cuda-graph-bs"},
		{"sglang", "0.5.16", "graph.sizes", "--cuda-graph-bs-decode"},
		{"sglang", "0.5.23", "attention_dp.switch", ""},
		{"trtllm", "1.2.0", "max_sequences", "max_batch_size"},
		{"trtllm", "1.2.0", "nothing", ""},
	} {
		p, err := engine.LookupVersion(c.engine, c.release)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Option(c.key, c.release); got != c.want {
			t.Errorf("%s %s, %s: want %q, got %q", c.engine, c.release, c.key, c.want, got)
		}
	}
}

// TestKeysExist: every key of TensorRT-LLM's file that options name is a field of its
// classes, in the newest release that was looked at too.
func TestKeysExist(t *testing.T) {
	known := engine.Keys("trtllm")
	if len(known) < 200 {
		t.Fatalf("%d keys", len(known))
	}
	p, err := engine.LookupVersion("trtllm", "")
	if err != nil {
		t.Fatal(err)
	}
	for key := range p.Options {
		for _, option := range p.OptionNames(key) {
			if i := slices.IndexFunc(known, func(n engine.Named) bool { return n.Name == option }); i < 0 || known[i].Versions.Until != "" {
				t.Errorf("%s of %s is not among the keys", option, key)
			}
		}
	}
}

// TestOptionsExist: every flag that options name is one that the engine's own parser
// listed.
func TestOptionsExist(t *testing.T) {
	for _, name := range []string{"vllm", "sglang"} {
		var known []string
		for _, f := range engine.Flags(name) {
			known = append(known, f.Name)
		}
		if len(known) < 200 {
			t.Fatalf("%s: %d flags", name, len(known))
		}
		p, err := engine.LookupVersion(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for key := range p.Options {
			for _, option := range p.OptionNames(key) {
				if strings.HasPrefix(option, "--") && !slices.Contains(known, option) {
					t.Errorf("%s: %s of %s is not among its flags", name, option, key)
				}
			}
		}
	}
}
