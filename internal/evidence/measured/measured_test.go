package measured_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// TestFormulas: rows are predicted as throughput-optimizer would, and the two
// accountings differ in throughput alone.
func TestFormulas(t *testing.T) {
	t.Parallel()
	p, r := measuredtest.Predictor(), measuredtest.Rows(t)
	documented, steady := p.AllFormulas(t.Context(), r, formulas.Documented), p.AllFormulas(t.Context(), r, formulas.Steady)
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
	if p.Formulas(t.Context(), &r[0], formulas.Steady).Err == nil {
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

// TestShortContext: DeepSeek-V4-Pro on eight H200 ran with what its script gave, so the workspaces for its index were not sized
// for the million tokens of the model; where there is room nothing is assumed.
func TestShortContext(t *testing.T) {
	const head = "backend,backend_version,model_path,system,precision,isl,osl,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,memory_fraction,token_budget,max_num_seqs,silicon_tpot_ms\n"
	const row = ",fp8,512,64,1,8,1,8,0.95,512,512,30\n"
	read, err := measured.Read(strings.NewReader(head+"vllm,0.25.1,deepseek-ai/DeepSeek-V4-Pro,h200_sxm"+row+"vllm,0.25.1,deepseek-ai/DeepSeek-V4-Pro,b200_sxm"+row), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := measuredtest.Predictor()
	if q := p.Predict(t.Context(), &read[0]); q.Err != nil || len(q.Assumed) != 1 || !strings.Contains(q.Assumed[0], "limits the context") {
		t.Errorf("%v, assumed %q", q.Err, q.Assumed)
	}
	if q := p.Predict(t.Context(), &read[1]); q.Err != nil || len(q.Assumed) != 0 {
		t.Errorf("%v, assumed %q", q.Err, q.Assumed)
	}
}

// TestSharedPrices: rows that differ in load and settings are predicted as each would be alone.
func TestSharedPrices(t *testing.T) {
	const head = "backend,backend_version,model_path,system,isl,osl,tp_size,concurrency,num_prompts,token_budget,silicon_tpot_ms\n"
	const row = "vllm,0.19.0,Qwen/Qwen3-30B-A3B,h200_sxm,512,64,2,"
	read, err := measured.Read(strings.NewReader(head+row+"4,16,8192,9\n"+row+"32,64,8192,9\n"+row+"32,64,1024,9\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	together := measuredtest.Predictor()
	for i := range read {
		a, b := together.Predict(t.Context(), &read[i]), measuredtest.Predictor().Predict(t.Context(), &read[i])
		if a.Err != nil || a.TTFT != b.TTFT || a.TPOT != b.TPOT || a.PerGPU != b.PerGPU {
			t.Errorf("row %d: together %v %v, alone %v %v, %v", i, a.TTFT, a.TPOT, b.TTFT, b.TPOT, a.Err)
		}
	}
}

// TestAnyMeasure: a file with any one measurement is read, none is refused.
func TestAnyMeasure(t *testing.T) {
	const head, row = "backend,model_path,system,isl,osl,tp_size", "vllm,Qwen/Qwen3-8B,h200_sxm,512,64,1"
	for column, of := range map[string]func(*measured.Row) float64{
		"silicon_ttft_ms": func(r *measured.Row) float64 { return r.TTFT.Ms() }, "silicon_tpot_ms": func(r *measured.Row) float64 { return r.TPOT.Ms() },
		"ttft_est_ms":  func(r *measured.Row) float64 { return r.TTFTEstimate.Ms() },
		"tput_per_gpu": func(r *measured.Row) float64 { return r.PerGPU }, "joules_per_output_token": func(r *measured.Row) float64 { return r.Joules },
	} {
		read, err := measured.Read(strings.NewReader(head+","+column+"\n"+row+",8\n"), "made-up.csv")
		if err != nil || of(&read[0]) != 8 {
			t.Errorf("%s: %v, %+v", column, err, read)
		}
	}
	if _, err := measured.Read(strings.NewReader(head+"\n"+row+"\n"), "made-up.csv"); err == nil ||
		err.Error() != "made-up.csv:1: no column of measurements: want one of silicon_ttft_ms, silicon_tpot_ms, ttft_est_ms, tput_per_gpu, joules_per_output_token" {
		t.Errorf("no measurement: %v", err)
	}
}

// TestThroughput: the tokens of the whole run over its time and the row's devices, or
// those of its layout.
func TestThroughput(t *testing.T) {
	const head = "backend,model_path,system,isl,osl,tp_size,concurrency,num_prompts,length_ratio_low,gpus,tput_per_gpu\n"
	const row = "vllm,Qwen/Qwen3-8B,h200_sxm,512,64,2,1,4,1,"
	read, err := measured.Read(strings.NewReader(head+row+",100\n"+row+"4,100\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := measuredtest.Predictor()
	two, four := p.Predict(t.Context(), &read[0]), p.Predict(t.Context(), &read[1])
	if two.Err != nil || two.PerGPU != 2*four.PerGPU {
		t.Fatalf("%v, %g on two, %g on four", two.Err, two.PerGPU, four.PerGPU)
	}
	// One request after another: all tokens over the time of one.
	want := (512 + 64) / float64(two.TTFTMean+63*two.TPOT) / 2
	if r := two.PerGPU / want; r < 0.97 || r > 1.05 {
		t.Errorf("%g tokens/s, want about %g", two.PerGPU, want)
	}
}

// TestMedian: a row of medians is compared with the median.
func TestMedian(t *testing.T) {
	const head = "backend,model_path,system,isl,osl,tp_size,concurrency,num_prompts,length_ratio_low,silicon_ttft_ms,silicon_tpot_ms,ttft_stat,tpot_stat\n"
	const row = "vllm,Qwen/Qwen3-8B,h200_sxm,2048,64,1,32,96,0.5,100,10,"
	read, err := measured.Read(strings.NewReader(head+row+"mean,mean\n"+row+"median,median-of-runs of median\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := measuredtest.Predictor()
	mean, median := p.Predict(t.Context(), &read[0]), p.Predict(t.Context(), &read[1])
	if mean.TTFT == median.TTFT || mean.TPOT == median.TPOT || mean.TTFT != median.TTFTMean || mean.Throughput != median.Throughput {
		t.Errorf("means %+v, medians %+v", mean, median)
	}
}

// TestSides: each side has its own settings.
func TestSides(t *testing.T) {
	const head = "backend,backend_version,model_path,system,precision,mode,isl,osl,tp_size,prefill_num_workers,prefill_tp_size,decode_num_workers,decode_tp_size," +
		"memory_fraction,silicon_tpot_ms"
	const row = "vllm,0.19.0,Qwen/Qwen3-8B,h200_sxm,fp8,disagg,512,64,,1,1,1,1,0.5,10"
	read, err := measured.Read(strings.NewReader(head+",decode_memory_fraction,token_budget\n"+row+",0.9,4096\n"+row+",,\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	d := read[0].Deployment()
	if got := strings.Join(d.Pools[0].Settings, " ") + "; " + strings.Join(d.Pools[1].Settings, " "); got != "token_budget=4096 memory_share=0.5; memory_share=0.9" {
		t.Errorf("own sides: %s", got)
	}
	if d = read[1].Deployment(); len(d.Pools[1].Settings) != 0 {
		t.Errorf("decode keeps its default: %v", d.Pools[1].Settings)
	}
	read, err = measured.Read(strings.NewReader(head+"\n"+row+"\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	if d = read[0].Deployment(); strings.Join(d.Pools[0].Settings, " ") != "memory_share=0.5" || len(d.Pools[1].Settings) != 0 {
		t.Errorf("a memory share without a role is of prefill: %+v", d.Pools)
	}
}

// TestOwnNames: a column by an engine's own name is a setting; others are listed, and so
// are settings that the engine does not have.
func TestOwnNames(t *testing.T) {
	const head = "backend,backend_version,model_path,system,isl,osl,tp_size,silicon_tpot_ms,max_num_batched_tokens,max-num-seqs,weather,recv_interval\n"
	read, err := measured.Read(strings.NewReader(head+"vllm,0.19.0,Qwen/Qwen3-8B,h200_sxm,512,64,1,10,1024,none,mild,10\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := measuredtest.Predictor().Predict(t.Context(), &read[0])
	if p.Err != nil || strings.Join(p.Unused, " ") != "weather" || len(p.Disagrees) != 2 ||
		!strings.HasPrefix(p.Disagrees[0], "max-num-seqs none: ") || p.Disagrees[1] != "recv_interval: vllm has no such setting" {
		t.Errorf("%v, unused %q, disagrees %q", p.Err, p.Unused, p.Disagrees)
	}
}

// TestNoSplit: a disaggregated row without workers says so.
func TestNoSplit(t *testing.T) {
	read, err := measured.Read(strings.NewReader("backend,model_path,system,mode,isl,osl,tp_size,silicon_tpot_ms\nvllm,Qwen/Qwen3-8B,h200_sxm,disagg,512,64,,9\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	if p := measuredtest.Predictor().Predict(t.Context(), &read[0]); p.Err == nil || !strings.Contains(p.Err.Error(), "does not say how its devices are divided") {
		t.Errorf("got %v", p.Err)
	}
}

// TestSpeculation: a row that drafts takes the usual acceptance unless it gives its own.
func TestSpeculation(t *testing.T) {
	const head = "backend,backend_version,model_path,system,precision,isl,osl,tp_size,concurrency,silicon_tpot_ms,token_budget,spec_method,spec_tokens\n"
	const row = "vllm,0.19.0,deepseek-ai/DeepSeek-R1,h200_sxm,fp8,1024,256,8,4,12,8192,"
	read, err := measured.Read(strings.NewReader(head+row+"none,\n"+row+"mtp,1\n"+row+"mtp,\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := measuredtest.Predictor()
	plain, one, usual := p.Predict(t.Context(), &read[0]), p.Predict(t.Context(), &read[1]), p.Predict(t.Context(), &read[2])
	if plain.Err != nil || len(plain.Assumed) != 0 || one.TPOT > plain.TPOT/1.25 || len(one.Assumed) != 1 || usual.TPOT > one.TPOT || len(usual.Assumed) != 2 {
		t.Errorf("%g, %g, %g ms; assumed %q, %q", plain.TPOT.Ms(), one.TPOT.Ms(), usual.TPOT.Ms(), one.Assumed, usual.Assumed)
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
