package calibrate_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/cost/calibrated"
	"plimsoll/internal/device"
	"plimsoll/internal/replica"
	"plimsoll/internal/step"
)

const header = "id,backend,model_path,system,precision,mode,isl,osl,tp_size,attention_dp_size,moe_tp_size,moe_ep_size," +
	"concurrency,num_prompts,length_ratio_low,kv_cache_dtype,token_budget,memory_fraction,silicon_ttft_ms,silicon_tpot_ms,quality\n"

// file is rows of a made-up benchmark: two models, two shapes, a few
// concurrencies.
func file() string {
	var b strings.Builder
	b.WriteString(header)
	for _, m := range []string{"meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-32B"} {
		for _, isl := range []int{512, 2048} {
			for _, c := range []int{1, 4, 16, 64} {
				fmt.Fprintf(&b, "%s-%d-%d,vllm,%s,h200_sxm,fp8,agg,%d,128,2,1,2,1,%d,%d,0.8,fp8,8192,0.9,100,10,\n", m, isl, c, m, isl, c, 4*c)
			}
		}
	}
	return b.String()
}

func predictor() *calibrate.Predictor {
	return &calibrate.Predictor{Prices: func(d *device.Profile) cost.Coster {
		m, ok := calibrated.New(d)
		if !ok {
			panic("no prices for " + d.Name)
		}
		return m
	}}
}

func rows(t *testing.T) []calibrate.Row {
	t.Helper()
	r, err := calibrate.Read(strings.NewReader(file()), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFitFindsTheTruth measures a made-up world whose kernels are slower and
// whose host is faster than the prior says, and fits it: the errors must shrink
// to a fraction, and rows left out must be predicted better too.
func TestFitFindsTheTruth(t *testing.T) {
	truth := replica.Untuned()
	truth.Decode[step.Products], truth.Prefill[step.Products] = 1.4, 1.25
	truth.Decode[step.Attention] = 0.8
	truth.PerStep, truth.First = 0.6, 1.8
	measured := rows(t)
	p := predictor()
	for i := range measured {
		q := p.Prepare(&measured[i])
		got := q.Simulate(truth)
		if got.Err != nil {
			t.Fatal(got.Err)
		}
		measured[i].TTFT, measured[i].TPOT = got.TTFT, got.TPOT
	}
	sets := calibrate.ByEngine(p, measured)
	if len(sets) != 1 || len(sets[0].Rows) != 16 {
		t.Fatalf("want one engine with 16 rows, got %d sets", len(sets))
	}
	f := calibrate.CrossValidate(sets[0], calibrate.Validation{Folds: 4}, 4, 2, nil)
	before := calibrate.Summarize("", p.PredictAll(measured, 2))
	for _, c := range []struct {
		name string
		rows []calibrate.Compared
		most float64
	}{{"in sample", f.InSample, 0.35}, {"unseen configurations", f.ByConfiguration, 0.6}} {
		after := calibrate.Summarize(c.name, c.rows)
		if after.TPOT.MAPE > c.most*before.TPOT.MAPE || after.TTFT.MAPE > c.most*before.TTFT.MAPE {
			t.Errorf("%s: TPOT error %.3f → %.3f, TTFT %.3f → %.3f: want at most %.2f of it", c.name,
				before.TPOT.MAPE, after.TPOT.MAPE, before.TTFT.MAPE, after.TTFT.MAPE, c.most)
		}
	}
}

func TestOverlayKeepsParameters(t *testing.T) {
	p := &calibrate.Params{}
	p.Base[0] = math.Log(1.25)
	var o calibrate.Overlay
	o.Source = "a test"
	o.Set("vllm", p)
	var b bytes.Buffer
	if err := o.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := calibrate.ReadOverlay(b.Bytes(), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Tuning("vllm", "hopper").Decode[step.Products]; math.Abs(got-1.25) > 1e-4 {
		t.Errorf("want 1.25, got %g", got)
	}
	if got := back.Tuning("sglang", "hopper"); got != replica.Untuned() {
		t.Errorf("an engine without parameters is tuned: %+v", got)
	}
}

func TestBadOverlays(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"engines: {vllm: {base: {prodcts: 1}}}", `x.yaml: vllm: unknown parameter "prodcts"`},
		{"engines: {vllm: {base: {products: -1}}}", "x.yaml: vllm: products: a multiplier must be between 0.01 and 100, got -1"},
		{"motor: 1", "x.yaml: "},
	} {
		_, err := calibrate.ReadOverlay([]byte(c.text), "x.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want an error that begins with %q, got %v", c.text, c.want, err)
		}
	}
}

// TestShipped reads the parameters the program comes with: an engine must be
// known, and every multiplier sane.
func TestKinds(t *testing.T) {
	t.Parallel()
	rows, err := calibrate.Read(strings.NewReader(file()), "rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	set := calibrate.ByEngine(predictor(), rows)[0]
	for _, kind := range calibrate.Kinds() {
		f := calibrate.CrossValidate(set, calibrate.Validation{LeaveOut: kind}, 1, 2, nil)
		if len(f.LeftOut) != len(set.Rows) {
			t.Errorf("without %s: %d of %d rows predicted", kind, len(f.LeftOut), len(set.Rows))
		}
	}
}

func TestShipped(t *testing.T) {
	o := calibrate.Shipped()
	for _, engine := range []string{"vllm", "sglang", "trtllm"} {
		if _, ok := o.Engines[engine]; !ok {
			t.Errorf("no parameters for %s", engine)
		}
		if r := o.Spread(engine); r.TPOT <= 0 || r.TPOT > 0.35 || r.TTFT <= 0 || r.TTFT > 0.5 {
			t.Errorf("%s: residuals %+v", engine, r)
		}
	}
	if apart, near := o.Spread(calibrate.Disaggregated), o.Spread("vllm"); apart.TTFT <= near.TTFT || apart.TPOT <= near.TPOT {
		t.Errorf("nothing is fitted to disaggregated rows, and yet they are predicted as well: %v, %v", apart, near)
	}
	near, far := o.Spread("vllm"), o.Spread(calibrate.Unseen)
	if far.TPOT < near.TPOT || far.TTFT < near.TTFT {
		t.Errorf("an unseen cell is surer (%+v) than a seen one (%+v)", far, near)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "m.csv: no header: EOF"},
		{"a,b\n1,2\n", `m.csv:1: no column "backend"`},
		{header + "x,vllm,m,h200_sxm,fp8,agg,ten,128,2,1,2,1,4,16,0.8,fp8,8192,0.9,100,10,\n", `m.csv:2: isl: want a number, got "ten"`},
	} {
		_, err := calibrate.Read(strings.NewReader(c.text), "m.csv")
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
		_, _ = calibrate.Read(strings.NewReader(text), "fuzz.csv")
	})
}

// TestDrafts: kept drafts shorten the time per token by about as much as they add,
// and drafts that are never kept cost time.
func TestDrafts(t *testing.T) {
	const head = "backend,backend_version,model_path,system,precision,isl,osl,tp_size,concurrency,silicon_ttft_ms,silicon_tpot_ms,mtp_tokens,acceptance\n"
	const row = "vllm,0.19.0,deepseek-ai/DeepSeek-R1,h200_sxm,fp8,1024,256,8,4,80,12,"
	measured, err := calibrate.Read(strings.NewReader(head+row+",\n"+row+"1,0.8\n"+row+"1,0\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	var tpot []float64
	for i := range measured {
		p := predictor().Predict(&measured[i])
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		tpot = append(tpot, p.TPOT.Ms())
	}
	if plain, kept, lost := tpot[0], tpot[1], tpot[2]; kept > plain/1.4 || kept < plain/1.8 || lost < plain {
		t.Errorf("%.2f ms without drafts, %.2f with 0.8 kept, %.2f with none kept", plain, kept, lost)
	}
	measured[1].Model = "Qwen/Qwen3-32B"
	if p := predictor().Predict(&measured[1]); p.Err == nil || !strings.Contains(p.Err.Error(), "Qwen/Qwen3-32B has no prediction modules") {
		t.Errorf("drafts without modules: %v", p.Err)
	}
}

// TestWorkerSizes: sizes that no worker can have are refused with the reason.
func TestWorkerSizes(t *testing.T) {
	const head = "backend,model_path,system,isl,osl,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n"
	for sizes, want := range map[string]string{
		"72,1,72,1": "tp_size 72 does not divide the model's 128 attention heads; is it the size of the whole deployment?",
		"8,1,4,4":   "tp_size × attention_dp_size is 8 and moe_tp_size × moe_ep_size 16; both are the devices of a worker",
		"8,1,1,8":   "",
		"1,8,,8":    "",
	} {
		measured, err := calibrate.Read(strings.NewReader(head+"sglang,deepseek-ai/DeepSeek-R1,b200_sxm,512,64,"+sizes+",80,12\n"), "made-up.csv")
		if err != nil {
			t.Fatal(err)
		}
		p := predictor().Predict(&measured[0])
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
	measured, err := calibrate.Read(strings.NewReader(head+row+",80,12\n"+row+"0.85,80,12\n"), "made-up.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := predictor()
	if q := p.Predict(&measured[0]); q.Err != nil || len(q.Assumed) != 1 || !strings.Contains(q.Assumed[0], "told to take 0.95") {
		t.Errorf("%v, assumed %q", q.Err, q.Assumed)
	}
	if q := p.Predict(&measured[1]); !errors.Is(q.Err, replica.ErrNoCache) {
		t.Errorf("a share of 0.85: %v", q.Err)
	}
}
