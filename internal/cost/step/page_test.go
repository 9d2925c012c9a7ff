package step

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// TestPages: what is priced along the line of a page agrees with the prices of the
// operators, wherever in the page the context ends.
func TestPages(t *testing.T) {
	d, err := device.Lookup("b200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	prices, _ := calibrated.New(d)
	curves := map[string]*Curve{}
	ids := []string{
		"Qwen/Qwen3-32B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-V3.2",
		"deepseek-ai/DeepSeek-V4-Pro", "MiniMaxAI/MiniMax-M3", "Qwen/Qwen3.5-397B-A17B",
	}
	for _, id := range ids {
		m, err := model.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		s := graph.Spec{Model: m, Layout: parallel.Layout{Devices: 8, TP: 8}.Complete(m), Policy: graph.Physical(), Compile: true}
		s.Quant = graph.Resolve(m, s.Policy, graph.Actions{})
		g, err := graph.New(s)
		if err != nil {
			t.Fatal(err)
		}
		curves[id] = NewCurve(g, prices)
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom(ids).Draw(t, "model")
		n, query := float64(rapid.IntRange(1, 600).Draw(t, "requests")), float64(rapid.IntRange(1, 4).Draw(t, "query"))
		sums := graph.Sums{Decode: op.Equal(n, query, query+rapid.Float64Range(0, 20000).Draw(t, "context"))}
		got, want := curves[id].Times(&sums), curves[id].exactly(&sums)
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-11*float64(want[i]) {
				t.Fatalf("%s: part %d: %v along the page, %v by operators", id, i, got[i], want[i])
			}
		}
	})
}
