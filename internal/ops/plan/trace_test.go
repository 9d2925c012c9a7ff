package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// talksTrace is a trace of people who ask five times each, taking turns; with the hashes of their prompts or without.
func talksTrace(hashes bool) string {
	const people, turns, blocks, blockTokens = 40, 5, 4, 512
	var out strings.Builder
	id := 0
	prompts := make([][]string, people)
	for turn := range turns {
		for p := range people {
			for range blocks {
				prompts[p] = append(prompts[p], fmt.Sprint(id))
				id++
			}
			fmt.Fprintf(&out, `{"timestamp": %d, "input_length": %d, "output_length": 20`, 100*(turn*people+p), len(prompts[p])*blockTokens)
			if hashes {
				fmt.Fprintf(&out, `, "hash_ids": [%s]`, strings.Join(prompts[p], ", "))
			}
			out.WriteString("}\n")
		}
	}
	return out.String()
}

// TestPlanRecallsTraces: a plan for a trace with block hashes finds prompts in caches, as many as there are at most, and so
// carries more than for the same lengths.
func TestPlanRecallsTraces(t *testing.T) {
	w := (&session.Session{}).Over(func(name string) ([]byte, bool) { return []byte(talksTrace(name == "hashes.jsonl")), true })
	r := smallPlan()
	r.Rate, r.Devices, r.Engines, r.Modes = 8, 0, []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	r.Limits = workload.Limits{TTFT: 2, TPOT: 0.05}
	var found [2]*Contender
	for i, name := range []string{"lengths.jsonl", "hashes.jsonl"} {
		r.Workloads = []session.Workload{{Trace: name}}
		p, err := Run(t.Context(), w, r)
		if err != nil {
			t.Fatal(err)
		}
		found[i] = &p.Contenders[0]
		if has := strings.Contains(p.Answer.Sentence, "The prefix cache holds "); has != (i == 1) {
			t.Errorf("%s: %s", name, p.Answer.Sentence)
		}
		if i == 1 && !strings.Contains(p.Workloads[0].Source, "67 % of prompt tokens repeat") {
			t.Errorf("source: %q", p.Workloads[0].Source)
		}
	}
	if c := found[0]; c.CachedShare != 0 {
		t.Errorf("lengths alone: want nothing found in caches, got %.2f", c.CachedShare)
	}
	if c := found[1]; c.CachedShare < 0.3 || c.CachedShare > 0.68 {
		t.Errorf("want between a third and two thirds of the prompts found in caches, got %.2f", c.CachedShare)
	}
	per := func(c *Contender) float64 { return c.Found.Capacity.Throughput / float64(c.Found.Devices()) }
	if per(found[1]) < 1.2*per(found[0]) {
		t.Errorf("want a fifth more per device with prompts in caches, got %.0f and %.0f tokens/s", per(found[1]), per(found[0]))
	}
	r.Workloads = []session.Workload{{Trace: "hashes.jsonl", Prefix: 100}}
	if _, err := Run(t.Context(), w, r); err == nil || !strings.Contains(err.Error(), "already give the shared prefixes") {
		t.Errorf("with a prefix: %v", err)
	}
}
