package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// BenchmarkClosedLoop is one configuration of a search: 10·C requests of about
// 1,000 tokens in and out.
func BenchmarkClosedLoop(b *testing.B) {
	for name, engine := range map[string]server.Engine{"decode-first": vllm(), "prefill-first": sglang(), "in-flight": trtllm()} {
		for _, c := range []int{4, 16, 64, 256} {
			b.Run(fmt.Sprintf("policy=%s/concurrency=%d", name, c), func(b *testing.B) {
				config := &Config{Client: closed(c), Workers: Pool{Engine: engine, Stepper: h100()}}
				measure(b, config, 10*c)
			})
		}
	}
}

// BenchmarkTrace is a trace like Mooncake's, repeated, over replicas.
func BenchmarkTrace(b *testing.B) {
	trace := mooncake()
	for _, times := range []int{1, 4, 16} {
		for _, cache := range []bool{false, true} {
			b.Run(fmt.Sprintf("requests=%d/prefix=%t", times*len(trace.Requests), cache), func(b *testing.B) {
				engine := vllm()
				engine.Blocks, engine.PrefixCache = 40_000, cache
				config := &Config{
					Client:  repeat(trace, times),
					Workers: Pool{Replicas: 8, Routing: LeastLoaded, Engine: engine, Stepper: h100()},
				}
				measure(b, config, times*len(trace.Requests))
			})
		}
	}
}

// BenchmarkDisaggregated is the same trace with two pools.
func BenchmarkDisaggregated(b *testing.B) {
	trace := mooncake()
	config := &Config{
		Client:  trace,
		Workers: Pool{Replicas: 6, Routing: LeastLoaded, Engine: sglang(), Stepper: h100()},
		Decode:  &Pool{Replicas: 2, Routing: LeastLoaded, Engine: sglang(), Stepper: h100()},
		Link:    server.Link{BytesPerToken: 160_000, Bandwidth: 50e9, Latency: 1e-3},
	}
	measure(b, config, len(trace.Requests))
}

// measure runs a configuration, of whose requests at least so many end.
func measure(b *testing.B, config *Config, requests int) {
	b.ReportAllocs()
	ended := 0
	for b.Loop() {
		r, err := Run(context.Background(), config)
		if err != nil {
			b.Fatal(err)
		}
		if r.Finished+r.Refused < requests {
			b.Fatal(r.Finished)
		}
		ended += r.Finished + r.Refused
	}
	b.ReportMetric(float64(ended)/b.Elapsed().Seconds(), "requests/s")
}

// mooncake is a made-up trace like Mooncake's published one: as many requests in
// as much time, the same mean lengths, as large a share of the prompts' blocks
// seen before.
func mooncake() *traffic.Trace {
	const (
		requests, seconds = 3993, 1022
		input, output     = 15325, 149
		block, shared     = 512, 0.64
		families, deepest = 60, 1000 // prompts that begin alike; blocks of the longest
	)
	random := rand.New(rand.NewPCG(1, 2))
	trace := &traffic.Trace{BlockTokens: block, Requests: make([]workload.Request, requests)}
	var beginnings [families][]uint32
	fresh := uint32(0)
	for i := range trace.Requests {
		q := &trace.Requests[i]
		q.Arrival = units.Seconds(i) * seconds / requests
		q.Input = 1 + int(min(input*random.ExpFloat64(), deepest*block-1))
		q.Output = 1 + int(output*random.ExpFloat64())
		blocks := (q.Input + block - 1) / block
		begin := &beginnings[random.IntN(families)]
		for j := range blocks {
			switch alike := float64(j) < shared*float64(blocks); {
			case alike && j < len(*begin):
				q.Blocks = append(q.Blocks, (*begin)[j])
				continue
			case alike:
				*begin = append(*begin, fresh)
			}
			q.Blocks = append(q.Blocks, fresh)
			fresh++
		}
	}
	return trace
}

// repeat plays a trace several times, each time with contents of its own.
func repeat(t *traffic.Trace, times int) *traffic.Trace {
	out := &traffic.Trace{BlockTokens: t.BlockTokens}
	contents := uint32(0)
	for _, q := range t.Requests {
		for _, b := range q.Blocks {
			contents = max(contents, b+1)
		}
	}
	for i := range times {
		for _, q := range t.Requests {
			q.Arrival += t.Requests[len(t.Requests)-1].Arrival * 1.0001 * units.Seconds(i)
			blocks := make([]uint32, len(q.Blocks))
			for j, b := range q.Blocks {
				blocks[j] = b + uint32(i)*contents
			}
			q.Blocks = blocks
			out.Requests = append(out.Requests, q)
		}
	}
	return out
}

// BenchmarkSteady is a load that lasts, at a rate and in a closed loop: eighty thousand requests or more, however small the error.
func BenchmarkSteady(b *testing.B) {
	for name, client := range map[string]traffic.Client{
		"rate=12":    chat(12),
		"clients=64": traffic.ClosedLoop{Requests: 1, Concurrency: 64, Input: chat(1).Input, Output: chat(1).Output},
	} {
		b.Run(name, func(b *testing.B) {
			const requests, least = 100_000, 80_000
			config := &Config{
				Client: client, Workers: Pool{Engine: vllm(), Stepper: h100()},
				Steady: &statistics.Steady{Error: 1e-9, Requests: requests},
			}
			measure(b, config, least)
		})
	}
}
