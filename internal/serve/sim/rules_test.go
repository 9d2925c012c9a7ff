package sim_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// tenth takes a tenth of a second for every step.
var tenth = server.StepFunc(func(server.Batch) units.Seconds { return 0.1 })

func simulate(t *testing.T, c *sim.Config) *statistics.Result {
	t.Helper()
	c.Records = true
	if c.Workers.Stepper == nil {
		c.Workers.Stepper = tenth
	}
	r, err := sim.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// roomy is an engine that nothing holds up.
func roomy(p server.Policy) server.Engine {
	return server.Engine{Policy: p, TokenBudget: 1000, MaxSequences: 100, Blocks: 10_000, BlockTokens: 1}
}

func arrivals(requests ...workload.Request) *traffic.Trace { return &traffic.Trace{Requests: requests} }

func ask(at units.Seconds, input, output int) workload.Request {
	return workload.Request{Arrival: at, Input: input, Output: output}
}

func times(t *testing.T, what string, r *statistics.Result, ttft ...units.Seconds) {
	t.Helper()
	for i, want := range ttft {
		if got := r.Records[i].TTFT; math.Abs(float64(got-want)) > 1e-9 {
			t.Errorf("%s: request %d: want its first token after %v, got %v", what, i, want, got)
		}
	}
}

// TestSpeed: arrivals come so many times as fast.
func TestSpeed(t *testing.T) {
	for speed, last := range map[float64]units.Seconds{0: 6, 1: 6, 2: 3, 0.5: 12} {
		client := arrivals(ask(0, 10, 2), ask(6, 10, 2))
		client.Speed = speed
		if got := simulate(t, &sim.Config{Client: client, Workers: sim.Pool{Engine: roomy(server.DecodeFirst)}}).Records[1].Arrival; got != last {
			t.Errorf("speed %g: the last arrives at %v", speed, got)
		}
	}
}

// TestReserve: SGLang admits a prompt where the tokens of those running, a share of what they may still generate, the
// prompt and its answer, of which 4,096 tokens count, fit.
func TestReserve(t *testing.T) {
	for _, c := range []struct {
		name           string
		reserve        float64
		answer, blocks int
		beside         bool
	}{
		{"all of it fits", 0.5, 100, 200 + 100 + 300 + 100, true}, // 200 + half of 200 beside 300 + 100
		{"one token does not", 0.5, 100, 200 + 100 + 300 + 99, false},
		{"nothing reserved", 0, 100, 200 + 300 + 100, true},
		{"nothing reserved, one short", 0, 100, 200 + 300 + 99, false},
		{"all reserved", 1, 100, 200 + 200 + 300 + 100, true},
		{"all reserved, one short", 1, 100, 200 + 200 + 300 + 99, false},
	} {
		e := roomy(server.PrefillFirst)
		e.Reserve, e.Blocks = c.reserve, c.blocks
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 200, 200), ask(0, 300, c.answer)), Workers: sim.Pool{Engine: e}})
		if c.beside {
			times(t, c.name, r, 0.1, 0.1)
		} else if r.Records[1].TTFT <= 0.11 {
			t.Errorf("%s: admitted at once", c.name)
		}
	}
	// Beside one that needs no reserve, an answer of 5,000 tokens is taken for 4,096.
	for blocks, beside := range map[int]bool{1000 + 300 + 4096: true, 1000 + 300 + 4095: false} {
		e := roomy(server.PrefillFirst)
		e.Blocks, e.TokenBudget = blocks, 1300
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 1000, 1), ask(0, 300, 5000)), Workers: sim.Pool{Engine: e}})
		if got := r.Records[1].TTFT < 0.11; got != beside {
			t.Errorf("%d blocks: beside %t", blocks, got)
		}
	}
}

// TestPrefillAhead: with one sequence generating at a time both prompts are computed at once, and the second answer pauses
// after its first token until the first answer is whole.
func TestPrefillAhead(t *testing.T) {
	for ahead, want := range map[bool][2]units.Seconds{true: {0.1, 0.5}, false: {0.4, 0.6}} {
		e := roomy(server.PrefillFirst)
		e.MaxSequences, e.PrefillAhead = 1, ahead
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 3), ask(0, 10, 3)), Workers: sim.Pool{Engine: e}})
		times(t, fmt.Sprintf("ahead %t", ahead), r, 0.1, want[0])
		if got := r.Records[1].Latency; math.Abs(float64(got-want[1])) > 1e-9 {
			t.Errorf("ahead %t: the second answer ends at %v, want %v", ahead, got, want[1])
		}
	}
}

// TestReceiveInterval: while requests generate, a look at the queue comes every so many steps; after a step with prompts it
// comes at once.
func TestReceiveInterval(t *testing.T) {
	for interval, ttft := range map[int]units.Seconds{0: 0.15, 1: 0.15, 3: 0.25, 10: 0.95} {
		e := roomy(server.PrefillFirst)
		e.ReceiveInterval = interval
		// The first prompt ends at 0.1, then generation steps from there: looks at 0.1 + 0.1·interval·k. The second comes
		// at 0.25 and needs a step of its own.
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 50), ask(0.25, 10, 2)), Workers: sim.Pool{Engine: e}})
		times(t, fmt.Sprintf("every %d", interval), r, 0.1, ttft)
	}
}

// TestOverlapped: a scheduler that works while a step runs has filled the next one when a request comes in. After an idle
// time it begins at once, and the step after the first has what came in until then.
func TestOverlapped(t *testing.T) {
	for _, c := range []struct {
		name       string
		overlapped bool
		at         units.Seconds
		ttft       units.Seconds
	}{
		{"in turn", false, 0.25, 0.15},
		{"ahead", true, 0.25, 0.25},
		{"at the end of a step, in turn", false, 0.3, 0.1},
		{"at the end of a step, ahead", true, 0.3, 0.2},
		{"while the first step runs", true, 0.05, 0.15},
		{"while the second step runs", true, 0.15, 0.25},
		{"idle", true, 7, 0.1},
	} {
		e := roomy(server.DecodeFirst)
		e.Overlapped = c.overlapped
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 50), ask(c.at, 10, 2)), Workers: sim.Pool{Engine: e}})
		times(t, c.name, r, 0.1, c.ttft)
	}
}

// TestBatchWait: prompts wait for others for so many steps, unless they fill so much of the budget.
func TestBatchWait(t *testing.T) {
	for _, c := range []struct {
		name   string
		steps  int
		ratio  float64
		prompt int
		ttft   units.Seconds
	}{
		{"no wait", 0, 0.5, 10, 0.15},
		{"five steps", 5, 0.5, 10, 0.65},
		{"half a budget with the one that generates", 5, 0.5, 499, 0.15},
		{"a token less", 5, 0.5, 498, 0.65},
	} {
		e := roomy(server.InFlight)
		e.BatchWaitSteps, e.BatchWaitRatio = c.steps, c.ratio
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 50), ask(0.25, c.prompt, 2)), Workers: sim.Pool{Engine: e}})
		times(t, c.name, r, 0.1, c.ttft)
	}
}

// TestRankWait: prompts wait for so many steps until there is one for every rank; TensorRT-LLM counts steps before they came.
func TestRankWait(t *testing.T) {
	for _, c := range []struct {
		name         string
		steps, ranks int
		more         int // prompts that come with the second
		ttft         units.Seconds
	}{
		{"no wait", 0, 4, 0, 0.15},
		{"one rank", 5, 1, 0, 0.15},
		{"five steps, two of them gone", 5, 4, 0, 0.45},
		{"one short", 5, 4, 2, 0.45},
		{"two steps, both gone: the count restarts", 2, 4, 0, 0.35},
		{"a prompt for each", 5, 4, 3, 0.15},
	} {
		e := roomy(server.InFlight)
		e.RankWaitSteps, e.Ranks = c.steps, c.ranks
		all := []workload.Request{ask(0, 10, 50)}
		for range 1 + c.more {
			all = append(all, ask(0.25, 10, 2))
		}
		r := simulate(t, &sim.Config{Client: arrivals(all...), Workers: sim.Pool{Engine: e}})
		want := append([]units.Seconds{0.1}, slices.Repeat([]units.Seconds{c.ttft}, 1+c.more)...)
		times(t, c.name, r, want...)
	}
}

// TestRankFill: prompts on all ranks wait until they fill a share of the budget, no more have come for so many steps, or the wait for ranks is over.
func TestRankFill(t *testing.T) {
	for _, c := range []struct {
		name         string
		fill         float64
		stall, steps int
		prompt       int
		ttft         units.Seconds
	}{
		{"no fill", 0, 3, 10, 10, 0.15},
		{"full", 0.5, 3, 10, 250, 0.15},
		{"three steps without another", 0.5, 3, 10, 240, 0.45},
		{"the longest wait", 0.5, 9, 2, 10, 0.35},
	} {
		e := roomy(server.PrefillFirst)
		e.Ranks, e.RankWaitSteps, e.RankFill, e.RankStallSteps = 2, c.steps, c.fill, c.stall
		all := []workload.Request{ask(0, 10, 50), ask(0.25, c.prompt, 2), ask(0.25, c.prompt, 2)}
		times(t, c.name, simulate(t, &sim.Config{Client: arrivals(all...), Workers: sim.Pool{Engine: e}}), 0.1, c.ttft, c.ttft)
	}
}

// TestBudgets: generation counts against the budget where it goes first, and verifies as many tokens as it drafts; alone, a
// prompt above the budget runs whole in flight and in pieces elsewhere.
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		policy           server.Policy
		verified, prompt int
		ttft             units.Seconds
	}{
		{server.DecodeFirst, 1, 999, 0.15},
		{server.DecodeFirst, 1, 1000, 0.25},
		{server.DecodeFirst, 3, 997, 0.15},
		{server.DecodeFirst, 3, 998, 0.25},
		{server.PrefillFirst, 3, 1000, 0.15},
		{server.PrefillFirst, 1, 1001, 0.25},
		{server.InFlight, 1, 999, 0.15},
		{server.InFlight, 3, 997, 0.15},
	} {
		e := roomy(c.policy)
		e.VerifiedPerStep = c.verified
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 50), ask(0.25, c.prompt, 2)), Workers: sim.Pool{Engine: e}})
		times(t, fmt.Sprintf("%v, %d verified, a prompt of %d", c.policy, c.verified, c.prompt), r, 0.1, c.ttft)
	}
	// In flight a prompt that does not fit beside generation waits for its end: 49 steps after 0.1.
	for verified, prompt := range map[int]int{1: 1000, 3: 998} {
		e := roomy(server.InFlight)
		e.VerifiedPerStep = verified
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 50), ask(0.25, prompt, 2)), Workers: sim.Pool{Engine: e}})
		times(t, "does not fit beside", r, 0.1, 0.1+4.9+0.1-0.25)
	}
	r := simulate(t, &sim.Config{Client: arrivals(ask(0, 5000, 2)), Workers: sim.Pool{Engine: roomy(server.InFlight)}})
	times(t, "alone in flight", r, 0.1)
	r = simulate(t, &sim.Config{Client: arrivals(ask(0, 5000, 2)), Workers: sim.Pool{Engine: roomy(server.DecodeFirst)}})
	times(t, "alone in pieces", r, 0.5)
}

// TestKeptBlocks: in flight blocks for prompt and answer are kept from the start, with room for a whole burst of
// draft tokens; elsewhere they are taken as needed.
func TestKeptBlocks(t *testing.T) {
	for _, c := range []struct {
		policy   server.Policy
		accepted float64
		blocks   int
		refused  bool
	}{
		{server.InFlight, 1, 110, false},
		{server.InFlight, 1, 109, true},
		{server.InFlight, 2.5, 112, false},
		{server.InFlight, 2.5, 111, true},
		{server.DecodeFirst, 1, 110, false},
		{server.DecodeFirst, 1, 109, true},
		{server.PrefillFirst, 2, 111, false},
		{server.PrefillFirst, 2, 110, true},
	} {
		e := roomy(c.policy)
		e.Blocks, e.AcceptedPerStep = c.blocks, c.accepted
		r := simulate(t, &sim.Config{Client: arrivals(ask(0, 100, 10)), Workers: sim.Pool{Engine: e}})
		if got := r.Records[0].Refused; got != c.refused {
			t.Errorf("%v, %g accepted, %d blocks: refused %t", c.policy, c.accepted, c.blocks, got)
		}
	}
	e := roomy(server.InFlight)
	e.Blocks = 200
	// Two of 100 + 10: not together, though both prompts would fit.
	r := simulate(t, &sim.Config{Client: arrivals(ask(0, 90, 20), ask(0, 90, 20)), Workers: sim.Pool{Engine: e}})
	times(t, "kept to the end", r, 0.1, 2.1)
	if r.Workers.KVPeak != 110./200 || r.Workers.Preemptions != 0 {
		t.Errorf("%+v", r.Workers)
	}
}

// TestAPIServer: it works on one request after the other, for a fixed time and for each token; a constant comes on top.
func TestAPIServer(t *testing.T) {
	e := roomy(server.DecodeFirst)
	e.APIFixed, e.APIPerToken, e.First = 0.03, 0.001, 0.5
	r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 2), ask(0.01, 20, 2), ask(5, 10, 1)), Workers: sim.Pool{Engine: e}})
	// Ready at 0.04 and 0.09; the second waits for the step that ends at 0.14, and takes one beside the first's last.
	times(t, "API", r, 0.14+0.5, 0.24-0.01+0.5, 0.14+0.5)
	if got := r.Records[1].Latency; math.Abs(float64(got-(0.34-0.01+0.5))) > 1e-9 {
		t.Errorf("it ends after %v", got)
	}
}

// TestOutputs: the API server sends the tokens of a step one after the other, the first token of a request last, and takes up what
// came in when it has sent them.
func TestOutputs(t *testing.T) {
	e := roomy(server.DecodeFirst)
	e.APIFixed, e.APIPerOutput, e.First = 0.001, 0.02, 0.5
	r := simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 12), ask(0, 10, 12), ask(0.51, 10, 2)), Workers: sim.Pool{Engine: e}})
	// Ready at 1 and 2 ms: one step each, the second beside a token of the first. The third comes 9 ms after a step of both has
	// ended; it is ready at 0.501 + 0.04 + 0.001 and in the step from 0.601 on, beside two.
	times(t, "outputs", r, 0.101+0.5+0.02, 0.201+0.5+0.04, 0.701-0.51+0.5+0.06)
	if got := r.Records[2]; math.Abs(float64(got.TPOT-0.1)) > 1e-9 || math.Abs(float64(got.Latency-got.TTFT-0.1)) > 1e-9 {
		t.Errorf("all tokens are as late as the first: %+v", got)
	}
	// At the end of the step that it would have been seen by, the server is still busy.
	r = simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 12), ask(0, 10, 12), ask(0.5995, 10, 2)), Workers: sim.Pool{Engine: e}})
	times(t, "just in time", r, 0.101+0.5+0.02, 0.201+0.5+0.04, 0.701-0.5995+0.5+0.06)
	r = simulate(t, &sim.Config{Client: arrivals(ask(0, 10, 12), ask(0, 10, 12), ask(0.6015, 10, 2)), Workers: sim.Pool{Engine: e}})
	times(t, "behind outputs", r, 0.101+0.5+0.02, 0.201+0.5+0.04, 0.801-0.6015+0.5+0.06)
}

// TestFigures: rates, shares and use of two requests worked out by hand.
func TestFigures(t *testing.T) {
	e := roomy(server.DecodeFirst)
	e.Blocks, e.BlockTokens = 100, 10
	client := arrivals(ask(1, 95, 6), ask(2, 25, 2), ask(9, 10, 1))
	client.Requests[0].Arrival = 0
	client.Warmup = 1
	r := simulate(t, &sim.Config{Client: client, Workers: sim.Pool{Engine: e, Replicas: 2}, Limits: workload.Limits{TPOT: 0.09}})
	// The first is a warm-up: 0 to 0.6. The second 2 to 2.2; the third, with no TPOT, 9 to 9.1.
	near := func(what string, want, got float64) {
		if math.Abs(want-got) > 1e-9 {
			t.Errorf("%s: want %g, got %g", what, want, got)
		}
	}
	if r.Requests != 3 || r.Finished != 3 || r.Counted != 2 || r.TPOT.Count != 1 || r.TTFT.Count != 2 {
		t.Errorf("%+v", r)
	}
	near("duration", 7.1, float64(r.Duration))
	near("requests", 2/7.1, r.RequestRate)
	near("prompts", 35/7.1, r.InputRate)
	near("answers", 3/7.1, r.OutputRate)
	near("good", 1/7.1, r.GoodRate)
	near("share of good", 0.5, r.GoodShare)
	near("TTFT", 0.1, float64(r.TTFT.Mean))
	near("TPOT", 0.1, float64(r.TPOT.Mean))
	near("latency", 0.15, float64(r.Latency.Mean))
	// Replica 0 served the first and the third for 0.7 s, replica 1 the second for 0.2 s, of 9.1 s.
	near("busy", (0.7+0.2)/2/9.1, r.Workers.Busy)
	near("peak", 10./100, r.Workers.KVPeak) // 95 + 5 tokens in blocks of ten
	if r.Workers.Steps != 9 || r.Workers.PrefillSteps != 3 || r.KVPeak() != r.Workers.KVPeak {
		t.Errorf("%+v", r.Workers)
	}
}

// TestDrawnLengths: lengths are uniform from the share given to the whole, both included; those of bins fall into each by
// its weight.
func TestDrawnLengths(t *testing.T) {
	const n = 4000
	lengths := func(l traffic.Lengths) map[int]int {
		count := map[int]int{}
		r := simulate(t, &sim.Config{Client: traffic.ClosedLoop{Requests: n, Concurrency: n, Input: l, Output: traffic.Lengths{Tokens: 1}}, Workers: sim.Pool{Engine: func() server.Engine {
			e := roomy(server.InFlight)
			e.TokenBudget, e.MaxSequences, e.Blocks = 1<<20, n, 1<<20
			return e
		}()}})
		for _, q := range r.Records {
			count[q.Input]++
		}
		return count
	}
	if got := lengths(traffic.Lengths{Tokens: 10, Low: 0.75}); len(got) != 3 || got[8] < n/4 || got[9] < n/4 || got[10] < n/4 { // 7.5 is 8
		t.Errorf("from three quarters of ten: %v", got)
	}
	for _, low := range []float64{0, 1} {
		if got := lengths(traffic.Lengths{Tokens: 10, Low: low}); got[10] != n {
			t.Errorf("from %g of ten: %v", low, got)
		}
	}
	bins := &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 1, Weight: 1}, {Min: 5, Max: 7, Weight: 6}, {Min: 20, Max: 21, Weight: 3}}}
	got := lengths(traffic.Lengths{Distribution: bins})
	for length, share := range map[int]float64{1: 0.1, 5: 0.3, 6: 0.3, 20: 0.3} {
		if x := float64(got[length]) / n; math.Abs(x-share) > 0.03 {
			t.Errorf("%d tokens: %g of the draws, want %g (%v)", length, x, share, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("lengths outside of the bins: %v", got)
	}
}

// TestRefusedSettings: one just outside what can be is refused, one just inside is not.
func TestRefusedSettings(t *testing.T) {
	inf := units.Seconds(math.Inf(1))
	for _, c := range []struct {
		name   string
		change func(*sim.Config, *server.Engine)
		want   string // "" is accepted
	}{
		{"nothing", func(*sim.Config, *server.Engine) {}, ""},
		{"budget", func(_ *sim.Config, e *server.Engine) { e.TokenBudget = 0 }, "token budget must be at least 1, got 0"},
		{"least budget", func(_ *sim.Config, e *server.Engine) { e.TokenBudget = 1 }, ""},
		{"sequences", func(_ *sim.Config, e *server.Engine) { e.MaxSequences = 0 }, "max sequences must be at least 1, got 0"},
		{"one sequence", func(_ *sim.Config, e *server.Engine) { e.MaxSequences = 1 }, ""},
		{"blocks", func(_ *sim.Config, e *server.Engine) { e.Blocks = 0 }, "blocks must be between 1 and 2³¹, got 0"},
		{"one block", func(_ *sim.Config, e *server.Engine) { e.Blocks, e.BlockTokens = 1, 2 }, ""},
		{"too many blocks", func(_ *sim.Config, e *server.Engine) { e.Blocks = math.MaxInt32 + 1 }, "blocks must be between 1 and 2³¹"},
		{"most blocks", func(_ *sim.Config, e *server.Engine) { e.Blocks = math.MaxInt32 }, ""},
		{"block tokens", func(_ *sim.Config, e *server.Engine) { e.BlockTokens = 0 }, "tokens in a block must be between 1 and 65536, got 0"},
		{"large blocks", func(_ *sim.Config, e *server.Engine) { e.BlockTokens = 65536 }, ""},
		{"too large blocks", func(_ *sim.Config, e *server.Engine) { e.BlockTokens = 65537 }, "tokens in a block must be between 1 and 65536, got 65537"},
		{"held", func(_ *sim.Config, e *server.Engine) { e.Held = -1 }, "held tokens must not be negative, got -1"},
		{"reserve", func(_ *sim.Config, e *server.Engine) { e.Reserve = -0.1 }, "reserve must be between 0 and 1, got -0.1"},
		{"whole reserve", func(_ *sim.Config, e *server.Engine) { e.Reserve = 1 }, ""},
		{"more than all", func(_ *sim.Config, e *server.Engine) { e.Reserve = 1.1 }, "reserve must be between 0 and 1, got 1.1"},
		{"accepted", func(_ *sim.Config, e *server.Engine) { e.AcceptedPerStep = 0.9 }, "accepted tokens per step must be at least 1, got 0.9"},
		{"most accepted", func(_ *sim.Config, e *server.Engine) { e.AcceptedPerStep = 1024 }, ""},
		{"too many accepted", func(_ *sim.Config, e *server.Engine) { e.AcceptedPerStep = 1025 }, "accepted tokens per step must be at least 1, got 1025"},
		{"interval", func(_ *sim.Config, e *server.Engine) { e.ReceiveInterval = -1 }, "receive interval, waits and verified tokens must not be negative"},
		{"wait", func(_ *sim.Config, e *server.Engine) { e.BatchWaitSteps = -1 }, "receive interval, waits and verified tokens must not be negative"},
		{"verified", func(_ *sim.Config, e *server.Engine) { e.VerifiedPerStep = -1 }, "receive interval, waits and verified tokens must not be negative"},
		{"API", func(_ *sim.Config, e *server.Engine) { e.APIFixed = -1 }, "API times must not be negative"},
		{"API per token", func(_ *sim.Config, e *server.Engine) { e.APIPerToken = inf }, "API times must not be negative"},
		{"first", func(_ *sim.Config, e *server.Engine) { e.First = -1 }, "API times must not be negative"},
		{"outputs", func(_ *sim.Config, e *server.Engine) { e.APIPerOutput = -1 }, "API times must not be negative"},
		{"policy", func(_ *sim.Config, e *server.Engine) { e.Policy = -1 }, "unknown policy -1"},
		{"another policy", func(_ *sim.Config, e *server.Engine) { e.Policy = 3 }, "unknown policy 3"},
		{"replicas", func(c *sim.Config, _ *server.Engine) { c.Workers.Replicas = -1 }, "replicas must be between 1 and 32768, got -1"},
		{"too many replicas", func(c *sim.Config, _ *server.Engine) { c.Workers.Replicas = 32769 }, "replicas must be between 1 and 32768, got 32769"},
		{"routing", func(c *sim.Config, _ *server.Engine) { c.Workers.Routing = 7 }, "unknown routing 7"},
		{"no routing", func(c *sim.Config, _ *server.Engine) { c.Workers.Routing = -1 }, "unknown routing -1"},
		{"no stepper", func(c *sim.Config, _ *server.Engine) { c.Workers.Stepper = nil }, "no step model"},
		{"no client", func(c *sim.Config, _ *server.Engine) { c.Client = nil }, "no client given"},
		{"link", func(c *sim.Config, e *server.Engine) {
			c.Decode, c.Link = &sim.Pool{Engine: *e, Stepper: tenth}, server.Link{BytesPerToken: 1}
		}, "link: bandwidth must be positive"},
		{"link without bytes", func(c *sim.Config, e *server.Engine) { c.Decode = &sim.Pool{Engine: *e, Stepper: tenth} }, ""},
		{"latency", func(c *sim.Config, e *server.Engine) {
			c.Decode, c.Link = &sim.Pool{Engine: *e, Stepper: tenth}, server.Link{Latency: -1}
		}, "link: bandwidth must be positive"},
		{"no bytes", func(c *sim.Config, e *server.Engine) {
			c.Decode, c.Link = &sim.Pool{Engine: *e, Stepper: tenth}, server.Link{BytesPerToken: -1, Bandwidth: 1}
		}, "link: bandwidth must be positive"},
		{"speed", func(c *sim.Config, _ *server.Engine) {
			c.Client = &traffic.Trace{Requests: []workload.Request{ask(0, 1, 1)}, Speed: -1}
		}, "speed must be positive, got -1"},
		{"an early one", func(c *sim.Config, _ *server.Engine) { c.Client = arrivals(ask(2, 1, 1), ask(1, 1, 1)) }, "request 2 arrives before the previous one"},
		{"no prompt", func(c *sim.Config, _ *server.Engine) { c.Client = arrivals(ask(0, 0, 1)) }, "lengths must be between 1 and 16777216 tokens, got 0 and 1"},
		{"no answer", func(c *sim.Config, _ *server.Engine) { c.Client = arrivals(ask(0, 1, 0)) }, "lengths must be between 1 and 16777216 tokens, got 1 and 0"},
		{"too long", func(c *sim.Config, _ *server.Engine) { c.Client = arrivals(ask(0, 1<<24+1, 1)) }, "lengths must be between 1 and 16777216 tokens"},
		{"warm-up", func(c *sim.Config, _ *server.Engine) {
			c.Client = &traffic.Trace{Requests: []workload.Request{ask(0, 1, 1)}, Warmup: -1}
		}, "warm-up must not be negative, got -1"},
		{"blocks without a size", func(c *sim.Config, _ *server.Engine) {
			c.Client = arrivals(workload.Request{Input: 1, Output: 1, Blocks: []uint32{0}})
		}, "must give the tokens of a block"},
		{"blocks out of order", func(c *sim.Config, _ *server.Engine) {
			c.Client = arrivals(workload.Request{Input: 1, Output: 1, Blocks: []uint32{1}})
		}, "block 1: contents must be numbered in order of appearance, the next is 0"},
		{"lengths", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Tokens: 1, Low: 1.1}, Output: traffic.Lengths{Tokens: 1}}
		}, "input: the shortest length must be a share between 0 and 1, got 1.1"},
		{"no tokens", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Tokens: 1}, Output: traffic.Lengths{}}
		}, "output: tokens must be between 1 and 16777216, got 0"},
		{"bins", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 1, Max: 1, Weight: 1}}}}, Output: traffic.Lengths{Tokens: 1}}
		}, "input: invalid bin: 1 to 1 tokens, weight 1"},
		{"weightless bins", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.ClosedLoop{Requests: 1, Concurrency: 1, Input: traffic.Lengths{Distribution: &workload.Distribution{Bins: []workload.Bin{{Min: 0, Max: 1}}}}, Output: traffic.Lengths{Tokens: 1}}
		}, "input: the weights of the bins must have a positive, finite sum"},
		{"closed loop", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.ClosedLoop{Requests: 0, Concurrency: 0, Think: -1, Input: traffic.Lengths{Tokens: 1}, Output: traffic.Lengths{Tokens: 1}}
		}, "requests must be between 1 and 16777216, got 0\nconcurrency must be at least 1, got 0\nthink time and spread must not be negative"},
		{"open loop", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.OpenLoop{Rate: 0, Process: 3, Input: traffic.Lengths{Tokens: 1}, Output: traffic.Lengths{Tokens: 1}}
		}, "rate must be positive, got 0\nunknown arrival process 3\ngive a number of requests or a duration"},
		{"gamma", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.OpenLoop{Rate: 1, Process: traffic.Gamma, Requests: 1, Input: traffic.Lengths{Tokens: 1}, Output: traffic.Lengths{Tokens: 1}}
		}, "gamma arrivals need a variation above 0, got 0"},
		{"too long a time", func(c *sim.Config, _ *server.Engine) {
			c.Client = traffic.OpenLoop{Rate: 1e9, Duration: 1, Input: traffic.Lengths{Tokens: 1}, Output: traffic.Lengths{Tokens: 1}}
		}, "more than 16777216 requests"},
	} {
		e := roomy(server.DecodeFirst)
		config := &sim.Config{Client: arrivals(ask(0, 1, 1)), Workers: sim.Pool{Stepper: tenth}}
		c.change(config, &e)
		config.Workers.Engine = e
		_, err := sim.Run(context.Background(), config)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
	}
}
