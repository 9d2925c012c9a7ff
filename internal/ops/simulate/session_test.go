package simulate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestSessions: sessions at a rate are all their requests per second, find most of their prompts in the cache, and the preset of
// agents is sessions.
func TestSessions(t *testing.T) {
	t.Parallel()
	var w session.Session
	run := func(x session.Workload, more func(*simulate.Request)) (*simulate.Response, error) {
		r := simulate.Request{
			Deployment: deployment.Deployment{Model: "Qwen/Qwen3-8B", Pools: []deployment.Pool{{Replicas: 2}}},
			Traffic:    simulate.Traffic{Rate: 0.5, Workloads: []session.Workload{x}},
		}
		if more != nil {
			more(&r)
		}
		return simulate.Run(t.Context(), &w, r)
	}
	talks := &workload.Session{System: 1024, Turns: 4, First: 300, User: 100, Output: 50, Think: 3}
	r, err := run(session.Workload{Session: talks}, func(r *simulate.Request) { r.Deployment.Routing = "session" })
	if err != nil {
		t.Fatal(err)
	}
	_, _, cached := talks.Means()
	input, _, _ := talks.Means()
	if s := &r.Result; math.Abs(s.RequestRate-2) > 1e-6 || s.Sessions.Count == 0 || math.Abs(s.CachedShare-cached/input) > 0.02 {
		t.Errorf("%v requests/s, %+v, %.3f of the prompts cached, want %.3f", s.RequestRate, s.Sessions, s.CachedShare, cached/input)
	}
	r, err = run(session.Workload{Preset: "agentic"}, func(r *simulate.Request) { r.Requests, r.Protocol = 3, simulate.Benchmark })
	if err != nil || r.Result.Requests != 3*64 {
		t.Errorf("agents: %v", err)
	}
	for want, more := range map[string]func(*simulate.Request){
		"routing must be one of":        func(r *simulate.Request) { r.Deployment.Routing = "llmd" },
		"host_cache must be at least 0": func(r *simulate.Request) { r.Deployment.Host.GiB = -1 },
		"exclude isl, osl, prefix":      func(r *simulate.Request) { r.Workloads[0].Input = 3 },
		"needs the engine setting prefix": func(r *simulate.Request) {
			r.Deployment.Host.GiB, r.Deployment.Engine.Name, r.Deployment.Engine.Settings = 1, "vllm", []string{"prefix_caching=false"}
		},
	} {
		if _, err := run(session.Workload{Name: "a", Session: talks}, more); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestHostCache: memory of the host keeps what devices cannot, at the usual bandwidth where none is given.
func TestHostCache(t *testing.T) {
	t.Parallel()
	var w session.Session
	run := func(h deployment.HostCache) *simulate.Response {
		r, err := simulate.Run(t.Context(), &w, simulate.Request{
			Deployment: deployment.Deployment{
				Model: "Qwen/Qwen3-8B", Engine: deployment.Engine{Name: "vllm", Settings: []string{"memory_share=0.15"}}, Host: h,
			},
			Traffic: simulate.Traffic{Concurrency: 24, Requests: 48, Workloads: []session.Workload{{
				Session: &workload.Session{Turns: 4, First: 3000, User: 300, Output: 20, Think: 5},
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	none, usual, some := run(deployment.HostCache{}), run(deployment.HostCache{GiB: 64}), run(deployment.HostCache{GiB: 64, Bandwidth: 50})
	if none.Result.HostShare != 0 || usual.Result.TTFT != some.Result.TTFT {
		t.Errorf("without bandwidth: TTFT %v, with 50 GB/s %v", usual.Result.TTFT.Mean, some.Result.TTFT.Mean)
	}
	if some.Result.HostShare == 0 || some.Result.TTFT.Mean >= none.Result.TTFT.Mean {
		t.Errorf("%.2f on the host; TTFT %v, without %v", some.Result.HostShare, some.Result.TTFT.Mean, none.Result.TTFT.Mean)
	}
}
