package sim

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// chat is requests of about 920 tokens in and 230 out, at a rate.
func chat(rate float64) traffic.OpenLoop {
	return traffic.OpenLoop{Rate: rate, Requests: 1, Input: traffic.Lengths{Tokens: 1024, Low: 0.8}, Output: traffic.Lengths{Tokens: 256, Low: 0.8}}
}

// lasting runs a load to its steady state on replicas.
func lasting(t testing.TB, client traffic.Client, replicas int, rule statistics.Steady) *statistics.Result {
	t.Helper()
	r, err := Run(t.Context(), &Config{Client: client, Workers: Pool{Engine: vllm(), Stepper: h100(), Replicas: replicas}, Steady: &rule, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// anyLasting draws a load without end and an engine for it.
func anyLasting(t *rapid.T) *Config {
	c := &Config{
		Workers: Pool{Engine: anyEngine(t, ""), Stepper: anyStepper(t, ""), Replicas: rapid.IntRange(1, 3).Draw(t, "replicas")},
		Seed:    rapid.Uint64().Draw(t, "seed"), Steady: &statistics.Steady{Requests: rapid.IntRange(1, 4000).Draw(t, "most")},
	}
	input, output := anyLengths(t, "input", 60), anyLengths(t, "output", 60)
	if rapid.Bool().Draw(t, "closed") {
		c.Client = traffic.ClosedLoop{Requests: 1, Concurrency: rapid.IntRange(1, 30).Draw(t, "clients"), Input: input, Output: output}
	} else {
		c.Client = traffic.OpenLoop{
			Requests: 1, Rate: rapid.SampledFrom([]float64{1e-4, 0.1, 1, 4, 16, 256}).Draw(t, "rate"), Input: input, Output: output,
			Process: traffic.Process(rapid.IntRange(0, 2).Draw(t, "process")), Variation: 3,
		}
	}
	if rapid.Bool().Draw(t, "disaggregated") {
		c.Decode = &Pool{Engine: anyEngine(t, "decode "), Stepper: anyStepper(t, "decode ")}
		c.Link = server.Link{BytesPerToken: 1000, Bandwidth: 1e6, Latency: 1e-3}
	}
	return c
}

// TestLittle: in every steady state requests in flight are those that are served times how long they take, and all that come
// are served.
func TestLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := Run(context.Background(), anyLasting(t))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Sampling.Steady() {
			return
		}
		if l := r.RequestRate * float64(r.Latency.Mean); math.Abs(l-r.InFlight.Mean) > 0.01*l {
			t.Fatalf("%g in flight, but %g requests/s take %v: %g", r.InFlight.Mean, r.RequestRate, r.Latency.Mean, l)
		}
		if math.Abs(r.RequestRate-r.Offered) > 1e-9*r.Offered && r.Refused == 0 {
			t.Fatalf("%g requests/s come, %g are served", r.Offered, r.RequestRate)
		}
		for _, e := range []float64{r.Sampling.TTFT, r.Sampling.TPOT, r.Sampling.Latency} {
			if !(e <= statistics.DefaultSampling) {
				t.Fatalf("precise with an error of %g", e)
			}
		}
	})
}

// TestLastingIsATrace: a run without end, which uses the places of requests again, is what a trace of its arrivals gives;
// that agrees with the simulator that takes every step.
func TestLastingIsATrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyLasting(t)
		c.Records = true
		s, err := newSimulation(c)
		if err != nil {
			t.Fatal(err)
		}
		clear(s.source.Requests) // places may hold requests of another run
		if err := s.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		records := s.result().Records
		n, _ := s.source.Counts()
		sent := make([]workload.Request, n)
		for _, r := range records {
			sent[r.ID] = workload.Request{Arrival: r.Arrival, Input: r.Input, Output: r.Output}
		}
		for i := range s.source.Requests { // those in flight at the end
			if q := &s.source.Requests[i]; int(q.Serial) < n && sent[q.Serial].Input == 0 && q.Input > 0 {
				sent[q.Serial] = workload.Request{Arrival: q.Arrived, Input: q.Input, Output: q.Output}
			}
		}
		// The first requests of clients are planned ahead.
		order, at := make([]int, len(sent)), make([]int, len(sent))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sent[a].Arrival, sent[b].Arrival) })
		client := &traffic.Trace{}
		for i, serial := range order {
			client.Requests = append(client.Requests, sent[serial])
			at[serial] = i
		}
		c.Client, c.Steady = client, nil
		trace, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			q := trace.Records[at[r.ID]]
			near(t, "first token", q.TTFT, r.TTFT)
			near(t, "end", q.Latency, r.Latency)
			if q.Preempted != r.Preempted {
				t.Fatalf("request %d: %d preemptions, want %d", r.ID, r.Preempted, q.Preempted)
			}
		}
	})
}

// TestUnloaded: requests that come rarely take as long as one alone, on any engine.
func TestUnloaded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Workers: Pool{Engine: anyEngine(t, ""), Stepper: anyStepper(t, "")}}
		c.Workers.Engine.Blocks, c.Workers.Engine.AcceptedPerStep = 1000, 1 // drafts are accepted by chance
		alone := traffic.OpenLoop{
			Rate: 1, Requests: 1, Input: traffic.Lengths{Tokens: rapid.IntRange(1, 150).Draw(t, "input")}, Output: traffic.Lengths{Tokens: rapid.IntRange(1, 60).Draw(t, "output")},
		}
		c.Client = alone
		one, err := Run(context.Background(), &c)
		if err != nil {
			t.Fatal(err)
		}
		alone.Rate, alone.Process = 1e-3, traffic.Constant
		c.Client, c.Steady = alone, &statistics.Steady{Requests: 2000}
		r, err := Run(context.Background(), &c)
		if err != nil {
			t.Fatal(err)
		}
		// A clock that has counted a million seconds leaves nine digits of one.
		for _, x := range [][2]units.Seconds{{one.TTFT.Mean, r.TTFT.Mean}, {one.TPOT.Mean, r.TPOT.Mean}, {one.Latency.Mean, r.Latency.Mean}} {
			if math.Abs(float64(x[0]-x[1])) > 1e-6 {
				t.Fatalf("alone %v, rarely %v", x[0], x[1])
			}
		}
	})
}

// anyServer draws an engine that computes prompts beside tokens, with step times of its own and room for all requests.
func anyServer(t *rapid.T) Pool {
	e, step := vllm(), h100()
	for _, x := range []struct {
		name string
		to   *units.Seconds
	}{{"fixed", &step.fixed}, {"prefill", &step.prefill}, {"token", &step.token}, {"request", &step.request}, {"read", &step.read}} {
		*x.to *= units.Seconds(rapid.Float64Range(0.3, 3).Draw(t, x.name))
	}
	return Pool{Engine: e, Stepper: step}
}

// TestLoops: a closed and an open loop with as many requests in flight on average have the same TPOT, to 5 %, where prompts are computed
// beside tokens. Clients send when answers end, at the ends of steps: an engine that stops generating for prompts is stopped less often by them.
func TestLoops(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := anyServer(t)
		input := traffic.Lengths{Tokens: rapid.IntRange(50, 2000).Draw(t, "input"), Low: 0.2}
		output := traffic.Lengths{Tokens: rapid.IntRange(100, 300).Draw(t, "output"), Low: 0.2} // answers alike keep clients in step
		run := func(c traffic.Client) *statistics.Result {
			r, err := Run(context.Background(), &Config{Client: c, Workers: one, Steady: &statistics.Steady{Error: 0.01, Requests: 10_000}, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		closed := func(n int) *statistics.Result {
			return run(traffic.ClosedLoop{Requests: 1, Concurrency: n, Input: input, Output: output})
		}
		most := closed(128).RequestRate
		open := run(traffic.OpenLoop{Requests: 1, Rate: most * rapid.Float64Range(0.4, 0.75).Draw(t, "load"), Input: input, Output: output})
		in := open.InFlight.Mean
		if in < 20 || !open.Sampling.Steady() {
			return // a client of a few meets one request less than one that comes at random
		}
		low, share := int(in), units.Seconds(in-math.Floor(in))
		tpot := (1-share)*closed(low).TPOT.Mean + share*closed(low+1).TPOT.Mean
		if x := float64(open.TPOT.Mean / tpot); math.Abs(x-1) > 0.05+3*open.Sampling.TPOT {
			t.Fatalf("TPOT %v with %.2f in flight, %v of clients", open.TPOT.Mean, in, tpot)
		}
	})
}

// TestMoreLoadWaitsLonger: times do not fall with the rate, nor TTFT with burstiness.
func TestMoreLoadWaitsLonger(t *testing.T) {
	t.Parallel()
	var before *statistics.Result
	for _, rate := range []float64{0.1, 2, 6, 12, 20, 28} {
		r := lasting(t, chat(rate), 1, statistics.Steady{})
		if before != nil && (r.TTFT.Mean <= before.TTFT.Mean || r.TPOT.Mean <= before.TPOT.Mean) {
			t.Errorf("rate %g: TTFT %v after %v, TPOT %v after %v", rate, r.TTFT.Mean, before.TTFT.Mean, r.TPOT.Mean, before.TPOT.Mean)
		}
		before = r
	}
	last := units.Seconds(0)
	for _, variation := range []float64{0.25, 1, 2, 4} {
		c := chat(12)
		c.Process, c.Variation = traffic.Gamma, variation
		if r := lasting(t, c, 1, statistics.Steady{}); r.TTFT.Mean <= last {
			t.Errorf("variation %g: TTFT %v after %v", variation, r.TTFT.Mean, last)
		} else {
			last = r.TTFT.Mean
		}
	}
}

// TestCopies: twice the rate on twice the replicas is the same load, dealt out more evenly.
func TestCopies(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{2, 8, 16} {
		one, two := lasting(t, chat(rate), 1, statistics.Steady{Error: 0.005}), lasting(t, chat(2*rate), 2, statistics.Steady{Error: 0.005})
		if x := float64(two.TPOT.Mean / one.TPOT.Mean); math.Abs(x-1) > 0.03 {
			t.Errorf("rate %g: TPOT %v and %v", rate, one.TPOT.Mean, two.TPOT.Mean)
		}
		if x := float64(two.TTFT.Mean / one.TTFT.Mean); x > 1.02 || x < 0.8 {
			t.Errorf("rate %g: TTFT %v and %v", rate, one.TTFT.Mean, two.TTFT.Mean)
		}
		if math.Abs(two.RequestRate-2*one.RequestRate) > 1e-9*two.RequestRate {
			t.Errorf("rate %g: %g and %g requests/s", rate, one.RequestRate, two.RequestRate)
		}
	}
}

// TestOverload: what is not carried is found, and what is served is what the engine can do.
func TestOverload(t *testing.T) {
	t.Parallel()
	c := chat(1)
	most := lasting(t, traffic.ClosedLoop{Requests: 1, Concurrency: 2000, Input: c.Input, Output: c.Output}, 1, statistics.Steady{}).RequestRate
	for _, times := range []float64{1.2, 3, 100} {
		r := lasting(t, chat(times*most), 1, statistics.Steady{})
		if r.Sampling.Ended != statistics.Overloaded || math.Abs(r.RequestRate/most-1) > 0.05 {
			t.Errorf("%g times the most: %s, %g of %g requests/s", times, r.Sampling.Ended, r.RequestRate, most)
		}
		if r.Finished > 20_000 {
			t.Errorf("%g times the most: found after %d requests", times, r.Finished)
		}
	}
}

// TestGrowingQueue: a load a little above what is carried misses a limit long before the queue is too long for chance; one a little
// below has all the requests that its precision needs.
func TestGrowingQueue(t *testing.T) {
	t.Parallel()
	c := chat(1)
	most := lasting(t, traffic.ClosedLoop{Requests: 1, Concurrency: 2000, Input: c.Input, Output: c.Output}, 1, statistics.Steady{}).RequestRate
	at := func(times float64, misses func(figures.Times) bool) *statistics.Result {
		return lasting(t, chat(times*most), 1, statistics.Steady{Misses: misses, Figures: true})
	}
	late := func(x figures.Times) bool { return x.TTFT > 2 }
	over, whole := at(1.03, late), at(1.03, nil)
	if over.Sampling.Ended != statistics.Decided || over.TTFT.Mean < 2 || 2*over.Finished > whole.Finished {
		t.Errorf("above: %s after %d requests, TTFT %v; %d without a limit", over.Sampling.Ended, over.Finished, over.TTFT.Mean, whole.Finished)
	}
	if limited, free := at(0.9, late), at(0.9, nil); limited.Finished != free.Finished || limited.TTFT != free.TTFT {
		t.Errorf("below: %d requests, TTFT %v; %d, %v without a limit", limited.Finished, limited.TTFT.Mean, free.Finished, free.TTFT.Mean)
	}
}

// TestMissed: sessions that come a little faster than they are served end as soon as nothing that follows could make up for what they
// waited; one without a limit waits longer still, at the mean and at a percentile.
func TestMissed(t *testing.T) {
	t.Parallel()
	x := &workload.Session{System: 1024, Turns: 32, First: 400, User: 120, Output: 100, Think: 5}
	for _, percentile := range []float64{0, 95} {
		run := func(misses func(figures.Times) bool) *statistics.Result {
			return lasting(t, traffic.OpenLoop{Requests: 1, Rate: 0.4, Mix: traffic.Mix{{Share: 1, Session: x}}}, 1, statistics.Steady{Percentile: percentile, Requests: 30_000, Misses: misses, Figures: true})
		}
		const limit = 1
		over, whole := run(func(x figures.Times) bool { return x.TTFT > limit }), run(nil)
		if over.Sampling.Ended != statistics.Decided || over.Sampling.Warmup == 0 || 3*over.Finished > 2*whole.Finished || whole.TTFT.Percentile(percentile) < limit {
			t.Errorf("percentile %g: %s after %d requests, %d to warm up; TTFT %v after %d without a limit",
				percentile, over.Sampling.Ended, over.Finished, over.Sampling.Warmup, whole.TTFT.Percentile(percentile), whole.Finished)
		}
	}
}

// TestNothingFits: a load of requests that are all refused ends.
func TestNothingFits(t *testing.T) {
	t.Parallel()
	c := traffic.ClosedLoop{Requests: 1, Concurrency: 4, Input: traffic.Lengths{Tokens: 1 << 20}, Output: traffic.Lengths{Tokens: 1}}
	if r := lasting(t, c, 1, statistics.Steady{}); r.Finished != 0 || r.Sampling.Steady() {
		t.Errorf("%d finished, %s", r.Finished, r.Sampling.Ended)
	}
}

// TestDecide: limits that are clearly met or missed end a run sooner, on the same side.
func TestDecide(t *testing.T) {
	t.Parallel()
	config := &Config{Client: chat(24), Workers: Pool{Engine: vllm(), Stepper: h100()}, Seed: 1, Steady: &statistics.Steady{Percentile: 99}}
	whole, err := Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, factor := range []units.Seconds{0.25, 4} {
		c := *config
		c.Limits = workload.Limits{TPOT: factor * whole.TPOT.P99}
		c.Steady = &statistics.Steady{Percentile: 99, Misses: func(t figures.Times) bool { return t.TPOT > c.Limits.TPOT }}
		r, err := Run(t.Context(), &c)
		if err != nil {
			t.Fatal(err)
		}
		if (r.TPOT.P99 <= c.Limits.TPOT) != (whole.TPOT.P99 <= c.Limits.TPOT) || 4*r.Finished > whole.Finished {
			t.Errorf("limit %v: %s after %d requests, TPOT %v; %v after %d", c.Limits.TPOT, r.Sampling.Ended, r.Finished, r.TPOT.P99, whole.TPOT.P99, whole.Finished)
		}
	}
}

// TestDrift: a window begins anew where a closed loop needs many times as long as a request to become steady.
func TestDrift(t *testing.T) {
	t.Parallel()
	run := func(longer float64) *statistics.Result {
		steps := 0.0
		stepper := server.StepFunc(func(b server.Batch) units.Seconds {
			steps++
			return units.Seconds((0.01 + 1e-4*float64(b.PrefillTokens)) * (1 + longer*math.Exp(-steps/2000)))
		})
		r, err := Run(t.Context(), &Config{
			Client:  traffic.ClosedLoop{Requests: 1, Concurrency: 8, Input: traffic.Lengths{Tokens: 100}, Output: traffic.Lengths{Tokens: 20}},
			Workers: Pool{Engine: vllm(), Stepper: stepper}, Steady: &statistics.Steady{}, Records: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(10)
	counted := 0
	for _, x := range r.Records {
		if !x.Warmup {
			counted++
		}
	}
	if r.Sampling.Ended != statistics.Precise || counted != r.Counted {
		t.Errorf("%+v, %d of %d records count", r.Sampling, counted, r.Counted)
	}
	const near = 1.15 // what is left of a smooth drift is hardly seen in a window
	if steady := run(0).Latency.Mean; r.Latency.Mean > near*steady || r.Finished > statistics.DefaultSteadyRequests/4 {
		t.Errorf("%v after %d requests, %v without a drift", r.Latency.Mean, r.Finished, steady)
	}
}

// TestLate: a closed loop whose TPOT misses its limit ends in the warm-up; where limits on TTFT leave no doubt, its rate is that of a
// run without.
func TestLate(t *testing.T) {
	t.Parallel()
	loop := traffic.ClosedLoop{Requests: 1, Concurrency: 64, Input: traffic.Lengths{Tokens: 1024, Low: 0.8}, Output: traffic.Lengths{Tokens: 256, Low: 0.8}}
	whole := lasting(t, loop, 1, statistics.Steady{})
	limited := func(ttft, tpot units.Seconds) *statistics.Result {
		return lasting(t, loop, 1, statistics.Steady{Misses: func(x figures.Times) bool { return x.TTFT > ttft || x.TPOT > tpot }})
	}
	if r := limited(1e9, whole.TPOT.Mean/2); r.Sampling.Ended != statistics.Decided || r.Sampling.Warmup != 0 || r.Finished > whole.Finished {
		t.Errorf("%+v after %d requests", r.Sampling, r.Finished)
	}
	for _, ttft := range []units.Seconds{whole.TTFT.Mean / 10, whole.TTFT.Mean * 10} {
		r := limited(ttft, 2*whole.TPOT.Mean)
		if off := math.Abs(r.OutputRate/whole.OutputRate - 1); !r.Sampling.Steady() || r.Sampling.Warmup == 0 || off > 0.02 {
			t.Errorf("TTFT %v: %+v, %g tokens/s instead of %g", ttft, r.Sampling, r.OutputRate, whole.OutputRate)
		}
	}
}

// TestLastingAllocates: the memory of a run is made at its start, but for room for its times.
func TestLastingAllocates(t *testing.T) {
	allocations := func(requests int) float64 {
		return testing.AllocsPerRun(5, func() { lasting(t, chat(20), 1, statistics.Steady{Error: 1e-9, Requests: requests}) })
	}
	if few, many := allocations(2000), allocations(64_000); many > few+100 {
		t.Errorf("%g allocations for 2,000 requests, %g for 64,000", few, many)
	}
}
