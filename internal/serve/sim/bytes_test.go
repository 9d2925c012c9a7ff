package sim

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// TestBytes: what a run allocates is what was said before.
func TestBytes(t *testing.T) {
	for name, c := range map[string]*Config{
		"plain":    {},
		"records":  {Records: true},
		"prefixes": {Workers: Pool{Engine: Engine{PrefixCache: true}}},
	} {
		prefix := c.Workers.Engine.PrefixCache
		c.Workers = Pool{Engine: vllm(), Stepper: h100()}
		c.Workers.Engine.PrefixCache = prefix
		open := OpenLoop{Rate: 10, Requests: 1 << 17, Input: Lengths{Tokens: 100}, Output: Lengths{Tokens: 2}}
		if prefix {
			open.Prefix = 50
		}
		c.Client = open
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run(t, c)
		runtime.ReadMemStats(&after)
		got, want := float64(after.TotalAlloc-before.TotalAlloc), float64(c.Bytes())
		if got < 0.9*want || got > 1.1*want {
			t.Errorf("%s: %g bytes, said to be %g", name, got, want)
		}
	}
}

// TestBytesOfLoads: a window waits in line, time makes room in steps, and replicas that are
// alike are one.
func TestBytesOfLoads(t *testing.T) {
	lengths := Lengths{Tokens: 100}
	bytes := func(client Client, replicas int) float64 {
		c := Config{Client: client, Workers: Pool{Replicas: replicas, Engine: vllm()}}
		return float64(c.Bytes())
	}
	few := ClosedLoop{Requests: 1000, Concurrency: 10, Input: lengths, Output: lengths}
	many := few
	many.Concurrency = 1000
	if bytes(many, 1) <= bytes(few, 1) || bytes(few, 10) > 0.11*bytes(few, 1) {
		t.Errorf("%g and %g for windows, %g for one of ten", bytes(few, 1), bytes(many, 1), bytes(few, 10))
	}
	timed := bytes(OpenLoop{Rate: 10, Duration: 100}, 1)
	counted := bytes(OpenLoop{Rate: 10, Requests: 1000}, 1)
	both := bytes(OpenLoop{Rate: 10, Requests: 1000, Duration: 1e6}, 1)
	if timed != 2.25*counted || both != timed {
		t.Errorf("%g for a time, %g for a number, %g for both", timed, counted, both)
	}
	if none := (&Config{}).Bytes(); none != 0 {
		t.Errorf("%v without a client", none)
	}
}

// TestCancelledBefore: a cancelled run does not begin.
func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := &Config{Client: closed(4), Workers: Pool{Engine: vllm(), Stepper: h100()}}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
