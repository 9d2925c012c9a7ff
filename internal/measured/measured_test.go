package measured_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/cost"
	"plimsoll/internal/cost/calibrated"
	"plimsoll/internal/device"
	"plimsoll/internal/measured"
	"plimsoll/internal/replica"
	"plimsoll/internal/serving"
)

const header = "id,backend,model_path,system,precision,mode,isl,osl,tp_size,attention_dp_size,moe_tp_size,moe_ep_size," +
	"concurrency,num_prompts,length_ratio_low,kv_cache_dtype,token_budget,memory_fraction,silicon_ttft_ms,silicon_tpot_ms,quality\n"

// file is rows of a made-up benchmark: two models, four lengths, a few
// concurrencies.
func file() string {
	var b strings.Builder
	b.WriteString(header)
	for _, m := range []string{"meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-32B"} {
		for _, isl := range []int{256, 512, 1024, 2048} {
			for _, c := range []int{1, 4, 16, 64} {
				fmt.Fprintf(&b, "%s-%d-%d,vllm,%s,h200_sxm,fp8,agg,%d,128,2,1,2,1,%d,%d,0.8,fp8,8192,0.9,100,10,\n", m, isl, c, m, isl, c, 4*c)
			}
		}
	}
	return b.String()
}

// priced keeps the prices of devices: every test asks for the same few.
var priced sync.Map

func predictor() *measured.Predictor {
	return &measured.Predictor{Prices: func(d *device.Profile) cost.Coster {
		if m, ok := priced.Load(d.Name); ok {
			return m.(cost.Coster)
		}
		m, ok := calibrated.New(d)
		if !ok {
			panic("no prices for " + d.Name)
		}
		priced.Store(d.Name, m)
		return m
	}}
}

func rows(t *testing.T) []measured.Row {
	t.Helper()
	r, err := measured.Read(strings.NewReader(file()), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFormulas: rows are predicted as throughput-optimizer would, and the two
// accountings differ in throughput alone.
func TestFormulas(t *testing.T) {
	t.Parallel()
	p, r := predictor(), rows(t)
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
		{header + "x,vllm,m,h200_sxm,fp8,agg,ten,128,2,1,2,1,4,16,0.8,fp8,8192,0.9,100,10,\n", `m.csv:2: isl: want a number, got "ten"`},
	} {
		_, err := measured.Read(strings.NewReader(c.text), "m.csv")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("want an error that begins with %q, got %v", c.want, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file())
	f.Add(header)
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
		p := predictor().Predict(t.Context(), &read[i])
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		tpot = append(tpot, p.TPOT.Ms())
	}
	if plain, kept, lost := tpot[0], tpot[1], tpot[2]; kept > plain/1.3 || kept < plain/1.8 || lost < plain {
		t.Errorf("%.2f ms without drafts, %.2f with 0.8 kept, %.2f with none kept", plain, kept, lost)
	}
	read[1].Model = "Qwen/Qwen3-32B"
	if p := predictor().Predict(t.Context(), &read[1]); p.Err == nil || !strings.Contains(p.Err.Error(), "Qwen/Qwen3-32B has no prediction modules") {
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
		p := predictor().Predict(t.Context(), &read[0])
		if want == "" && p.Err != nil || want != "" && (p.Err == nil || p.Err.Error() != want) {
			t.Errorf("%s: %v, want %q", sizes, p.Err, want)
		}
	}
}

// TestAmpleShare: DeepSeek-R1 in 8 bits on four GB200 ran, so SGLang was not left
// at its default; a share that a row tells is kept.
func TestAmpleShare(t *testing.T) {
	const head = "backend,backend_version,model_path,system,precision,isl,osl,tp_size,moe_tp_size,memory_fraction,silicon_ttft_ms,silicon_tpot_ms\n"
	const row = "sglang,0.5.8,deepseek-ai/DeepSeek-R1,gb200,fp8,512,64,4,4,"
	read, err := measured.Read(strings.NewReader(head+row+",80,12\n"+row+"0.85,80,12\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := predictor()
	if q := p.Predict(t.Context(), &read[0]); q.Err != nil || len(q.Assumed) != 1 || !strings.Contains(q.Assumed[0], "assumed to run with 0.95") {
		t.Errorf("%v, assumed %q", q.Err, q.Assumed)
	}
	if q := p.Predict(t.Context(), &read[1]); !errors.Is(q.Err, replica.ErrNoCache) {
		t.Errorf("a share of 0.85: %v", q.Err)
	}
}
