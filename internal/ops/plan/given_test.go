package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// config is that of a small Qwen3.
const config = `{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
"num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "max_position_embeddings": 40960, "torch_dtype": "bfloat16", "tie_word_embeddings": false}`

// TestGivenConfig: a config.json that comes with a request is planned like the model it is of; another one under the same name is another model.
func TestGivenConfig(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	want := mustPlan(t, r)
	r.Model, r.Config = "mine", json.RawMessage(config)
	w := &session.Session{Memo: &session.Memo{}}
	got, err := Run(t.Context(), w, r)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.Contenders[0].Tokens, want.Contenders[0].Tokens; a.Value != b.Value || !strings.HasPrefix(got.Request.Model, "mine@") {
		t.Errorf("%s: %g tokens/s, that of the catalog %g", got.Request.Model, a.Value, b.Value)
	}
	r.Config = json.RawMessage(strings.Replace(config, `"num_hidden_layers": 36`, `"num_hidden_layers": 18`, 1))
	half, err := Run(t.Context(), w, r)
	if err != nil {
		t.Fatal(err)
	}
	if half.Contenders[0].Tokens.Value <= got.Contenders[0].Tokens.Value {
		t.Error("half the layers are not faster")
	}
	for _, bad := range []string{`{}`, `{"architectures": ["Nothing"]}`, `"/etc/passwd"`, strings.Repeat(" ", int(bound.Request.Bytes())) + "{}"} {
		r.Config = json.RawMessage(bad)
		if _, err := Run(t.Context(), &session.Session{}, r); err == nil {
			t.Errorf("%.40s is taken for a model", bad)
		}
	}
}

// TestGivenTrace: a trace that comes with a request gives the lengths, and names no file.
func TestGivenTrace(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	r.Workloads = []session.Workload{{TraceData: `{"timestamp": 0, "input_length": 900, "output_length": 30}
{"timestamp": 1000, "input_length": 1100, "output_length": 10}
`}}
	p := mustPlan(t, r)
	if x := p.Workloads[0]; x.Input != 1000 || x.Output != 20 {
		t.Errorf("lengths %+v", x)
	}
	r.Workloads = []session.Workload{{Trace: "/etc/passwd", TraceData: "x"}}
	if _, err := Run(t.Context(), &session.Session{}, r); err == nil {
		t.Error("a name and a content are taken")
	}
}

// TestAddressOfModel: an address at Hugging Face is its model.
func TestAddressOfModel(t *testing.T) {
	for _, address := range []string{
		"https://huggingface.co/Qwen/Qwen3-32B", "huggingface.co/Qwen/Qwen3-32B/tree/main", "https://hf.co/Qwen/Qwen3-32B?library=vllm", "https://www.huggingface.co/Qwen/Qwen3-32B/",
	} {
		if m, err := (model.Source{}).Open(address); err != nil || m.ID != "Qwen/Qwen3-32B" {
			t.Errorf("%s: %v, %v", address, m, err)
		}
	}
}
