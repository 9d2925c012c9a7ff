package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// chats are requests of a trace, one a second: each goes on with the prompt of an earlier one or begins a new one.
func chats(t *rapid.T, blockTokens int) []workload.Request {
	out := make([]workload.Request, rapid.IntRange(5, 40).Draw(t, "requests"))
	distinct := uint32(0)
	for i := range out {
		q := &out[i]
		if from := rapid.IntRange(-1, i-1).Draw(t, "from"); from >= 0 {
			q.Blocks = append(q.Blocks, out[from].Blocks...)
		}
		for range rapid.IntRange(1, 3).Draw(t, "new") {
			q.Blocks = append(q.Blocks, distinct)
			distinct++
		}
		q.Arrival = units.Seconds(i)
		q.Input, q.Output = len(q.Blocks)*blockTokens, rapid.IntRange(1, 9).Draw(t, "output")
	}
	return out
}

// TestReplayIsTrace: the requests of a trace at a constant rate are that trace, to the digit, whatever the blocks of the cache.
func TestReplayIsTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEngine(t, "")
		e.PrefixCache = true
		blockTokens := 4 * e.BlockTokens
		if rapid.Bool().Draw(t, "small") && e.BlockTokens%4 == 0 {
			blockTokens = e.BlockTokens / 4
		}
		like := chats(t, blockTokens)
		pool := Pool{Engine: e, Stepper: anyStepper(t, ""), Replicas: rapid.IntRange(1, 3).Draw(t, "replicas"), Routing: Routing(rapid.IntRange(0, int(SGLang)).Draw(t, "routing"))}
		for i := range like { // as constant arrivals come
			like[i].Arrival++
		}
		trace := ran(t, &Config{Client: &traffic.Trace{Requests: like, BlockTokens: blockTokens}, Workers: pool, Records: true})
		mix := traffic.Mix{{Share: 1, Like: like, BlockTokens: blockTokens}}
		replay := ran(t, &Config{Client: traffic.OpenLoop{Rate: 1, Process: traffic.Constant, Requests: len(like), Mix: mix}, Workers: pool, Records: true})
		if d := cmp.Diff(trace.Records, replay.Records); d != "" {
			t.Fatal(d)
		}
	})
}

// TestReplayWithoutEnd: a trace that is sent over and over finds about what it has in common with itself in a large cache, and
// nothing of the time before; numbers of contents are used again.
func TestReplayWithoutEnd(t *testing.T) {
	const blockTokens, turns, sessions = 16, 5, 40
	var like []workload.Request
	distinct, shared, all := uint32(0), 0, 0
	for range sessions {
		var blocks []uint32
		for range turns {
			shared += len(blocks) * blockTokens
			blocks = append(slices.Clip(blocks), distinct, distinct+1)
			distinct += 2
			like = append(like, workload.Request{Input: len(blocks)*blockTokens + 1, Output: 4, Blocks: blocks})
			all += len(blocks)*blockTokens + 1
		}
	}
	e := vllm()
	e.PrefixCache, e.BlockTokens = true, blockTokens
	mix := traffic.Mix{{Share: 1, Like: like, BlockTokens: blockTokens}}
	share := 0.0
	for _, blocks := range []int{64, 512, 4096} {
		e.Blocks = blocks
		c := &Config{Client: traffic.OpenLoop{Rate: 2, Requests: 1, Mix: mix}, Workers: Pool{Engine: e, Stepper: h100()}, Steady: &statistics.Steady{Requests: 4000}}
		s, err := newSimulation(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := s.result()
		const chance = 0.005 // windows differ
		if r.CachedShare < share-chance {
			t.Errorf("%d blocks: want no less found than with fewer, %.3f, got %.3f", blocks, share, r.CachedShare)
		}
		share = r.CachedShare
		if r.Requests <= len(like) {
			t.Fatalf("want several times around, got %d of %d", r.Requests, len(like))
		}
		if most := 2*int(distinct) + blocks; s.source.NumberedContents() > most {
			t.Errorf("want at most %d numbers of contents, got %d", most, s.source.NumberedContents())
		}
	}
	if ideal := float64(shared) / float64(all); math.Abs(share-ideal) > 0.02 {
		t.Errorf("in a large cache: want about %.3f found, got %.3f", ideal, share)
	}
}
