package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/dtype"
	"plimsoll/internal/units"
)

func TestWith(t *testing.T) {
	p := lookup(t, "vllm")
	before := p.Facts()
	q, err := p.With("token_budget=2048", "max-sequences=64", "memory_share = 0.8", "kv_format=fp8", "batch_wait.steps=20",
		"batch_wait.ratio=0.9", "host.per_step_us=500", "host.launch_floor.moe_us=7", "host.exposed=0", "policy=in-flight",
		"chunked_prefill=false", "memory_share_of=free", "workspace_gib=3", "mtp.tokens=2", "reserve=1")
	if err != nil {
		t.Fatal(err)
	}
	want := *p
	want.TokenBudget, want.MaxSequences, want.MemoryShare, want.KVFormat = 2048, 64, 0.8, dtype.FP8
	want.BatchWait, want.Exposed, want.Policy, want.ChunkedPrefill = BatchWait{20, 0.9}, 0, InFlight, false
	want.MemoryShareOf, want.Workspace, want.MTP.Tokens, want.Reserve = OfFree, 3*units.GiB, 2, 1
	want.Hosts = map[string]Terms{}
	for generation, terms := range p.Hosts {
		terms.PerStep, terms.Floor.MoE = 500*units.Microsecond, 7*units.Microsecond
		want.Hosts[generation] = terms
	}
	want.Tiers = []Tier{{Below: 70 * units.GiB}, {Generations: []string{"ampere"}}}
	if diff := cmp.Diff(&want, q); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before, p.Facts()); diff != "" {
		t.Errorf("With changed the profile it was called on: %s", diff)
	}
	if q, err = q.With("kv_format=auto"); err != nil || q.KVFormat != dtype.None {
		t.Error(q.KVFormat, err)
	}
}

func TestWithRefuses(t *testing.T) {
	for assignment, want := range map[string]string{
		"token_budget":         `engine setting "token_budget": want key=value`,
		"token_budgt=1":        "unknown key; nearest: token_budget",
		"zzz=1":                "unknown key; the keys are policy, ",
		"token_budget=many":    "want a whole number",
		"token_budget=0":       "engine vllm: token_budget must be positive, got 0",
		"memory_share=1.5":     "memory_share must be above 0 and at most 1, got 1.5",
		"memory_share=NaN":     "want a number",
		"reserve=-1":           "reserve must be from 0 to 1, got -1",
		"chunked_prefill=some": "want true or false",
		"policy=random":        `policy must be decode-first, prefill-first or in-flight, got "random"`,
		"memory_share_of=all":  `memory_share_of must be total, static or free, got "all"`,
		"kv_format=fp9":        "want auto, bf16, fp8 or another format",
		"host.first_us=-1":     "host.times_us.blackwell: a time must not be negative",
	} {
		_, err := lookup(t, "vllm").With(assignment)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", assignment, err, want)
		}
	}
	_, err := lookup(t, "vllm").With("a=1", "b")
	if err == nil || strings.Count(err.Error(), "engine setting") != 2 {
		t.Errorf("not every problem is told: %v", err)
	}
}

// TestEveryKeyCanBeSet: each takes the value that it has.
func TestEveryKeyCanBeSet(t *testing.T) {
	values := map[string]string{"policy": "in-flight", "memory_share_of": "free", "kv_format": "fp8"}
	for _, key := range Keys() {
		value, ok := values[key]
		if !ok {
			value = "1" // a whole number, a share, true
		}
		if _, err := lookup(t, "sglang").With(key + "=" + value); err != nil {
			t.Error(err)
		}
	}
}
