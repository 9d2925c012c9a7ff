package sim

import "github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"

// identicalReplicas is the number of replicas that do exactly the same at the same time, so that one
// represents all; 1 if they differ. In a closed loop of equal requests that are routed
// in turn every replica gets as many at a time as any other.
func (c *Config) identicalReplicas() int {
	n := max(1, c.Workers.Replicas)
	loop, ok := c.Client.(traffic.ClosedLoop)
	if !ok || n == 1 || c.Decode != nil || c.Records || c.Workers.Routing != RoundRobin ||
		c.Steady == nil && (loop.Warmup > 0 || loop.Spread > 0 || loop.Requests%n != 0) || !loop.Equal() || loop.Concurrency%n != 0 {
		return 1
	}
	return n
}

// oneOf is the part of a configuration for one of n identical replicas.
func (c *Config) oneOf(n int) *Config {
	out := *c
	loop, _ := c.Client.(traffic.ClosedLoop)
	loop.Concurrency /= n
	loop.Requests = max(1, loop.Requests/n)
	out.Client, out.Workers.Replicas, out.represents = loop, 1, n
	if c.Steady != nil {
		rule := *c.Steady
		rule.Requests = (rule.Requests + n - 1) / n
		out.Steady = &rule
	}
	if c.Progress != nil {
		out.Progress = func(ended, requests int) { c.Progress(n*ended, n*requests) }
	}
	return &out
}
