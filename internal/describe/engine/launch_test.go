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
		{"sglang", "0.5.21", "layout.attention_dp", ""},
		{"vllm", "0.11.0", "graph.max_batch", ""},
		{"vllm", "0.11.1", "graph.max_batch", "--max-cudagraph-capture-size"},
		{"trtllm", "0.20.0", "kv_format", "pytorch_backend_config.kv_cache_dtype"},
		{"trtllm", "1.0.0rc3", "kv_format", "kv_cache_dtype"},
		{"trtllm", "1.0.0rc3", "transfer", ""},
		{"trtllm", "1.0.0rc6", "kv_format", "kv_cache_config.dtype"},
		{"trtllm", "1.0.0rc6", "draft.model", "speculative_config.speculative_model_dir"},
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
// classes, the first in the newest release too.
func TestKeysExist(t *testing.T) {
	if n := len(engine.Keys("trtllm")); n < 200 {
		t.Fatalf("%d keys", n)
	}
	p, err := engine.LookupVersion("trtllm", "")
	if err != nil {
		t.Fatal(err)
	}
	for key := range p.Options {
		for i, option := range p.OptionNames(key) {
			if len(engine.Spans("trtllm-keys", option)) == 0 || i == 0 && !engine.Has("trtllm-keys", option, "") {
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
