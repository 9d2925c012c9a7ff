package graph_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// TestPictures shows the operators of one step of structures that no textbook has, as a reader would check them: one line
// each, with its count, shape, bytes and operations.
func TestPictures(t *testing.T) {
	type layout = parallel.Layout
	for _, c := range []struct {
		name   string
		model  string
		layout layout
		change func(*graph.Spec)
	}{
		{"selected", "deepseek-ai/DeepSeek-V3.2", layout{Devices: 8, TP: 8}, own},
		{"compressed", "deepseek-ai/DeepSeek-V4-Flash", layout{Devices: 4, TP: 4, EP: 4}, own},
		{"selected-heads", "MiniMaxAI/MiniMax-M3", layout{Devices: 8, TP: 4, EP: 8}, own},
		{"windows", "openai/gpt-oss-20b", layout{Devices: 2, TP: 2}, own},
		{"whole-norms", "MiniMaxAI/MiniMax-M2", layout{Devices: 4, TP: 2, EP: 4}, own},
		{"four-norms", "google/gemma-4-26B-A4B", layout{Devices: 2, TP: 2}, own},
		{"delta-rule", "Qwen/Qwen3.5-397B-A17B", layout{Devices: 8, TP: 8, EP: 8}, own},
		{"channel-decay", "moonshotai/Kimi-Linear-48B-A3B-Instruct", layout{Devices: 4, TP: 4}, own},
		{"state-space", "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", layout{Devices: 4, TP: 2, EP: 4}, own},
		{"convolutions", "LiquidAI/LFM2-8B-A1B", layout{Devices: 2, TP: 2}, own},
		{"channels", "ai21labs/Jamba-v0.1", layout{Devices: 4, TP: 4}, own},
		{"parallel-parts", "CohereLabs/c4ai-command-r7b-12-2024", layout{Devices: 2, TP: 2}, own},
		{"eager-parallel-parts", "tiiuae/falcon-40b", layout{Devices: 2, TP: 2}, func(s *graph.Spec) { own(s); s.Compile = false }},
		{"own-inputs", "google/gemma-3n-E2B", layout{Devices: 2, TP: 2}, own},
		{"gated-latents", "moonshotai/Kimi-K3", layout{Devices: 16, TP: 8, EP: 16}, own},
		{"raw-router", "meta-llama/Llama-4-Scout-17B-16E", layout{Devices: 4, TP: 4}, nil},
		{"gated-shared", "Qwen/Qwen2-57B-A14B", layout{Devices: 4, TP: 2, EP: 2, MoETP: 2}, nil},
		{"drafts", "deepseek-ai/DeepSeek-V3", layout{Devices: 8, TP: 4, DP: 2, EP: 8}, func(s *graph.Spec) { own(s); s.MTP = 1 }},
		{"draft-model", "Qwen/Qwen3-8B", layout{Devices: 2, TP: 2}, func(s *graph.Spec) { s.Draft = graph.Draft{Layers: 2, Block: 4} }},
		{"pipeline", "Qwen/Qwen3-8B", layout{Devices: 4, TP: 2, PP: 2}, func(s *graph.Spec) { s.EmbeddingTP, s.MatMulAllReduce = graph.EmbeddingCols, true }},
		{"cut-stream", "Qwen/Qwen3-8B", layout{Devices: 4, TP: 4}, func(s *graph.Spec) { s.EmbeddingTP, s.SequenceParallel = graph.EmbeddingRows, true }},
		{"cut-context", "Qwen/Qwen3-8B", layout{Devices: 16, TP: 16, DCP: 2}, func(s *graph.Spec) {
			s.Quant = graph.Resolve(s.Model, s.Policy, graph.Actions{Linear: dtype.W4A8Dynamic, Attention: dtype.AttentionFP8})
		}},
		{"fused-dispatch", "Qwen/Qwen3-30B-A3B", layout{Devices: 8, TP: 2, EP: 4}, func(s *graph.Spec) { s.DispatchCombine = true }},
		{"eager-experts", "Qwen/Qwen3-30B-A3B-FP8", layout{Devices: 4, TP: 2, EP: 4}, func(s *graph.Spec) { own(s); s.Compile = false }},
		{"eager-slices", "deepseek-ai/DeepSeek-V2-Lite", layout{Devices: 4, TP: 4, EP: 2}, func(s *graph.Spec) { s.Compile, s.SharedExpertTP = false, true }},
		{"static-scales", "Qwen/Qwen3-32B-FP8-Static-PerTensor", layout{Devices: 2, TP: 2}, own},
		{"four-bits", "nvidia/Qwen3-30B-A3B-NVFP4", layout{Devices: 4, TP: 2, EP: 4}, own},
		{"narrow-recurrence", "moonshotai/Kimi-Linear-48B-A3B-Instruct", layout{Devices: 4, TP: 4}, narrow(graph.Physical(), graph.Actions{Linear: dtype.W8A8Dynamic})},
		{"narrow-state-space", "nvidia/Nemotron-H-8B-Base-8K", layout{Devices: 2, TP: 2}, narrow(graph.Physical(), graph.Actions{Linear: dtype.W8A8Dynamic})},
		{
			"tensorcast-latent", "deepseek-ai/DeepSeek-V3",
			layout{Devices: 8, TP: 4, EP: 8},
			narrow(tensorcast.Policy(), graph.Actions{Linear: dtype.W8A8Dynamic, Attention: dtype.AttentionInt8}),
		},
		{"tensorcast-four-bits", "Qwen/Qwen3-30B-A3B", layout{Devices: 4, TP: 2}, narrow(tensorcast.Policy(), graph.Actions{Linear: dtype.MXFP4Action, Attention: dtype.AttentionFP8})},
		{"tensorcast-experts", "Qwen/Qwen3-30B-A3B", layout{Devices: 8, TP: 4, EP: 4, MoETP: 2}, narrow(tensorcast.Policy(), graph.Actions{Linear: dtype.W4A8Dynamic})},
		{"tensorcast-eager", "Qwen/Qwen2-57B-A14B", layout{Devices: 4, TP: 4, EP: 4}, func(s *graph.Spec) {
			narrow(tensorcast.Policy(), graph.Actions{Linear: dtype.W8A16Dynamic})(s)
			s.Compile = false
		}},
		{"tensorcast-router", "deepseek-ai/DeepSeek-V3", layout{Devices: 8, TP: 8, EP: 4}, narrow(tensorcast.Policy(), graph.Actions{Linear: dtype.Disabled})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := plain(lookup(t, c.model))
			s.Layout = c.layout.Complete(s.Model)
			if c.change != nil {
				c.change(&s)
			}
			golden.Check(t, "testdata/"+c.name+".golden", picture(t, s, graph.Images{}))
		})
	}
}

// own takes the number formats of the checkpoint.
func own(s *graph.Spec) { s.Quant = graph.Resolve(s.Model, s.Policy, graph.Actions{}) }

// narrow takes a policy and number formats of one's own.
func narrow(p graph.Policy, a graph.Actions) func(*graph.Spec) {
	return func(s *graph.Spec) { s.Policy, s.Quant = p, graph.Resolve(s.Model, p, a) }
}

// TestVerifiedDrafts shows a step of decodes alone that verify drafts: all rows want logits.
func TestVerifiedDrafts(t *testing.T) {
	s := plain(lookup(t, "deepseek-ai/DeepSeek-V3"))
	s.MTP = 2
	s.Model.Layers = s.Model.Layers[:1]
	golden.Check(t, "testdata/verified-drafts.golden", pictureOf(t, s, graph.Batch{Segments: []graph.Segment{{Requests: 40, Query: 3, Seq: 5000, Decode: true}}}))
}

// TestTower shows the operators of images: a tower with windows, and one that feeds early layers.
func TestTower(t *testing.T) {
	for name, id := range map[string]string{
		"vision-windows": "Qwen/Qwen2.5-VL-7B-Instruct", "vision-deep": "Qwen/Qwen3-VL-8B-Instruct", "vision-fixed": "google/gemma-3-4b-it",
	} {
		s := plain(lookup(t, id))
		s.Vision = true
		s.Model.Layers = s.Model.Layers[:1] // the tower is what counts
		golden.Check(t, "testdata/"+name+".golden", picture(t, s, graph.Images{Count: 2, Patches: 400, Tokens: 100}))
	}
}

// TestCross shows the layers that attend to images, and that text passes them by.
func TestCross(t *testing.T) {
	s := plain(lookup(t, "meta-llama/Llama-3.2-11B-Vision"))
	s.Layout = parallel.Layout{Devices: 2, TP: 2}.Complete(s.Model)
	s.Model.Vision = nil // the tower is not what counts
	golden.Check(t, "testdata/cross.golden", picture(t, s, graph.Images{Count: 2, Patches: 6404, Tokens: 1}))
	golden.Check(t, "testdata/cross-text.golden", picture(t, s, graph.Images{}))
}

// picture is a step of 40 decodes behind 5,000 tokens and two prompts of 301 behind 699, as text.
func picture(t *testing.T, s graph.Spec, images graph.Images) []byte {
	t.Helper()
	return pictureOf(t, s, graph.Batch{Images: images, Segments: []graph.Segment{{Requests: 40, Query: 1 + s.MTP, Seq: 5000, Decode: true}, {Requests: 2, Query: 301, Seq: 1000}}})
}

func pictureOf(t *testing.T, s graph.Spec, b graph.Batch) []byte {
	t.Helper()
	g, err := graph.New(s)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, it := range g.Append(nil, b) {
		writeItem(&out, &it)
	}
	return out.Bytes()
}

func writeItem(out *bytes.Buffer, it *op.Item) {
	o := &it.Op
	w := o.Work()
	fmt.Fprintf(out, "%-28s × %-4g", o.Name, it.Count)
	switch o.Kind {
	case op.GEMM, op.GroupedGEMM:
		fmt.Fprintf(out, " %.8g×%.8g×%.8g %v·%v→%v", o.Rows, o.Depth, o.Cols, o.In, o.Weight, o.Out)
		if o.Experts > 0 {
			fmt.Fprintf(out, " over %.8g, out %g", o.Experts, o.OutCols)
		}
	case op.Attention, op.Latent, op.Recurrent:
		fmt.Fprintf(out, " %g/%g heads of %g/%g, rank %g+%g, window %g, %v over %v", o.Heads, o.KVHeads, o.HeadDim, o.ValueDim, o.Rank, o.Rope, o.Window, o.In, o.KV)
		fmt.Fprintf(out, "; prefill %.8g decode %.8g expanded %.8g", o.Prefill, o.Decode, o.Expanded)
	case op.Collective, op.Transfer:
		fmt.Fprintf(out, " %.8g bytes over %d by %d", float64(o.Payload), o.Group.Size, o.Group.Stride)
	case op.Elementwise, op.LatentPrologue:
	}
	fmt.Fprintf(out, "; %.8g bytes", float64(w.Bytes))
	for _, x := range []struct {
		name string
		n    float64
	}{{"matrix", float64(w.Matrix)}, {"vector", float64(w.Vector)}, {"float32", float64(w.Vector32)}, {"launches", float64(o.Launches)}, {"branch", float64(it.Branch)}, {"run", float64(it.Run)}} {
		if x.n != 0 {
			fmt.Fprintf(out, ", %s %.8g", x.name, x.n)
		}
	}
	if it.Beside {
		out.WriteString(", beside")
	}
	out.WriteByte('\n')
}
