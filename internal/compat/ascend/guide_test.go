package ascend_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// all searches a dimension over its default sizes.
var all = []int{}

// brief is the sizes of a layout that a test looks at.
func brief(c search.Candidate) string {
	l := c.Layout
	return fmt.Sprintf("tp%d dp%d ep%d moetp%d moedp%d mtp%d dcp%d", l.TP, l.DP, l.EP, l.MoETP, l.MoEDP, c.MTP, l.DCP)
}

// TestSpaceCounts: how many layouts the vendor's rules leave.
func TestSpaceCounts(t *testing.T) {
	for _, c := range []struct {
		name    string
		space   search.Space
		devices int
		experts bool
		want    int
	}{
		{"nothing asked", search.Space{}, 8, true, 4},
		{"tp", search.Space{TP: all}, 8, true, 4},
		{"tp, dense", search.Space{TP: all}, 8, false, 4},
		{"tp, ep", search.Space{TP: all, EP: all}, 8, true, 16},
		{"tp, ep, moe-dp", search.Space{TP: all, EP: all, MoEDP: all}, 8, true, 40},
		{"tp, ep, moe-dp of 4", search.Space{TP: all, EP: all, MoEDP: all}, 4, true, 18},
		{"tp, ep, moe-dp of 16", search.Space{TP: all, EP: all, MoEDP: all}, 16, true, 75},
		{"tp, dcp", search.Space{TP: all, DCP: all}, 8, true, 10},
		{"only dcp counts as nothing", search.Space{DCP: all}, 8, true, 10},
		{"three devices", search.Space{TP: all}, 3, true, 1},
		// A dense model has no experts to cut: no row is repeated.
		{"tp, ep, moe-dp, dense", search.Space{TP: all, EP: all, MoEDP: all}, 8, false, 4},
		{"tp, ep, mtp", search.Space{TP: []int{1, 2}, EP: []int{1, 2}, MTP: []int{1, 2, 3}}, 8, true, 12},
		{"tp, pp", search.Space{TP: all, PP: all}, 8, false, 10},
		{"nothing divides", search.Space{TP: []int{3}}, 8, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := len(c.space.Resolve(c.devices).Enumerate(c.devices, c.experts)); got != c.want {
				t.Errorf("want %d, got %d", c.want, got)
			}
		})
	}
}

func TestSpaceEnumerate(t *testing.T) {
	for _, c := range []struct {
		name    string
		space   search.Space
		devices int
		want    []string
	}{
		{"six devices", search.Space{TP: all}, 6, []string{
			"tp1 dp6 ep6 moetp1 moedp1 mtp0 dcp1",
			"tp2 dp3 ep6 moetp1 moedp1 mtp0 dcp1",
		}},
		{"ep only", search.Space{EP: all}, 8, []string{
			"tp8 dp1 ep1 moetp8 moedp1 mtp0 dcp1",
			"tp8 dp1 ep2 moetp4 moedp1 mtp0 dcp1",
			"tp8 dp1 ep4 moetp2 moedp1 mtp0 dcp1",
			"tp8 dp1 ep8 moetp1 moedp1 mtp0 dcp1",
		}},
		{"given tp", search.Space{TP: []int{2, 4}}, 4, []string{
			"tp2 dp2 ep4 moetp1 moedp1 mtp0 dcp1",
			"tp4 dp1 ep4 moetp1 moedp1 mtp0 dcp1",
		}},
		{"dcp divides tp", search.Space{TP: []int{4}, DCP: []int{1, 2, 4, 8}}, 4, []string{
			"tp4 dp1 ep4 moetp1 moedp1 mtp0 dcp1",
			"tp4 dp1 ep4 moetp1 moedp1 mtp0 dcp2",
			"tp4 dp1 ep4 moetp1 moedp1 mtp0 dcp4",
		}},
		{"twice and nonsense", search.Space{TP: []int{4, 4, 0, -2, 2}}, 4, []string{
			"tp4 dp1 ep4 moetp1 moedp1 mtp0 dcp1",
			"tp2 dp2 ep4 moetp1 moedp1 mtp0 dcp1",
		}},
		{"order", search.Space{TP: []int{2, 1}, EP: []int{2}, MoEDP: []int{1, 2}, MTP: []int{1, 0}}, 4, []string{
			"tp2 dp2 ep2 moetp2 moedp1 mtp1 dcp1",
			"tp2 dp2 ep2 moetp2 moedp1 mtp0 dcp1",
			"tp2 dp2 ep2 moetp1 moedp2 mtp1 dcp1",
			"tp2 dp2 ep2 moetp1 moedp2 mtp0 dcp1",
			"tp1 dp4 ep2 moetp2 moedp1 mtp1 dcp1",
			"tp1 dp4 ep2 moetp2 moedp1 mtp0 dcp1",
			"tp1 dp4 ep2 moetp1 moedp2 mtp1 dcp1",
			"tp1 dp4 ep2 moetp1 moedp2 mtp0 dcp1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, x := range c.space.Resolve(c.devices).Enumerate(c.devices, true) {
				got = append(got, brief(x))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestSpaceLaws: every candidate uses all devices, none comes twice, and
// nothing that divides is left out.
func TestSpaceLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 48).Draw(t, "devices")
		experts := rapid.Bool().Draw(t, "experts")
		dimension := func(name string) []int {
			return rapid.OneOf(
				rapid.Just[[]int](nil), rapid.Just(all), rapid.SliceOfN(rapid.IntRange(1, 16), 1, 4),
			).Draw(t, name)
		}
		s := search.Space{
			TP: dimension("TP"), EP: dimension("EP"), MoEDP: dimension("MoE-DP"), PP: dimension("PP"), DCP: dimension("DCP"),
		}.Resolve(n)
		seen := map[search.Candidate]bool{}
		for _, c := range s.Enumerate(n, experts) {
			l := c.Layout
			if seen[c] {
				t.Errorf("%+v comes twice", l)
			}
			seen[c] = true
			if l.Devices != n || l.TP*l.PP*l.DP != n || l.TP%l.DCP != 0 || experts && l.EP*l.MoETP*l.MoEDP*l.PP != n {
				t.Errorf("%+v does not use %d devices", l, n)
			}
		}
		want := 0
		for _, tp := range s.TP {
			for _, pp := range s.PP {
				for _, dcp := range s.DCP {
					if n%(tp*pp) != 0 || tp%dcp != 0 {
						continue
					}
					if !experts {
						want++
						continue
					}
					for _, ep := range s.EP {
						for _, copies := range s.MoEDP {
							if n%(ep*copies*pp) == 0 {
								want++
							}
						}
					}
				}
			}
		}
		if len(seen) != want {
			t.Errorf("want %d candidates, got %d", want, len(seen))
		}
	})
}

func TestLabels(t *testing.T) {
	dense := stated(t, "Qwen/Qwen3-32B", "TEST_DEVICE", graph.Actions{})
	moe := stated(t, "Qwen/Qwen3-30B-A3B", "TEST_DEVICE", graph.Actions{})
	draft := dense
	draft.Suffix = " | DFlash=16/acc=5"
	layout := parallel.Layout{Devices: 8, TP: 8, DP: 1, PP: 1, EP: 4, MoETP: 2, MoEDP: 1, DCP: 1}
	cut := layout
	cut.DCP = 4
	for _, c := range []struct {
		problem   ascend.Formulas
		candidate search.Candidate
		want      string
	}{
		{dense, search.Candidate{Layout: layout}, "TP=8 | PP=1 | DP=1"},
		{dense, search.Candidate{Layout: cut}, "TP=8 | PP=1 | DP=1 | DCP=4"},
		{dense, search.Candidate{Layout: parallel.Layout{TP: 1, PP: 1, DP: 4, DCP: 1}, MTP: 1}, "TP=1 | PP=1 | DP=4 | MTP=1"},
		{moe, search.Candidate{Layout: layout}, "TP=8 | PP=1 | DP=1 | EP=4 | MOE-TP=2 | MOE-DP=1"},
		{moe, search.Candidate{Layout: cut, MTP: 2}, "TP=8 | PP=1 | DP=1 | EP=4 | MOE-TP=2 | MOE-DP=1 | MTP=2 | DCP=4"},
		{draft, search.Candidate{Layout: cut}, "TP=8 | PP=1 | DP=1 | DCP=4 | DFlash=16/acc=5"},
	} {
		if got := c.problem.Label(c.candidate); got != c.want {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}
