package engine_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// TestReleases: the table has the releases in order, each with its day, and lists that are not empty.
func TestReleases(t *testing.T) {
	read := 0
	for _, name := range []string{"vllm", "sglang", "trtllm", "dynamo", "vllm-ascend"} {
		all := engine.Releases(name)
		if len(all) < 30 || !slices.IsSortedFunc(all, func(a, b engine.Release) int { return version.Compare(a.Version, b.Version) }) {
			t.Errorf("%s: %d releases, or not in order", name, len(all))
		}
		for _, r := range all {
			if version.Check(r.Version) != nil || len(r.Date) != len("2026-01-31") {
				t.Errorf("%s: %+v", name, r)
			}
			if !r.Unread && name != "vllm-ascend" {
				read++
			}
			if name == "dynamo" && len(r.Carries) != 3 {
				t.Errorf("Dynamo %s carries %v", r.Version, r.Carries)
			}
		}
	}
	if read < 200 {
		t.Errorf("the flags of %d releases were read", read)
	}
	for _, list := range []string{"vllm", "sglang", "trtllm", "trtllm-keys", "dynamo.vllm", "dynamo.sglang", "dynamo.trtllm", "dynamo.frontend"} {
		if len(engine.Flags(list)) < 30 {
			t.Errorf("%s has %d names", list, len(engine.Flags(list)))
		}
	}
}

// TestHas: what came, went and was renamed, as the release notes say.
func TestHas(t *testing.T) {
	for _, c := range []struct {
		list, name, release string
		want                bool
	}{
		{"vllm", "--max-cudagraph-capture-size", "0.11.0", false},
		{"vllm", "--max-cudagraph-capture-size", "0.11.1", true},
		{"vllm", "--cuda-graph-sizes", "0.10.2", true},
		{"vllm", "--cuda-graph-sizes", "", false},
		{"vllm", "--headless", "", true},
		{"vllm", "--no-such-flag", "0.10.2", true},
		{"dynamo.vllm", "--disaggregation-mode", "0.9.1", false},
		{"dynamo.vllm", "--disaggregation-mode", "1.0.0", true},
		{"dynamo.vllm", "--is-prefill-worker", "0.8.1", true},
		{"dynamo.vllm", "--is-prefill-worker", "1.4.0", false},
		{"trtllm-keys", "cache_transceiver_config.backend=default", "1.0.0rc6", true},
		{"trtllm-keys", "cache_transceiver_config.backend=default", "1.1.0rc5", false},
		{"trtllm-keys", "cache_transceiver_config.backend=DEFAULT", "1.1.0rc5", true},
		{"no list", "--x", "", true},
	} {
		if got := engine.Has(c.list, c.name, c.release); got != c.want {
			t.Errorf("%s %s in %q: want %t", c.list, c.name, c.release, c.want)
		}
	}
}

// TestCarrier: the release of Dynamo with an engine's, or with the next newer one.
func TestCarrier(t *testing.T) {
	for _, c := range []struct{ engine, release, dynamo, has string }{
		{"vllm", "0.14.1", "0.9.1", "0.14.1"},
		{"vllm", "0.12.0", "0.8.1", "0.12.0"},
		{"vllm", "0.11.0", "0.7.1", "0.11.0"},
		{"vllm", "0.24.0", "1.4.2", "0.26.0"},
		{"vllm", "99", engine.Releases("dynamo")[len(engine.Releases("dynamo"))-1].Version, ""},
		{"sglang", "0.5.16", "1.4.2", "0.5.16"},
		{"trtllm", "1.2.0rc6.post3", "0.8.1.post3", "1.2.0rc6.post3"},
		{"trtllm", "1.0.0rc6", "0.5.0", "1.0.0rc6"},
		{"trtllm", "0.20.0", "0.4.0", "1.0.0rc4"},
		{"mindie", "1", "", ""},
	} {
		got := engine.Carrier(c.engine, c.release)
		if got.Version != c.dynamo || c.has != "" && got.Carries[c.engine] != c.has {
			t.Errorf("%s %s: %+v", c.engine, c.release, got)
		}
	}
}

// TestUpto: versions that a project never published become the newest before them.
func TestUpto(t *testing.T) {
	for _, c := range []struct{ engine, release, want string }{
		{"trtllm", "1.3.0", "1.3.0rc29"}, {"vllm", "0.31", "0.31.0"}, {"sglang", "0.5.15", "0.5.15"}, {"mindie", "2.1", "2.1"},
	} {
		if got := engine.Upto(c.engine, c.release); got != c.want {
			t.Errorf("%s %s: want %s, got %s", c.engine, c.release, c.want, got)
		}
	}
	if engine.Published("vllm", "0.24") == nil || engine.Published("trtllm", "1.3.0") != nil {
		t.Error("published releases")
	}
}
