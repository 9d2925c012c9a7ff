package engine

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

func TestWith(t *testing.T) {
	p := lookup(t, "vllm")
	before := p.clone()
	q, err := p.With("token_budget=2048", "max-sequences=64", "memory_share = 0.8", "kv_format=fp8", "batch_wait.steps=20",
		"batch_wait.ratio=0.9", "host.per_step_us=500", "host.launch_floor.moe_us=7", "host.exposed=0", "policy=in-flight",
		"chunked_prefill=false", "memory_share_of=free", "workspace_gib=3", "mtp.tokens=2", "reserve=1", "host.first_us=9")
	if err != nil {
		t.Fatal(err)
	}
	want := *p
	want.TokenBudget, want.MaxSequences, want.SequencesGiven, want.MemoryShare, want.KVFormat = 2048, 64, true, 0.8, dtype.FP8
	want.BatchWait, want.Exposed, want.ExposedGiven, want.Alone, want.Policy, want.ChunkedPrefill = BatchWait{20, 0.9}, 0, true, 1, InFlight, false
	want.MemoryShareOf, want.Workspace, want.MTP.Tokens, want.Reserve = OfFree, 3*units.GiB, 2, 1
	want.Hosts = p.clone().Hosts
	for _, terms := range want.Hosts {
		terms.PerStep, terms.Floor.MoE = 500*units.Microsecond, 7*units.Microsecond
		terms.First, terms.FirstAlone = 9*units.Microsecond, 0 // a constant that is given counts for one device too
	}
	want.Tiers = []Tier{{Below: 70 * units.GiB}, {Generations: []string{"ampere"}}, {Families: []string{"gpt_oss"}, GraphBatch: 1024}, {Generations: []string{"blackwell", "blackwell-ultra"}, GraphBatch: 1024}}
	if diff := cmp.Diff(&want, q); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before, p); diff != "" {
		t.Errorf("With changed the profile it was called on: %s", diff)
	}
	q.Hosts = nil // a host that costs nothing
	if q, err = q.With("kv_format=auto"); err != nil || q.KVFormat != dtype.None {
		t.Error(q.KVFormat, err)
	}
}

func TestWithRefuses(t *testing.T) {
	for assignment, want := range map[string]string{
		"token_budget":         `engine setting "token_budget": want key=value`,
		"token_budgt=1":        "unknown key; nearest: token_budget",
		"zzz=1":                "unknown key; keys: policy, ",
		"name=x":               "unknown key; keys: policy, ",
		"host.first=1":         "unknown key; nearest: host.first_us",
		"token_budget=many":    `engine setting "token_budget=many": must be a whole number, got "many"`,
		"token_budget=0":       `engine setting "token_budget=0": must be at least 1, got 0`,
		"memory_share=1.5":     "must be between 0.001 and 1, got 1.5",
		"memory_share=0":       "must be between 0.001 and 1, got 0",
		"memory_share=NaN":     "must be between 0.001 and 1, got NaN",
		"state_ratio=Inf":      "must be at least 0, got +Inf",
		"peer_gib=1e308":       "must be at least 0, got +Inf",
		"reserve=-1":           "must be between 0 and 1, got -1",
		"chunked_prefill=some": `must be true or false, got "some"`,
		"policy=random":        "must be one of decode-first, prefill-first, in-flight, got random",
		"memory_share_of=all":  "must be one of total, static, free, got all",
		"kv_format=fp9":        `must be auto, bf16, fp8 or another format, got "fp9"`,
		"host.first_us=-1":     `engine setting "host.first_us=-1": must be at least 0, got -1`,
	} {
		_, err := lookup(t, "vllm").With(assignment)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", assignment, err, want)
		}
	}
	_, err := lookup(t, "vllm").With("a=1", "b")
	if err == nil || strings.Count(err.Error(), "engine setting") != 2 {
		t.Errorf("not every problem is reported: %v", err)
	}
}

// adjustable is what With can replace.
func adjustable(p *Profile) []Setting {
	return append(p.Settings(), p.Hosts[Generic].Settings()...)
}

// TestSettings: each has a meaning and takes the value that it shows; keys differ.
func TestSettings(t *testing.T) {
	every(t, func(t *testing.T, p *Profile) {
		p = p.clone()
		p.Tiers, p.ShareRule, p.Graph.Given, p.SequencesGiven, p.ExposedGiven, p.CachingGiven = nil, nil, true, true, true, true // With drops what it replaces
		p.Recurrent.Unbuffered, p.Recurrent.Given = nil, true
		maps.DeleteFunc(p.Hosts, func(generation string, _ *Terms) bool { return generation != Generic })
		seen := map[string]bool{}
		var assignments []string
		for _, s := range adjustable(p) {
			if s.Meaning == "" || seen[s.Key] {
				t.Errorf("%+v has no meaning, or is there twice", s)
			}
			seen[s.Key] = true
			assignments = append(assignments, s.Key+"="+s.Value)
		}
		q, err := p.With(assignments...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := same(p, q); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// TestEverySettingMatters: each can be changed, changes one value that is shown,
// and no two settings are one.
func TestEverySettingMatters(t *testing.T) {
	p := lookup(t, "generic")
	before := adjustable(p)
	values := map[string]string{"policy": "in-flight", "memory_share_of": "free", "kv_format": "fp8", "state_format": "bf16"}
	for i, s := range before {
		value, ok := values[s.Key]
		switch {
		case ok:
		case s.Value == "true", s.Value == "false":
			value = strconv.FormatBool(s.Value == "false")
		case s.Value == "1":
			value = "0"
			if s.Key == "receive_interval" {
				value = "2"
			}
		default:
			value = "1"
		}
		q, err := p.With(s.Key + "=" + value)
		if err != nil {
			t.Error(err)
			continue
		}
		for j, after := range adjustable(q) {
			if changed := after.Value != before[j].Value; changed != (i == j) {
				t.Errorf("%s=%s: %s was %s and is %s", s.Key, value, after.Key, before[j].Value, after.Value)
			}
		}
	}
}

// FuzzWith: whatever is asked, the answer is a profile or one line that says why
// not.
func FuzzWith(f *testing.F) {
	p, err := LookupVersion("sglang", "")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range adjustable(p) {
		f.Add(s.Key + "=" + s.Value)
	}
	f.Fuzz(func(t *testing.T, assignment string) {
		q, err := p.With(assignment)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %s", err)
		}
		if err == nil && q.check() != nil {
			t.Errorf("%q is accepted, but %v", assignment, q.check())
		}
	})
}
