package sim

import (
	"bytes"
	"context"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// TestResultIsTrace: what WriteCSV writes can be replayed, with the same result.
func TestResultIsTrace(t *testing.T) {
	config := &Config{Client: closed(8), Workers: Pool{Engine: vllm(), Stepper: h100()}, Records: true}
	first, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := statistics.WriteCSV(&text, first.Records); err != nil {
		t.Fatal(err)
	}
	trace, err := workload.ReadTrace(&text, "x.csv", 0)
	if err != nil {
		t.Fatal(err)
	}
	config.Client = &traffic.Trace{Requests: trace.Requests}
	second, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	// The file has nanoseconds, and some arrive within them of a step's end.
	if d := float64(first.Latency.Mean/second.Latency.Mean) - 1; d > 0.01 || d < -0.01 {
		t.Errorf("latency: want %v, got %v", first.Latency.Mean, second.Latency.Mean)
	}
}
