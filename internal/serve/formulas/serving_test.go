package formulas

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// TestShapes: which steps are asked for a prompt of 200 and an answer of 64.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		load Load
		want []call
	}{
		{"plain", Load{}, []call{{figures.Prefill, 1, 200, 200}, {figures.Decode, 1, 1, 233}}},
		{"MTP 2", Load{DecodeQuery: 3}, []call{{figures.Prefill, 1, 200, 200}, {figures.Decode, 1, 3, 235}}},
		{"half cached", Load{HitRate: 0.5}, []call{{figures.Prefill, 1, 100, 100}, {figures.Decode, 1, 1, 233}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.load.Input, c.load.Output, c.load.Budget = 200, 64, 800
			l := plain(c.load)
			e := fake{prefill: always(1), decode: always(1)}
			Aggregated(&e, &l, 1)
			wantCalls(t, c.want, e.calls)
			e.calls = nil
			DecodeOnly(&e, &l, 1)
			wantCalls(t, c.want[1:], e.calls)
		})
	}
}

// TestShapesOfDistribution: decode stands at the mean of what is computed.
func TestShapesOfDistribution(t *testing.T) {
	d := &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 500, Weight: 0.6}, {Min: 500, Max: 1500, Weight: 0.4}}}
	for _, c := range []struct {
		hit  float64
		want int
	}{{0, 550 + 32 + 1}, {0.5, 275 + 32 + 1}} {
		l := plain(Load{Distribution: d, HitRate: c.hit, Output: 64, Budget: 10_000})
		if got := l.DecodeSeq(); got != c.want {
			t.Errorf("hit rate %g: want %d, got %d", c.hit, c.want, got)
		}
	}
}

func TestChunked(t *testing.T) {
	for _, c := range []struct {
		load Load
		want bool
	}{
		{Load{Input: 100, Budget: 100}, false},
		{Load{Input: 101, Budget: 100}, true},
		{Load{Input: 200, Budget: 100, HitRate: 0.5}, false},
		{Load{Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 500, Weight: 1}}}, Budget: 100}, false},
	} {
		if got := c.load.Chunked(); got != c.want {
			t.Errorf("%+v: want %t, got %t", c.load, c.want, got)
		}
	}
}

// TestFuller: the first of the fullest steps stays.
func TestFuller(t *testing.T) {
	var o figures.Outcome
	for _, u := range []memory.Use{
		{Weights: 1, Available: 8}, {Weights: 2, Available: 6}, {Weights: 3, Available: 7}, {Weights: 4, Available: 6},
	} {
		fuller(&o, &Step{Use: u})
	}
	if want := (memory.Use{Weights: 2, Available: 6}); o.Use != want {
		t.Errorf("want %+v, got %+v", want, o.Use)
	}
}
