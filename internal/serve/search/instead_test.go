package search

import (
	"context"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// TestInstead: another worker replaces the one that was found if and only if it carries
// more within the limits; one whose bound is too low, or that only breaks the limits, is
// not searched.
func TestInstead(t *testing.T) {
	worker := func(step float64) Worker {
		return Worker{Layout: parallel.Layout{Devices: 1, TP: 1, DP: 1}, MaxBatch: 64, Pool: sim.Pool{
			Replicas: 1, Engine: sim.Engine{MaxSequences: 64, TokenBudget: 8192},
			Stepper: sim.StepFunc(func(sim.Batch) units.Seconds { return units.Seconds(step) }),
		}}
	}
	for _, x := range []struct {
		name   string
		bound  float64 // time of a step in its bound
		step   float64 // and in simulation
		within bool
		better bool
		most   int // simulations of it
	}{
		{"better", 0.005, 0.008, true, true, 20},
		{"worse", 0.005, 0.02, true, false, 2},
		{"over the limits", 0.005, 0.008, false, false, 2},
		{"hopeless", 0.02, 0.02, true, false, 0},
	} {
		tried := 0
		s := &Units{Decode: []Worker{worker(0.01)}, Packing: Packing{Devices: 1}, Input: 10, Output: 100, Top: 1, Workers: 1}
		s.Simulate = func(_ context.Context, u Unit, requests int, _ bool) (formulas.Outcome, Verdict, error) {
			step, v := 0.01, Fits
			if u.Decode == 1 {
				tried++
				if step = x.step; !x.within {
					v = OverTPOT
				}
			}
			o := formulas.Outcome{Batch: requests, Concurrency: requests, TPOT: units.Seconds(step), TTFT: 0.01, Throughput: float64(requests) / step}
			return o, v, nil
		}
		found, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Instead(t.Context(), found[0], s.Add(worker(x.bound)))
		if err != nil {
			t.Fatal(err)
		}
		if better := got.Unit.Decode == 1; better != x.better || tried > x.most || !got.OK || got.Best.Throughput < found[0].Best.Throughput {
			t.Errorf("%s: %+v after %d simulations", x.name, got, tried)
		}
	}
}
