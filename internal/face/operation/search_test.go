package operation

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestSearch: what people type finds the model they mean first.
func TestSearch(t *testing.T) {
	for query, want := range map[string]string{
		"qwen3 32b": "Qwen/Qwen3-32B", "llama 70b": "meta-llama/", "llama 3.1 70b": "meta-llama/Llama-3.1-70B", "deepseek v3": "deepseek-ai/DeepSeek-V3", "gpt-oss 120b": "openai/gpt-oss-120b", "qwen3": "Qwen/Qwen3-",
	} {
		got, err := listModels(t.Context(), nil, ListRequest{Query: query, Limit: 3})
		if err != nil || len(got.Models) == 0 || !strings.HasPrefix(got.Models[0].ID, want) {
			t.Errorf("%s: %v, %+v", query, err, got)
		}
	}
	systems, err := listDevices(t.Context(), nil, ListRequest{Limit: 2})
	if err != nil || systems.Devices[0].Name != "h100_sxm" || systems.Devices[1].Name != "h200_sxm" {
		t.Errorf("first systems: %+v, %v", systems, err)
	}
}

// TestErrorsNameFields: mistakes in a model or a system say which field they are in.
func TestErrorsNameFields(t *testing.T) {
	for want, r := range map[string]opsplan.Request{
		"model":   {Model: "no/such", Systems: []string{"h200_sxm"}, Devices: 8, Workloads: []session.Workload{{Input: 100, Output: 10}}},
		"systems": {Model: "Qwen/Qwen3-8B", Systems: []string{"h900"}, Devices: 8, Workloads: []session.Workload{{Input: 100, Output: 10}}},
	} {
		_, err := opsplan.Run(t.Context(), &session.Session{}, r)
		wrong := document.NewInputError(errors.Join(err), "plan")
		if len(wrong.Fields) != 1 || wrong.Fields[0] != want {
			t.Errorf("%v: want the field %s, got %q", err, want, wrong.Fields)
		}
	}
}
