package plan

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// drafted is a small plan of an 8B model, which has a head, with one engine and mode and a short TPOT.
func drafted(t *testing.T, how string) *Response {
	t.Helper()
	r := Request{
		Model: "meta-llama/Llama-3.1-8B-Instruct", Systems: []string{"h200_sxm"}, Devices: 2, Draft: how, NoChanges: true, Limits: workload.Limits{TPOT: 4 * units.Millisecond},
		Workloads: []session.Workload{{Input: 500, Output: 100}}, Engines: []string{"vllm"}, Modes: []experiment.ServingMode{experiment.Aggregated},
	}
	return mustPlan(t, r)
}

// TestDraftsAreSearched: a larger space never loses, and what is chosen says which drafts, how often they are kept and up to which
// load they pay.
func TestDraftsAreSearched(t *testing.T) {
	t.Parallel()
	none, two, all := drafted(t, ""), drafted(t, "eagle3:2"), drafted(t, "auto")
	best := all.Contenders[0].TokensPerGPU.Value
	for _, other := range []*Response{none, two} {
		if x := other.Contenders[0]; x.Meets && x.TokensPerGPU.Value > best {
			t.Errorf("auto carries %g, a part of its space %g", best, x.TokensPerGPU.Value)
		}
	}
	if none.Drafting != nil || strings.Contains(none.Contenders[0].Deployment, "draft") {
		t.Error("drafts nobody asked for")
	}
	d, p := two.Drafting, two.Contenders[0].Run.Pools[0]
	if d == nil || d.Method != draft.EAGLE3 || d.Tokens != 2 || d.Head == "" || len(d.Kept) != 2 || d.Source == "" || p.MTP != 2 || p.Drafter != draft.EAGLE3 {
		t.Fatalf("drafting %+v of %+v", d, p)
	}
	if len(d.Loads) < 2 || d.Loads[0].Gain <= 1 {
		t.Errorf("drafts do not pay for one request: %+v", d.Loads)
	}
	for i, l := range d.Loads {
		if d.OffAbove != nil && (l.Gain > 1) != (l.Concurrency <= *d.OffAbove) && i < len(d.Loads)-1 {
			t.Errorf("off above %d, but a gain of %g with %d in flight", *d.OffAbove, l.Gain, l.Concurrency)
		}
	}
	if !strings.Contains(two.Answer.Reason, "Drafts 2 tokens per step with EAGLE-3") || !strings.Contains(two.Contenders[0].Deployment, "2 EAGLE-3 drafts") {
		t.Errorf("%s; %s", two.Contenders[0].Deployment, two.Answer.Reason)
	}
}

// TestDraftWords: what is no way to draft, or none of the model, is refused by name.
func TestDraftWords(t *testing.T) {
	for word, want := range map[string]string{
		"mpt": "nearest: mtp", "mtp:0": "between 1 and 9", "auto:2": "such as mtp:2", "mtp": "has no MTP modules", "eagle3": "no EAGLE-3 head",
	} {
		_, _, err := Check(&session.Session{}, Request{
			Model: "Qwen/Qwen3-32B", Systems: []string{"h200_sxm"}, Devices: 2, Draft: word, Workloads: []session.Workload{{Input: 500, Output: 100}},
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
}
