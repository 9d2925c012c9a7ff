package search_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// drawWorkers are workers with step times that grow with the batch.
func drawWorkers(t *rapid.T, name string, largest int) []search.Worker {
	var out []search.Worker
	for _, devices := range rapid.SliceOfNDistinct(rapid.SampledFrom([]int{1, 2, 3, 4}), 1, 3, rapid.ID).Draw(t, name) {
		fixed := rapid.Float64Range(0.001, 0.02).Draw(t, name+" fixed")
		each := rapid.Float64Range(1e-6, 5e-4).Draw(t, name+" each") / float64(devices)
		token := rapid.Float64Range(1e-7, 2e-5).Draw(t, name+" token") / float64(devices)
		out = append(out, search.Worker{
			Layout: parallel.Layout{Devices: devices, TP: devices, DP: 1}, MaxBatch: largest,
			Pool: sim.Pool{
				Replicas: 1, Engine: sim.Engine{MaxSequences: largest, TokenBudget: 8192},
				Stepper: sim.StepFunc(func(b sim.Batch) units.Seconds {
					return units.Seconds(fixed + each*float64(b.Decode) + token*float64(b.PrefillTokens))
				}),
			},
		})
	}
	return out
}

// queue is a deployment without chance: prompts and tokens flow at the rate of the
// slower pool, and what waits for the slower one adds to TTFT.
func queue(s *search.Units, p, d *search.Worker, u search.Unit, requests int) formulas.Outcome {
	prompt := p.Pool.Stepper.Step(sim.Batch{PrefillRequests: 1, PrefillTokens: s.Input})
	batch := parallel.Fullest(requests, u.Y)
	few, many := d.Pool.Stepper.Step(sim.Batch{Decode: requests / u.Y}), d.Pool.Stepper.Step(sim.Batch{Decode: requests/u.Y + 1})
	token := few + (many-few)*units.Seconds(requests%u.Y)/units.Seconds(u.Y) // some workers have one more than others
	if requests < u.Y {
		token = d.Pool.Stepper.Step(sim.Batch{Decode: 1})
	}
	rate := min(float64(u.X)/float64(prompt), float64(requests)/(float64(prompt)+float64(token)*float64(s.Output-1)))
	burst := float64(requests) / float64(u.X) / 2 / sim.BenchmarkRequests // of all requests waits so many prompts
	return formulas.Outcome{
		Batch: batch, Concurrency: requests * u.Copies, TTFT: prompt * units.Seconds(1+burst), TPOT: token,
		Throughput: rate * float64(s.Output*u.Copies),
	}
}

// TestUnitsAgainstBruteForce: on small random spaces no unit and load is better than
// what is found. That all units are tried is for TestPacking.
func TestUnitsAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &search.Units{
			Prefill: drawWorkers(t, "prefill", 4), Decode: drawWorkers(t, "decode", 24),
			Input: rapid.IntRange(10, 4000).Draw(t, "input"), Output: rapid.IntRange(2, 500).Draw(t, "output"),
			Packing: search.Packing{
				Devices: rapid.IntRange(2, 16).Draw(t, "devices"), MaxDevices: rapid.IntRange(0, 12).Draw(t, "largest"),
				MaxPrefill: rapid.IntRange(1, 6).Draw(t, "x"), MaxDecode: rapid.IntRange(1, 6).Draw(t, "y"),
			},
			Top: rapid.IntRange(1, 3).Draw(t, "top"), Workers: 1,
		}
		if rapid.Bool().Draw(t, "sizes") {
			s.Packing.Sizes = []int{2, 4, 5, 8, 12}
		}
		ttft := units.Seconds(rapid.Float64Range(0.01, 0.3).Draw(t, "ttft"))
		tpot := units.Seconds(rapid.Float64Range(0.002, 0.03).Draw(t, "tpot"))
		s.Plausible = func(_ search.Unit, _ int, a, b units.Seconds) bool { return a <= ttft && b <= tpot }
		judge := func(o *formulas.Outcome) search.Verdict {
			switch {
			case o.TPOT > tpot:
				return search.OverTPOT
			case o.TTFT > ttft:
				return search.OverTTFT
			}
			return search.Fits
		}
		simulated := 0
		s.Simulate = func(_ context.Context, u search.Unit, requests int, _ bool) (formulas.Outcome, search.Verdict, error) {
			simulated++
			o := queue(s, &s.Prefill[u.Prefill], &s.Decode[u.Decode], u, requests)
			return o, judge(&o), nil
		}
		found, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		most := 0.0
		for p := range s.Prefill {
			for d := range s.Decode {
				for _, u := range s.Packing.List(s.Prefill[p].Layout.Devices, s.Decode[d].Layout.Devices) {
					u.Prefill, u.Decode = p, d
					for n := 1; n <= u.Y*s.Decode[d].MaxBatch; n++ {
						if o := queue(s, &s.Prefill[p], &s.Decode[d], u, n); judge(&o) == search.Fits {
							most = math.Max(most, o.Throughput)
						}
					}
				}
			}
		}
		got := 0.0
		if len(found) > 0 && found[0].OK {
			got = found[0].Best.Throughput
		}
		if got < most*(1-1./16) || got > most*(1+1e-9) { // loads are tried in steps of a sixteenth
			t.Fatalf("found %g after %d simulations, the best is %g", got, simulated, most)
		}
	})
}

// TestPacking: every unit fits, and no combination of workers that fits has more of
// both.
func TestPacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := search.Packing{Devices: rapid.IntRange(1, 40).Draw(t, "devices"), MaxPrefill: rapid.IntRange(0, 9).Draw(t, "x"), MaxDecode: rapid.IntRange(0, 9).Draw(t, "y")}
		p, d := rapid.IntRange(1, 8).Draw(t, "p"), rapid.IntRange(1, 8).Draw(t, "d")
		got := k.List(p, d)
		for x := 1; x*p+d <= k.Devices && (k.MaxPrefill == 0 || x <= k.MaxPrefill); x++ {
			for y := 1; x*p+y*d <= k.Devices && (k.MaxDecode == 0 || y <= k.MaxDecode); y++ {
				n := k.Devices / (x*p + y*d)
				if !slices.ContainsFunc(got, func(u search.Unit) bool { return u.X*u.Copies >= x*n && u.Y*u.Copies >= y*n }) {
					t.Fatalf("%d copies of %dP%dD are not in %v, nor is anything larger", n, x, y, got)
				}
			}
		}
		for _, u := range got {
			if u.Copies*(u.X*p+u.Y*d) > k.Devices || u.Copies < 1 {
				t.Fatalf("%+v does not fit", u)
			}
		}
	})
}
