package optimize_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// TestHelps: where a model does not fit, every change that is named makes it fit, and no smaller step does. Its request gives the deployment
// that is named.
func TestHelps(t *testing.T) {
	t.Parallel()
	const big = "deepseek-ai/DeepSeek-V3.1"
	for _, c := range []struct {
		name string
		q    optimize.Request
		want []string
	}{
		{"formulas", optimize.Request{Model: big, NumDevices: 8}, []string{"16 devices instead of 8", "W4A8_DYNAMIC linear layers", "ATLAS_350_425T_112G instead of TEST_DEVICE"}},
		{"simulation", optimize.Request{Model: "Qwen/Qwen3-32B", Devices: []string{"l40s"}}, []string{"2 devices instead of 1", "FP8 linear layers", "a100_pcie instead of l40s"}},
		{"a size", optimize.Request{Model: "Qwen/Qwen3-32B", Devices: []string{"ATLAS_800_A2_280T_32G_PCIE"}, NumDevices: 2, Space: search.Space{TP: []int{1}}}, []string{
			"all TP sizes", "4 devices instead of 2, all TP sizes", "W4A8_DYNAMIC linear layers", "ATLAS_800_A2_280T_64G instead of ATLAS_800_A2_280T_32G_PCIE",
		}},
		{"a limit beyond reach", optimize.Request{Model: big, NumDevices: 8, Limits: workload.Limits{TPOT: units.Millisecond}}, []string{"16 devices instead of 8", "W4A8_DYNAMIC linear layers", "ATLAS_350_425T_112G instead of TEST_DEVICE"}},
		{"one phase of two", optimize.Request{Model: big, NumDevices: 64, PDRatio: true, PrefillDevices: 8, DecodeDevices: 32}, []string{
			"16 devices per prefill instance instead of 8", "W4A8_DYNAMIC linear layers", // the other system does not connect 32
		}},
		{"a reserve", optimize.Request{Model: "Qwen/Qwen3-8B", ReservedGiB: new(60.0)}, []string{
			"10 GiB reserved instead of 60", "4 devices instead of 1", "ATLAS_350_425T_84G instead of TEST_DEVICE",
		}},
		{"it fits", optimize.Request{Model: "Qwen/Qwen3-8B"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Input, c.q.Output, c.q.BatchRange = 1000, 20, []int{4}
			s := &run(t, c.q).Devices[0].Searches[0]
			var got []string
			for i := range s.Helps {
				h := &s.Helps[i]
				got = append(got, h.What)
				again := &run(t, h.Request).Devices[0].Searches[0]
				switch {
				case h.Feasible != nil:
					if again.Nearest == nil || again.Nearest.Label != h.Label || *h.Feasible.TPOT != *again.Feasible.TPOT {
						t.Errorf("%s: %s, but the search has %+v", h.What, h.Label, again.Nearest)
					}
				case again.Best == nil || again.Best.Label != h.Label || again.Best.Best.Throughput != h.Throughput:
					t.Errorf("%s: %s, but the search has %+v", h.What, h.Label, again.Best)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

// TestNoHelp: limits that are missed are no lack of memory.
func TestNoHelp(t *testing.T) {
	t.Parallel()
	q := optimize.Request{Model: "Qwen/Qwen3-8B", Input: 1000, Output: 20, Limits: workload.Limits{TPOT: units.Millisecond}}
	r, err := optimize.Run(t.Context(), new(session.Session), q)
	if err != nil || r.Devices[0].Searches[0].Helps != nil || r.Devices[0].Searches[0].Feasible == nil {
		t.Errorf("%+v, %v", r.Devices[0].Searches[0].Helps, err)
	}
}
