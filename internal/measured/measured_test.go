package measured_test

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/measured"
	"plimsoll/internal/measured/measuredtest"
	"plimsoll/internal/replica"
	"plimsoll/internal/serving"
)

// TestFormulas: rows are predicted as throughput-optimizer would, and the two
// accountings differ in throughput alone.
func TestFormulas(t *testing.T) {
	t.Parallel()
	p, r := measuredtest.Predictor(), measuredtest.Rows(t)
	documented, steady := p.AllFormulas(t.Context(), r, serving.Documented), p.AllFormulas(t.Context(), r, serving.Steady)
	for i := range r {
		a, b := &documented[i].Pred, &steady[i].Pred
		if a.Err != nil || b.Err != nil {
			t.Fatal(a.Err, b.Err)
		}
		if a.TTFT <= 0 || a.TPOT <= 0 || a.TTFT != b.TTFT || a.TPOT != b.TPOT || a.Throughput >= b.Throughput {
			t.Errorf("row %d: documented %+v, steady %+v", i, a, b)
		}
	}
	r[0].System = "nowhere"
	if p.Formulas(t.Context(), &r[0], serving.Steady).Err == nil {
		t.Error("an unknown system is predicted")
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "m.csv: no header: EOF"},
		{"a,b\n1,2\n", `m.csv:1: no column "backend"`},
		{measuredtest.Header + "x,vllm,m,h200_sxm,fp8,agg,ten,128,2,1,2,1,4,16,0.8,fp8,8192,0.9,100,10,\n", `m.csv:2: isl: want a number, got "ten"`},
	} {
		_, err := measured.Read(strings.NewReader(c.text), "m.csv")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("want an error that begins with %q, got %v", c.want, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(measuredtest.File())
	f.Add(measuredtest.Header)
	f.Add("backend,model_path,system,isl,osl,tp_size,silicon_ttft_ms,silicon_tpot_ms\nvllm,m,s,1,1,1,1e400,NaN\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = measured.Read(strings.NewReader(text), "fuzz.csv")
	})
}

// TestDrafts: kept drafts shorten the time per token by about as much as they add,
// and drafts that are never kept cost time.
func TestDrafts(t *testing.T) {
	const head = "backend,backend_version,model_path,system,precision,isl,osl,tp_size,concurrency,silicon_ttft_ms,silicon_tpot_ms,mtp_tokens,acceptance\n"
	const row = "vllm,0.19.0,deepseek-ai/DeepSeek-R1,h200_sxm,fp8,1024,256,8,4,80,12,"
	read, err := measured.Read(strings.NewReader(head+row+",\n"+row+"1,0.8\n"+row+"1,0\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	var tpot []float64
	for i := range read {
		p := measuredtest.Predictor().Predict(t.Context(), &read[i])
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		tpot = append(tpot, p.TPOT.Ms())
	}
	if plain, kept, lost := tpot[0], tpot[1], tpot[2]; kept > plain/1.3 || kept < plain/1.8 || lost < plain {
		t.Errorf("%.2f ms without drafts, %.2f with 0.8 kept, %.2f with none kept", plain, kept, lost)
	}
	read[1].Model = "Qwen/Qwen3-32B"
	if p := measuredtest.Predictor().Predict(t.Context(), &read[1]); p.Err == nil || !strings.Contains(p.Err.Error(), "Qwen/Qwen3-32B has no MTP modules") {
		t.Errorf("drafts without modules: %v", p.Err)
	}
}

// TestWorkerSizes: sizes that no worker can have are refused with the reason.
func TestWorkerSizes(t *testing.T) {
	const head = "backend,model_path,system,isl,osl,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n"
	for sizes, want := range map[string]string{
		"72,1,72,1": "tp_size 72 does not divide the model's 128 attention heads; are the row's sizes those of one worker?",
		"8,1,4,4":   "EP 4 × MoE-TP 4 × MoE-DP 1 × PP 1 = 16 does not equal the 8 devices; are the row's sizes those of one worker?",
		"8,1,1,8":   "",
		"1,8,,8":    "",
	} {
		read, err := measured.Read(strings.NewReader(head+"sglang,deepseek-ai/DeepSeek-R1,b200_sxm,512,64,"+sizes+",80,12\n"), "made-up.csv")
		if err != nil {
			t.Fatal(err)
		}
		p := measuredtest.Predictor().Predict(t.Context(), &read[0])
		if want == "" && p.Err != nil || want != "" && (p.Err == nil || p.Err.Error() != want) {
			t.Errorf("%s: %v, want %q", sizes, p.Err, want)
		}
	}
}

// TestAmpleShare: DeepSeek-R1 in 8 bits on four GB200 ran, so SGLang was not left
// at its default; a share that a row gives is kept.
func TestAmpleShare(t *testing.T) {
	const head = "backend,backend_version,model_path,system,precision,isl,osl,tp_size,moe_tp_size,memory_fraction,silicon_ttft_ms,silicon_tpot_ms\n"
	const row = "sglang,0.5.8,deepseek-ai/DeepSeek-R1,gb200,fp8,512,64,4,4,"
	read, err := measured.Read(strings.NewReader(head+row+",80,12\n"+row+"0.85,80,12\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := measuredtest.Predictor()
	if q := p.Predict(t.Context(), &read[0]); q.Err != nil || len(q.Assumed) != 1 || !strings.Contains(q.Assumed[0], "runs with memory_share 0.95") {
		t.Errorf("%v, assumed %q", q.Err, q.Assumed)
	}
	if q := p.Predict(t.Context(), &read[1]); !errors.Is(q.Err, replica.ErrNoCache) {
		t.Errorf("a share of 0.85: %v", q.Err)
	}
}
