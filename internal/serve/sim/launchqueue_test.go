package sim_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// launched generates for 5 ms a step; a step with prompts takes 50 ms alone and 10 ms of the device, and the host launches it
// in the time given, 2 ms before it can end.
type launched units.Seconds

func (launched) Step(b server.Batch) units.Seconds {
	if b.PrefillRequests > 0 {
		return 0.05
	}
	return 0.005
}

func (launched) Decode(_ int, _, _ float64, steps int) units.Seconds {
	return 0.005 * units.Seconds(steps)
}

func (l launched) Launch(b server.Batch) (units.Seconds, server.Launch) {
	return l.Step(b), server.Launch{Device: 0.01, Host: units.Seconds(l), Rest: 0.002}
}

// TestLaunchAhead: a step with prompts waits for its launches only as far as these outlast the step before and its own kernels,
// and never longer than alone. Its launches begin with the step before: here at 205 ms for a step from 210 ms on.
func TestLaunchAhead(t *testing.T) {
	for _, c := range []struct {
		what          string
		host          launched
		off           bool
		ttft, latency units.Seconds // of the second and of the first request
	}{
		{"hidden", 0.008, false, 0.22 - 0.2025, 0.55},
		{"longer than the device", 0.03, false, 0.237 - 0.2025, 0.567},
		{"as long as alone", 0.1, false, 0.26 - 0.2025, 0.59},
		{"not ahead", 0.008, true, 0.26 - 0.2025, 0.59},
	} {
		e := roomy(server.DecodeFirst)
		e.Overlapped, e.LaunchAhead = true, !c.off
		r := simulate(t, &sim.Config{
			Client:  arrivals(ask(0, 10, 100), ask(0.2025, 10, 1)),
			Workers: sim.Pool{Engine: e, Stepper: c.host},
		})
		times(t, c.what, r, 0.05, c.ttft)
		if got := r.Records[0].Latency; got < c.latency-1e-9 || got > c.latency+1e-9 {
			t.Errorf("%s: the first request takes %v, want %v", c.what, got, c.latency)
		}
	}
}

// TestOutputsAfterLaunches: a host sees what came in while it launched, and hands out the tokens of a step when it has launched
// the next. The third request comes while the second's step is launched, 205 to 235 ms; its own is launched from 235 to 265 ms.
func TestOutputsAfterLaunches(t *testing.T) {
	e := roomy(server.DecodeFirst)
	e.Overlapped, e.LaunchAhead = true, true
	r := simulate(t, &sim.Config{
		Client:  arrivals(ask(0, 10, 100), ask(0.2025, 10, 50), ask(0.22, 10, 50)),
		Workers: sim.Pool{Engine: e, Stepper: launched(0.03)},
	})
	times(t, "late", r, 0.05, 0.265-0.2025, 0.267-0.22)

	r = simulate(t, &sim.Config{
		Client:  arrivals(ask(0, 10, 10), ask(1, 10, 10)),
		Workers: sim.Pool{Engine: e, Stepper: launched(0.03)},
	})
	for i := range r.Records {
		if got := r.Records[i].Latency; got < 0.095-1e-9 || got > 0.095+1e-9 {
			t.Errorf("alone, request %d takes %v, want 95 ms", i, got)
		}
	}
}
