package measured_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// TestWriteRows: rows that are written are read back, settings and all.
func TestWriteRows(t *testing.T) {
	t.Parallel()
	want := measured.Row{
		ID: "a.json", Source: "vllm bench serve", Engine: "vllm", Version: "0.22.0", Model: "Qwen/Qwen3-8B", System: "h200_sxm", Precision: "fp8", Mode: "agg",
		Input: 1000, Output: 200, Concurrency: 16, Requests: 160, LengthLow: 0.8, Workers: measured.Workers{Count: 1, TP: 2, PP: 1, DP: 1, MoETP: 1, MoEEP: 1}, GPUs: 2,
		TTFT: 0.125, TPOT: units.Seconds(0.0065), TPOTMedian: true, PerGPU: 1234.5, Acceptance: -1, KV: "fp8",
	}
	for _, s := range [][2]string{
		{"token_budget", "4096"},
		{"memory_share", "0.85"},
		{"max_sequences", "64"},
		{"graph.max_batch", "128"},
		{"kv_format", "fp8"},
		{"max_context", "8192"},
		{"receive_interval", "2"},
		{"batch_wait.steps", "3"},
		{"batch_wait.ratio", "0.5"},
		{"prefix_caching", "false"},
	} {
		if err := want.Set(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := want.Set("host.per_step_us", "100"); err == nil {
		t.Error("a setting without a column is accepted")
	}
	var file bytes.Buffer
	if err := measured.WriteRows(&file, []measured.Row{want}); err != nil {
		t.Fatal(err)
	}
	got, err := measured.Read(&file, "rows.csv")
	if err != nil || len(got) != 1 {
		t.Fatal(err, len(got))
	}
	if diff := cmp.Diff(want, got[0], cmpopts.IgnoreFields(measured.Row{}, "Line", "Defaulted"), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
