package engine

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

func lookup(t *testing.T, name string) *Profile {
	t.Helper()
	p, err := LookupVersion(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// every calls do for each profile of each engine.
func every(t *testing.T, do func(t *testing.T, p *Profile)) {
	t.Helper()
	for _, name := range Names() {
		all, err := Versions(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			t.Run(name+"@"+p.Versions.Since, func(t *testing.T) { do(t, p) })
		}
	}
}

func TestNames(t *testing.T) {
	if diff := cmp.Diff([]string{"vllm", "sglang", "trtllm", "mindie", "vllm-ascend", "sglang-npu", "atom", "atom-vllm", "atom-sglang", "generic"}, Names()); diff != "" {
		t.Error(diff)
	}
	for _, e := range catalog {
		p := lookup(t, e.name)
		if p.Name != e.name || !slices.Equal(p.Aliases, e.aliases) {
			t.Errorf("the catalog says %s %v, the file %s %v", e.name, e.aliases, p.Name, p.Aliases)
		}
	}
	for alias, name := range map[string]string{
		"tensorrt-llm": "trtllm", "TensorRT_LLM": "trtllm", "trt-llm": "trtllm", "TRTLLM": "trtllm",
		"vLLM": "vllm", "SGLang": "sglang", "MindIE": "mindie",
	} {
		if p := lookup(t, alias); p.Name != name {
			t.Errorf("%s is %s, want %s", alias, p.Name, name)
		}
	}
}

// TestDefaults: the defaults that the engines document.
func TestDefaults(t *testing.T) {
	type defaults struct {
		policy  Policy
		chunked bool
		budget  int
		seqs    int
		share   float64
		of      ShareOf
		block   int
		reserve float64
		graph   int
		overlap bool
	}
	want := map[string]defaults{
		"vllm":    {DecodeFirst, true, 8192, 1024, 0.92, OfTotal, 16, 0, 512, true},
		"sglang":  {PrefillFirst, true, 8192, 1024, 0.88, OfStatic, 1, 0.3, 256, true},
		"trtllm":  {InFlight, false, 8192, 2048, 0.9, OfFree, 32, 1, 128, true},
		"mindie":  {PrefillFirst, false, 8192, 200, 0.8, OfFree, 128, 0, 200, false},
		"atom":    {PrefillFirst, true, 16384, 512, 0.9, OfTotal, 16, 0, 512, true},
		"generic": {DecodeFirst, true, 8192, 1024, 0.9, OfTotal, 16, 0, 512, true},

		"atom-vllm":   {DecodeFirst, true, 8192, 1024, 0.92, OfTotal, 16, 0, 512, true},
		"atom-sglang": {PrefillFirst, true, 8192, 1024, 0.88, OfStatic, 1, 0.3, 256, true},
		// The platform does not know its memory, and blocks have 128 tokens (vllm-ascend's platform.py); page_size 128.
		"vllm-ascend": {DecodeFirst, true, 2048, 256, 0.92, OfTotal, 128, 0, 512, true},
		"sglang-npu":  {PrefillFirst, true, 8192, 1024, 0.88, OfStatic, 128, 0.3, 256, true},
	}
	got := map[string]defaults{}
	for _, name := range Names() {
		p := lookup(t, name)
		got[name] = defaults{
			p.Policy, p.ChunkedPrefill, p.TokenBudget, p.MaxSequences, p.MemoryShare, p.MemoryShareOf, p.BlockTokens,
			p.Reserve, p.Graph.MaxBatch, p.HostFor("hopper", Dense).Overlapped,
		}
		if p.KVFormat != dtype.None || p.BatchWait.Steps != 0 || p.ReceiveInterval != 1 || p.MTP.Tokens != 0 {
			t.Errorf("%s: KV format, batch wait, receive interval or MTP is not off by default", name)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(defaults{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLookupVersion(t *testing.T) {
	for _, c := range []struct {
		name, version, since string
		share, exposed       float64
	}{
		{"vllm", "", "0.28", 0.92, 0.3},
		{"vllm", "v0.30.1", "0.28", 0.92, 0.3},
		{"vllm", "0.22.0", "0.22", 0.92, 0.3},
		{"vllm", "0.22.0rc1", "0.20", 0.92, 0.3},
		{"vllm", "0.19.0+cu129", "0.17", 0.9, 0.3},
		{"vllm", "0.15.1", "0.14", 0.9, 0.3},
		{"vllm", "0.13.0.post1", "0.11.1", 0.9, 1},
		{"vllm", "0.8", "0.8", 0.9, 1},
		{"sglang", "0.5.6.post2", "0.5.6", 0.88, 0.25},
		{"sglang", "0.4.9", "0.4", 0.88, 0.25},
		{"trtllm", "1.2.0rc6.post3", "0.20", 0.9, 0.4},
		{"mindie", "2.1.RC1", "", 0.8, 1},
		{"atom", "", "0.1.6", 0.9, 0.3},
		{"atom", "0.1.5", "0.1.3", 0.9, 0.3},
		{"atom-vllm", "", "0.28", 0.92, 0.3},
		{"atom-vllm", "0.19.0", "0.17", 0.9, 0.3},
		{"atom-sglang", "0.5.12", "0.5.10", 0.88, 0.25},
		{"atom", "0.1.2.post", "0.1", 0.9, 0.3},
	} {
		p, err := LookupVersion(c.name, c.version)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Versions.Since != c.since || p.MemoryShare != c.share || p.Exposed != c.exposed {
			t.Errorf("%s %s: since %s, share %g, exposed %g; want %s, %g, %g", c.name, c.version,
				p.Versions.Since, p.MemoryShare, p.Exposed, c.since, c.share, c.exposed)
		}
	}
}

// TestLookupNear: a version in a range needs no assumption; others go by the date,
// and without one by what is nearest.
func TestLookupNear(t *testing.T) {
	for _, c := range []struct{ name, version, month, since, assumed string }{
		{"vllm", "0.19.0", "2025-01", "0.17", ""},
		{"vllm", "", "2025-10-02", "0.9.2", "vllm without a version: settings of 0.9.2 until 0.11.1, by its date"},
		{"vllm", "", "2026-05-01", "0.22", "vllm without a version: settings of 0.22 until 0.24, by its date"},
		{"vllm", "", "", "0.28", "vllm without a version: settings of 0.28 and later"},
		{"vllm", "", "2020-01", "0.28", "vllm without a version: settings of 0.28 and later"},
		{"vllm", "nightly-5b8c", "2026-04", "0.20", "vllm nightly-5b8c: settings of 0.20 until 0.22, by its date"},
		{"vllm", "0.6.3", "", "0.8", "vllm 0.6.3: settings of 0.8 until 0.9.2"},
		{"trt-llm", "0.8.1.post1", "2026-02-03", "0.20", "trtllm 0.8.1.post1: settings of 0.20 and later, by its date"},
		{"mindie", "", "2026-02", "", ""},
	} {
		p, assumed, err := LookupNear(c.name, c.version, c.month)
		if err != nil {
			t.Fatal(err)
		}
		if p.Versions.Since != c.since || assumed != c.assumed {
			t.Errorf("%s %q %q: %s, %q; want %s, %q", c.name, c.version, c.month, p.Versions.Since, assumed, c.since, c.assumed)
		}
	}
	if _, _, err := LookupNear("vlm", "0.1", ""); err == nil {
		t.Error("an unknown engine is found")
	}
}

// TestReleases: later ranges came out later.
func TestReleases(t *testing.T) {
	for _, name := range Names() {
		all, err := Versions(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(all); i++ {
			if all[i].Released >= all[i-1].Released {
				t.Errorf("%s: %s came out in %s, %s in %s", name, all[i].Versions, all[i].Released, all[i-1].Versions, all[i-1].Released)
			}
		}
	}
}

func TestLookupRefuses(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"vlm", "", `unknown engine "vlm"; nearest: vllm (engines: vllm, sglang, trtllm, mindie, vllm-ascend, sglang-npu, atom, atom-vllm, atom-sglang, generic)`},
		{"tensorrt", "", `unknown engine "tensorrt"; nearest: trtllm (`},
		{"zzzz", "", `unknown engine "zzzz" (engines: `},
		{"vllm", "0.6.3", "engine vllm: version 0.6.3 is too old; the oldest supported version is 0.8"},
		{"trt-llm", "latest", `engine trtllm: "latest" is not a version; want for example 0.11.2 or 1.2.0rc6`},
		{"vllm", "1.2x", `"1.2x" is not a version`},
	} {
		_, err := LookupVersion(c.name, c.version)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.name, c.version, err, c.want)
		}
	}
	_, err := LookupVersion("vlm", "")
	if e, ok := errors.AsType[*UnknownError](err); !ok || e.Nearest != "vllm" {
		t.Errorf("%#v", err)
	}
}

func TestRangeString(t *testing.T) {
	for want, r := range map[string]Range{
		"any": {}, "0.22 and later": {Since: "0.22"}, "before 2": {Until: "2"}, "0.14 until 0.22": {"0.14", "0.22"},
	} {
		if r.String() != want {
			t.Errorf("%s, want %s", r, want)
		}
	}
}

// TestNewest: the newest profile of an engine is the first of all its profiles.
func TestNewest(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		newest, err := LookupVersion(name, "")
		if err != nil {
			t.Fatal(err)
		}
		all, err := Versions(name)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(newest, all[0]) {
			t.Errorf("%s: %+v, of all profiles the first is %+v", name, newest, all[0])
		}
	}
}

// TestLookupsAreApart: who changes a profile changes it for nobody else, though its file is read once.
func TestLookupsAreApart(t *testing.T) {
	for _, name := range Names() {
		a, b := lookup(t, name), lookup(t, name)
		a.Options["x"] = "y"
		for _, terms := range a.Hosts {
			*terms = Terms{}
		}
		a.Hosts["x"], a.TokenBudget = &Terms{}, -1
		for i := range a.Tiers {
			a.Tiers[i] = Tier{}
		}
		if d := cmp.Diff(b, lookup(t, name), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("%s (-before +after):\n%s", name, d)
		}
	}
}
