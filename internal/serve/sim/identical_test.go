package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// TestReplicasAlike: where one replica stands for all, simulating all gives the same.
func TestReplicasAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "replicas")
		each := rapid.IntRange(1, 9).Draw(t, "concurrency of each")
		c := &Config{
			Client: traffic.ClosedLoop{
				Concurrency: n * each, Requests: n * each * rapid.IntRange(1, 6).Draw(t, "rounds"),
				Input: traffic.Lengths{Tokens: rapid.IntRange(1, 150).Draw(t, "input")}, Output: traffic.Lengths{Tokens: rapid.IntRange(1, 40).Draw(t, "output"), Low: 1},
				Think: units.Seconds(rapid.SampledFrom([]float64{0, 0.25}).Draw(t, "think")),
			},
			Workers: Pool{Replicas: n, Engine: anyEngine(t, ""), Stepper: anyStepper(t, "")},
		}
		if got := c.identicalReplicas(); got != n {
			t.Fatalf("%d of %d replicas are alike", got, n)
		}
		one, err := Run(t.Context(), c)
		if err != nil {
			t.Skip(err) // no request fits
		}
		all, err := runAll(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string][2]float64{
			"requests": {float64(one.Requests), float64(all.Requests)}, "finished": {float64(one.Finished), float64(all.Finished)},
			"refused": {float64(one.Refused), float64(all.Refused)}, "counted": {float64(one.Counted), float64(all.Counted)},
			"duration": {float64(one.Duration), float64(all.Duration)}, "TTFT": {float64(one.TTFT.Mean), float64(all.TTFT.Mean)},
			"TPOT": {float64(one.TPOT.Mean), float64(all.TPOT.Mean)}, "latency": {float64(one.Latency.P99), float64(all.Latency.P99)},
			"gaps": {float64(one.ITL.Count), float64(all.ITL.Count)}, "output": {one.OutputRate, all.OutputRate},
			"good": {one.GoodRate, all.GoodRate}, "busy": {one.Workers.Busy, all.Workers.Busy}, "peak": {one.Workers.KVPeak, all.Workers.KVPeak},
			"steps":       {float64(one.Workers.Steps), float64(all.Workers.Steps)},
			"preemptions": {float64(one.Workers.Preemptions), float64(all.Workers.Preemptions)},
		} {
			if math.Abs(x[0]-x[1]) > 1e-9*math.Abs(x[1]) {
				t.Fatalf("%s: one for all gives %g, all give %g", name, x[0], x[1])
			}
		}
	})
}

// TestReplicasNotAlike: unequal requests, shares or replicas are simulated one by one.
func TestReplicasNotAlike(t *testing.T) {
	loop := traffic.ClosedLoop{Concurrency: 4, Requests: 8, Input: traffic.Lengths{Tokens: 10}, Output: traffic.Lengths{Tokens: 10}}
	base := Config{Client: loop, Workers: Pool{Replicas: 2}}
	if n := base.identicalReplicas(); n != 2 {
		t.Fatalf("%d alike, want 2", n)
	}
	loop.Mix = traffic.Mix{{Share: 1, Input: loop.Input, Output: loop.Output}}
	if c := (Config{Client: loop, Workers: base.Workers}); c.identicalReplicas() != 2 {
		t.Errorf("%d of one kind alike, want 2", c.identicalReplicas())
	}
	for name, change := range map[string]func(*Config, *traffic.ClosedLoop){
		"kinds": func(_ *Config, l *traffic.ClosedLoop) { l.Mix = append(l.Mix, l.Mix[0]) },
		"any of some": func(_ *Config, l *traffic.ClosedLoop) {
			l.Mix = traffic.Mix{{Share: 1, Like: []workload.Request{{Input: 1, Output: 1}}}}
		},
		"lengths of the kind": func(_ *Config, l *traffic.ClosedLoop) {
			l.Mix = traffic.Mix{{Share: 1, Input: traffic.Lengths{Tokens: 10, Low: 0.5}, Output: l.Output}}
		},
		"lengths":     func(_ *Config, l *traffic.ClosedLoop) { l.Mix, l.Output.Low = nil, 0.5 },
		"concurrency": func(_ *Config, l *traffic.ClosedLoop) { l.Concurrency = 3 },
		"requests":    func(_ *Config, l *traffic.ClosedLoop) { l.Requests = 9 },
		"warm-up":     func(_ *Config, l *traffic.ClosedLoop) { l.Warmup = 1 },
		"spread":      func(_ *Config, l *traffic.ClosedLoop) { l.Spread = 1 },
		"routing":     func(c *Config, _ *traffic.ClosedLoop) { c.Workers.Routing = LeastLoaded },
		"records":     func(c *Config, _ *traffic.ClosedLoop) { c.Records = true },
		"decode":      func(c *Config, _ *traffic.ClosedLoop) { c.Decode = &Pool{} },
		"one":         func(c *Config, _ *traffic.ClosedLoop) { c.Workers.Replicas = 0 },
	} {
		c, l := base, loop
		change(&c, &l)
		c.Client = l
		if n := c.identicalReplicas(); n != 1 {
			t.Errorf("%s: %d alike", name, n)
		}
	}
}
