package server

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// TestThrottled: steps that compute take longer the more of the time they take, as measured on an H200 (products of 6 ms, 0.19 longer
// without anything else), and not with pauses as long as half of them between them.
func TestThrottled(t *testing.T) {
	t.Parallel()
	const step = units.Seconds(0.006)
	l := Launch{Device: step, Compute: step, Throttled: 0.2 * step}
	slower := func(read, pause units.Seconds) float64 {
		var p power
		now, longer := units.Seconds(0), units.Seconds(0)
		for range 1000 {
			longer = p.throttled(&l, now, now+pause)
			now += pause + step + longer
			p.at = now
			now += read
		}
		return float64(longer / step)
	}
	for _, c := range []struct {
		read, pause units.Seconds
		want        float64
	}{
		{0, 0, 0.19},
		{step / 9, 0, 0.19},
		{step / 2, 0, 0.155},
		{step, 0, 0.116},
		{2 * step, 0, 0.067},
		{4 * step, 0, 0.027},
		{9 * step, 0, 0.01},
		{0, step / 2, 0.01},
		{0, step, 0},
		{0, 4 * step, 0},
	} {
		if got := slower(c.read, c.pause); math.Abs(got-c.want) > 0.035 {
			t.Errorf("%v of reading and %v of pauses between steps of %v: %.3f longer, want %.3f", c.read, c.pause, step, got, c.want)
		}
	}
	if got := slower(0, 0); got > 0.2 {
		t.Errorf("%.3f longer", got)
	}
}
