package engine

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// asFile is a profile as JSON, which is YAML, without what follows from the rest.
func asFile(t *testing.T, p *Profile) []byte {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`"overlapped":(true|false),"times_us"`).ReplaceAll(text, []byte(`"times_us"`))
}

// sameTime compares times as they are shown.
func sameTime(a, b units.Seconds) bool {
	return (&setting{at: us(&a)}).text() == (&setting{at: us(&b)}).text()
}

func same(want, got *Profile) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(sameTime))
}

// small is a file that is complete, and small enough to be varied quickly.
const small = `{name: x, title: X, aliases: [y], since: 1, source: me, policy: in-flight, token_budget: 1, max_sequences: 1,
memory_share: 0.5, memory_share_of: free, block_tokens: 1, kv_format: auto, receive_interval: 1, graph: {max_batch: 3},
host: {exposed: 1, times_us: {default: {per_step: 1, launch_floor: {moe: 2}}}}, share_rule_mib: {fixed: 1},
tiers: [{below_gib: 3, generations: [hopper], token_budget: 2}], options: {token_budget: --x}}`

// TestJSONIsTheFile: JSON says what the file says, and no float dust shows.
func TestJSONIsTheFile(t *testing.T) {
	every(t, func(t *testing.T, p *Profile) {
		text := asFile(t, p)
		again := *p
		again.Versions.Until = "" // or a newer range is missing
		all, err := parse("again", asFile(t, &again))
		if err != nil {
			t.Fatal(err)
		}
		if diff := same(&again, all[0]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if strings.Contains(string(text), "00000") || strings.Contains(string(text), "99999") {
			t.Errorf("float dust: %s", text)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	if _, err := parse("x.yaml", []byte(small)); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "x.yaml: the file is empty"},
		"syntax":    {"name: [", "x.yaml: yaml: line 1"},
		"no keys":   {"--- 3\n", "x.yaml:1: must be a mapping of keys to values, got 3"},
		"unknown":   {"name: x\nnme: x", "x.yaml:2: nme: unknown key; nearest: name"},
		"nested":    {"graph:\n  max_bach: 3", "x.yaml:2: graph.max_bach: unknown key; nearest: graph.max_batch"},
		"mapping":   {"graph: 3", "x.yaml:1: graph: unknown key; nearest: graph.padded"},
		"twice":     {"name: x\nname: y", "x.yaml:2: name: given twice, first on line 1"},
		"single":    {"token_budget: [1]", "x.yaml:1: token_budget: must be a single value"},
		"whole":     {"token_budget: 1.5", `x.yaml:1: token_budget: must be a whole number, got "1.5"`},
		"list":      {"aliases: a", "x.yaml:1: aliases: must be a list of words"},
		"inside":    {"aliases: {a: 1}", "x.yaml:1: aliases.a: unknown key; nearest: aliases"},
		"values":    {"name: x\nmemory_share: 2", "x.yaml:2: memory_share: must be between 0.001 and 1, got 2"},
		"time":      {"host:\n  times_us:\n    default:\n      launch_floor: {moe: -1}", "x.yaml:4: host.times_us.default.launch_floor.moe: must be at least 0, got -1"},
		"times":     {"host: {times_us: 3}", "x.yaml:1: host.times_us: unknown key; keys: "},
		"term":      {"host: {times_us: {default: {per_stp: 3}}}", "x.yaml:1: host.times_us.default.per_stp: unknown key; nearest: per_step"},
		"tiers":     {"tiers: {below_gib: 3}", "x.yaml:1: tiers.below_gib: unknown key; keys: "},
		"tier":      {"tiers:\n  - {below_gib: 3}\n  - {below: 3}", "x.yaml:3: tiers[1].below: unknown key"},
		"share":     {"share_rule_mib: {fixd: 3}", "x.yaml:1: share_rule_mib.fixd: unknown key; nearest: fixed"},
		"option":    {"options:\n  token_budgt: --x", "x.yaml:2: options.token_budgt: unknown key; nearest: token_budget"},
		"missing":   {"name: x", "name, title and source are required\n"},
		"all":       {"name: x", "\nblock_tokens must be at least 1, got 0\n"},
		"words":     {"name: x", "policy must be one of decode-first, prefill-first, in-flight, got \n"},
		"host":      {"name: x", "host.times_us.default is missing"},
		"alias":     {"name: &a x\ntitle: *a", "x.yaml:2: title: must be a single value"},
		"a problem": {"nme: x\ntoken_budget: many", "x.yaml:1: nme: unknown key; nearest: name\nx.yaml:2: token_budget: must be a whole number"},
	} {
		if _, err := parse("x.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, ranges := range [][]Range{
		{{"0.2", "0.3"}},
		{{"0.2", ""}, {"0.1", "0.3"}},
		{{"0.2", ""}, {"0.3", "0.2"}},
		{{"x", ""}},
	} {
		if checkRanges(ranges) == nil {
			t.Errorf("%v is accepted", ranges)
		}
	}
}

// FuzzParse: no text makes the reader panic, and what it accepts is what it would
// write.
func FuzzParse(f *testing.F) {
	for _, text := range []string{small, small + "\n---\nuntil: 1\nhost: {exposed: 0.5}\n", "name: [", "tiers: [{a: 1}]", "options: {policy: x}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := parse("x.yaml", text)
		if err != nil {
			return
		}
		newest := all[0]
		again, err := parse("x.yaml", asFile(t, newest))
		if err != nil {
			t.Fatal(err)
		}
		if diff := same(newest, again[0]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
