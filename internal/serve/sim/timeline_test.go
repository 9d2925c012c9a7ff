package sim

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// TestTimeline: the frames of a timeline have the requests that are on each replica at that time by their records, in the phase they are in.
func TestTimeline(t *testing.T) {
	engine := server.Engine{Policy: server.InFlight, TokenBudget: 100, MaxSequences: 4, Blocks: 1000, BlockTokens: 16}
	r := run(t, &Config{
		Client:  traffic.OpenLoop{Rate: 12, Requests: 900, Input: traffic.Lengths{Tokens: 150}, Output: traffic.Lengths{Tokens: 8}},
		Workers: Pool{Replicas: 2, Engine: engine, Stepper: server.StepFunc(func(b server.Batch) units.Seconds { return 0.0497 + units.Seconds(b.PrefillTokens)*1.3e-5 })},
		Seed:    1, Timeline: true, Records: true,
	})
	m := r.Timeline
	if n := len(m.Replicas[0].Queued); len(m.Replicas) != 2 || n < 60 || n > 120 || m.Every*units.Seconds(n) < 60 {
		t.Fatalf("%d replicas, %d frames, every %g s", len(m.Replicas), n, m.Every)
	}
	seen := statistics.Frame{}
	for i := range m.Replicas {
		x := &m.Replicas[i]
		for at := 1; at < len(x.Queued); at++ {
			now, here, generate := m.From+m.Every*units.Seconds(at), 0, 0
			for k := range r.Records {
				q := &r.Records[k]
				if q.Worker == i && q.Arrival <= now && now < q.Arrival+q.Latency {
					here++
					if q.Arrival+q.TTFT <= now {
						generate++
					}
				}
			}
			if got := x.Queued[at] + x.Prefill[at] + x.Decode[at]; got != here || x.Decode[at] != generate {
				t.Fatalf("replica %d at %g s: %d queued, %d prefill, %d decode; by the records %d, of which %d generate", i, now, x.Queued[at], x.Prefill[at], x.Decode[at], here, generate)
			}
			seen.Queued, seen.Prefill, seen.Decode = seen.Queued+x.Queued[at], seen.Prefill+x.Prefill[at], seen.Decode+x.Decode[at]
		}
	}
	if seen.Queued == 0 || seen.Prefill == 0 || seen.Decode == 0 {
		t.Errorf("a phase is never seen: %+v", seen)
	}
	var b strings.Builder
	if err := m.WriteCSV(&b); err != nil || strings.Count(b.String(), "\n") != 1+2*len(m.Replicas[0].Queued) {
		t.Errorf("%v %.200s", err, b.String())
	}
}

// TestTimelineOfPools: prefill and decode replicas have their roles, and nobody pays who does not ask.
func TestTimelineOfPools(t *testing.T) {
	engine := server.Engine{Policy: server.InFlight, TokenBudget: 100, MaxSequences: 10, Blocks: 100, BlockTokens: 16}
	step := server.StepFunc(func(server.Batch) units.Seconds { return 0.1 })
	c := Config{
		Client:  traffic.ClosedLoop{Requests: 40, Concurrency: 4, Input: traffic.Lengths{Tokens: 50}, Output: traffic.Lengths{Tokens: 5}},
		Workers: Pool{Replicas: 9, Engine: engine, Stepper: step}, Decode: &Pool{Engine: engine, Stepper: step},
		Link: server.Link{BytesPerToken: 10, Bandwidth: 1000}, Timeline: true,
	}
	var roles []string
	for _, x := range run(t, &c).Timeline.Replicas {
		roles = append(roles, x.Role)
	}
	if got := strings.Join(roles, " "); got != "prefill prefill prefill prefill decode" {
		t.Errorf("roles: %s", got)
	}
	if c.Timeline = false; run(t, &c).Timeline != nil {
		t.Error("a timeline that nobody asked for")
	}
}
