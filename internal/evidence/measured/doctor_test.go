package measured_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
)

const doctorHeader = "id,silicon_data_source,backend,backend_version,model_path,system,precision,isl,osl,tp_size,concurrency,silicon_ttft_ms,silicon_tpot_ms\n"

func TestExamine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rows string
		want       []string // id:rule
	}{
		{"sound rows", `
a,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,80,12
b,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,16,120,14
c,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,4,4,60,8`, nil},
		{"heads do not divide", "a,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,48,4,80,12", []string{"a:impossible"}},
		{"an unknown model may exist", "a,x,vllm,1,No/Such-Model,h200_sxm,fp8,1024,1024,48,4,80,12", nil},
		{"exported twice", `
a,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,80.25,12.5
b,y,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,80.25,12.5`, []string{"b:duplicate"}},
		{"beyond the kernels", "a,x,vllm,1,meta-llama/Llama-3.1-8B-Instruct,h200_sxm,,8192,64,1,256,900,10", []string{"a:over-compute"}},
		{
			"several workers", "a,x,vllm,1,Qwen/Qwen3-32B,h100_sxm,,15000,5000,2,400,700,9000",
			[]string{"a:multi-worker"},
		},
		{"by its source", "a,dynamo_version=1,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,80,12", []string{"a:multi-worker"}},
		{"cold", "a,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,8000,12", []string{"a:cold-start"}},
		{"a cold campaign before warm-ups", `
a,f; measured=2025-11-02,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,8000,12
b,f; measured=2025-11-02,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,8,8000,13
c,f; measured=2025-11-02,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,16,900,14`, []string{"a:cold-start", "b:cold-start", "c:cold-start"}},
		{"the same campaign with warm-ups", `
a,f; measured=2026-02-02,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,8000,12
b,f; measured=2026-02-02,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,8,8000,13
c,f; measured=2026-02-02,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,16,900,14`, []string{"a:cold-start", "b:cold-start"}},
		{"fewer devices are faster", `
a,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,4,80,5
b,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,4,4,80,8`, []string{"a:speculation"}},
		{"one version is far faster", `
a,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,32,80,12
b,x,vllm,2,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,32,80,6`, []string{"b:speculation"}},
		{"slower under less load", `
a,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,32,80,16
b,x,vllm,1,Qwen/Qwen3-32B,h200_sxm,fp8,1024,1024,2,64,120,12`, []string{"a:noise"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows, err := measured.Read(strings.NewReader(doctorHeader+strings.TrimSpace(c.rows)+"\n"), "rows.csv")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range examined(t, rows) {
				got = append(got, f.Row.ID+":"+f.Rule)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestExamineDisaggregated holds prompts against the devices that compute them.
func TestExamineDisaggregated(t *testing.T) {
	const head = "id,backend,model_path,system,precision,mode,isl,osl,tp_size,concurrency,silicon_ttft_ms,silicon_tpot_ms," +
		"prefill_tp_size,prefill_num_workers,decode_tp_size,decode_num_workers\n"
	const rows = "warm,vllm,Qwen/Qwen3-32B,h200_sxm,fp8,disagg,1024,1024,,4,90,12,2,1,2,1\n" +
		"waits,vllm,Qwen/Qwen3-32B,h200_sxm,fp8,disagg,1024,1024,,4,8000,12,2,1,2,1\n"
	measured, err := measured.Read(strings.NewReader(head+rows), "rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	found := examined(t, measured)
	if len(found) != 1 || found[0].Row.ID != "waits" || found[0].Rule != "hidden-limit" || !found[0].TTFTOnly {
		t.Errorf("want the TTFT of the row that waits doubted, got %+v", found)
	}
}

// examined is what the doctor finds.
func examined(t *testing.T, rows []measured.Row) []measured.Finding {
	t.Helper()
	found, err := measuredtest.Predictor().Examine(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestDoctorWithoutTimes: rows that have only a throughput are neither impossible nor duplicates.
func TestDoctorWithoutTimes(t *testing.T) {
	t.Parallel()
	rows, err := measured.Read(strings.NewReader("backend,model_path,system,isl,osl,tp_size,tput_per_gpu,concurrency\nvllm,Qwen/Qwen3-8B,h200_sxm,1000,100,1,900,8\nvllm,Qwen/Qwen3-8B,h200_sxm,1000,100,1,950,16\n"), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	found, err := measuredtest.Predictor().Examine(t.Context(), rows)
	if err != nil || len(found) != 0 {
		t.Errorf("%v: %+v", err, found)
	}
}
