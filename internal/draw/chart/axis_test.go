package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{0, 2000, "0 500 1000 1500 2000"},
		{0, 13500, "0 2k 4k 6k 8k 10k 12k"},
		{-1.5e6, 1.5e6, "-1.5M -1M -0.5M 0 0.5M 1M 1.5M"},
		{1000000, 1000010, "1000000 1000002 1000004 1000006 1000008 1000010"},
		{0.0001, 0.0003, "0.0001 0.00015 0.0002 0.00025 0.0003"},
		{2e-9, 4e-9, "2e-09 2.5e-09 3e-09 3.5e-09 4e-09"},
	} {
		var got []string
		for _, tick := range ticks(scatter.Span{Lo: c.lo, Hi: c.hi}) {
			got = append(got, tick.label)
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%g to %g (-want +got):\n%s", c.lo, c.hi, d)
		}
	}
}
