package traffic

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// TestMix: kinds come in their shares, each with its lengths; lengths of requests stay
// together; one kind alone draws what its lengths would draw without a mix.
func TestMix(t *testing.T) {
	like := []workload.Request{{Input: 7, Output: 70}, {Input: 9, Output: 90}}
	c := ClosedLoop{Requests: 20_000, Concurrency: 10, Mix: Mix{
		{Share: 3, Input: Lengths{Tokens: 1000}, Output: Lengths{Tokens: 100}},
		{Share: 1, Like: like},
	}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	counts := map[[3]int]int{}
	for _, q := range c.load(1).requests {
		counts[[3]int{int(q.Kind), q.Input, q.Output}]++
	}
	for key, want := range map[[3]int]float64{{0, 1000, 100}: 0.75, {1, 7, 70}: 0.125, {1, 9, 90}: 0.125} {
		if got := float64(counts[key]) / 20_000; math.Abs(got-want) > 0.015 {
			t.Errorf("%v: want a share of %g, got %g", key, want, got)
		}
		delete(counts, key)
	}
	if len(counts) > 0 {
		t.Errorf("other requests: %v", counts)
	}

	plain := ClosedLoop{Requests: 100, Concurrency: 10, Input: Lengths{Tokens: 1000, Low: 0.5}, Output: Lengths{Tokens: 500, Low: 0.1}}
	mixed := ClosedLoop{Requests: 100, Concurrency: 10, Mix: Mix{{Share: 2, Input: plain.Input, Output: plain.Output}}}
	a, b := plain.load(3).requests, mixed.load(3).requests
	for i := range a {
		if a[i].Input != b[i].Input || a[i].Output != b[i].Output {
			t.Fatalf("request %d: %d and %d tokens, in a mix of one kind %d and %d", i, a[i].Input, a[i].Output, b[i].Input, b[i].Output)
		}
	}
	for name, m := range map[string]Mix{
		"no share": {{Input: plain.Input, Output: plain.Output}}, "no lengths": {{Share: 1}}, "infinite": {{Share: math.Inf(1), Like: like}},
		"empty": {}, "no tokens": {{Share: 1, Like: []workload.Request{{Input: 1}}}},
	} {
		c.Mix = m
		if c.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
