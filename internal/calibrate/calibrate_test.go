package calibrate_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/cost/calibrated"
	"plimsoll/internal/device"
	"plimsoll/internal/golden"
	"plimsoll/internal/replica"
	"plimsoll/internal/step"
	"plimsoll/internal/units"
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

func predictor() *calibrate.Predictor {
	return &calibrate.Predictor{Prices: func(d *device.Profile) cost.Coster {
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
	prepared := p.PrepareClean(measured)
	if len(prepared) != 32 {
		t.Fatalf("want 32 rows, got %d", len(prepared))
	}
	c := calibrate.Calibration{Iterations: 4, Workers: 2, Validation: calibrate.Validation{Folds: 4}}
	f := c.Run(prepared)
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

// TestFitOfCells fits a made-up world in which one model is served slower than
// its groups say: the other model must keep its predictions.
func TestFitOfCells(t *testing.T) {
	slow := replica.Untuned()
	slow.Decode[step.Products], slow.PerStep = 1.5, 2
	measured := rows(t)
	p := predictor()
	var own []calibrate.Row
	for i := range measured {
		if measured[i].Model != "Qwen/Qwen3-32B" {
			continue
		}
		q := p.Prepare(&measured[i])
		got := q.Simulate(slow)
		measured[i].TTFT, measured[i].TPOT = got.TTFT, got.TPOT
		own = append(own, measured[i])
	}
	base := calibrate.Shipped().Params()
	c := calibrate.Calibration{Base: base, Iterations: 3, Workers: 2, Validation: calibrate.Validation{Folds: 2}}
	prepared := p.PrepareClean(own)
	f := c.Run(prepared)
	p.Tune = base.Tuning
	before, after := calibrate.Summarize("", p.PredictAll(own, 2)), calibrate.Summarize("", f.ByConfiguration)
	if after.TPOT.MAPE > 0.7*before.TPOT.MAPE {
		t.Errorf("TPOT error of unseen configurations %.3f → %.3f: want at most 0.7 of it", before.TPOT.MAPE, after.TPOT.MAPE)
	}
	other := prepared[0].Subject
	other.Model = "meta-llama/Llama-3.1-8B-Instruct"
	if f.Params.Tuning(other) != base.Tuning(other) {
		t.Error("a fit to one cell changes another")
	}
	if f.Unchanged {
		t.Error("a slow model teaches nothing")
	}
	if f.Params.Tuning(prepared[0].Subject) == base.Tuning(prepared[0].Subject) {
		t.Error("the fit changes nothing")
	}
	var found calibrate.Overlay
	found.Set(f.Params)
	text, err := found.Offsets["vllm · h200_sxm · Qwen/Qwen3-32B"].MarshalYAML()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/cell-fit.golden", fmt.Append(nil, text, "\n"))
}

// TestFitOfNoise fits rows that are as predicted but for errors without a pattern:
// the calibration must stay as it is.
func TestFitOfNoise(t *testing.T) {
	measured := rows(t)
	p := predictor()
	base := calibrate.Shipped().Params()
	p.Tune = base.Tuning
	for i := range measured {
		got := p.Predict(&measured[i])
		noise := units.Seconds(math.Exp(0.2 * math.Sin(float64(1+i)*12.9898)))
		measured[i].TTFT, measured[i].TPOT = got.TTFT*noise, got.TPOT/noise
	}
	prepared := p.PrepareClean(measured)
	c := calibrate.Calibration{Base: base, Iterations: 1, Workers: 2}
	if f := c.Run(prepared); !f.Unchanged || f.Params.Tuning(prepared[0].Subject) != base.Tuning(prepared[0].Subject) {
		t.Error("noise changes the calibration")
	}
}

func TestOverlayKeepsParameters(t *testing.T) {
	const text = `{source: a test, offsets: {all: products 1.25, vllm: products 2, vllm · hopper · fp8: products 1.1}}`
	o, err := calibrate.ReadOverlay([]byte(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var copied calibrate.Overlay
	copied.Set(o.Params())
	var b bytes.Buffer
	if err := copied.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := calibrate.ReadOverlay(b.Bytes(), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		subject calibrate.Subject
		want    float64
	}{
		{calibrate.Subject{Engine: "vllm", Generation: "hopper", Products: "fp8"}, 2.75},
		{calibrate.Subject{Engine: "vllm", Generation: "hopper", Products: "bf16"}, 2.5},
		{calibrate.Subject{Engine: "vllm", Generation: "blackwell", Products: "fp8"}, 2.5},
		{calibrate.Subject{Engine: "an engine never seen", Generation: "hopper", Products: "fp8"}, 1.25},
	} {
		if got := back.Params().Tuning(c.subject).Decode[step.Products]; math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%+v: want %g, got %g", c.subject, c.want, got)
		}
	}
}

// TestUnseenCells take parameters of their own, nearer to the prior.
func TestUnseenCells(t *testing.T) {
	const text = `{source: a test, offsets: {vllm: per_step 3}, unseen: {vllm: per_step 2}, cells: {vllm: {h200_sxm: [a/model]}}}`
	o, err := calibrate.ReadOverlay([]byte(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		system string
		apart  bool
		want   float64
	}{{"h200_sxm", false, 3}, {"h100_sxm", false, 2}, {"h200_sxm", true, 2}} {
		s := calibrate.Subject{Engine: "vllm", System: c.system, Model: "a/model", Apart: c.apart}
		if got := o.Params().Tuning(s).PerStep; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("on %s, apart %t: want %g, got %g", c.system, c.apart, c.want, got)
		}
	}
}

// TestVariantOfGeneration takes what was fitted to a generation for its
// variants.
func TestVariantOfGeneration(t *testing.T) {
	o := calibrate.Overlay{Offsets: calibrate.Multipliers{"vllm · blackwell": {"per_step": 3}}}
	got := o.Params().Tuning(calibrate.Subject{Engine: "vllm", Generation: "blackwell-ultra"}).PerStep
	if math.Abs(got-3) > 1e-9 {
		t.Errorf("want 3, got %g", got)
	}
}

func TestBadOverlays(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"offsets: {vllm: prodcts 1}", `x.yaml: vllm: unknown parameter "prodcts"`},
		{"offsets: {vllm: products -1}", "x.yaml: vllm: products: a multiplier must be between 0.01 and 100, got -1"},
		{"offsets: {vllm: products}", "x.yaml: line 1: want parameters and their multipliers"},
		{"offsets: {vllm: 'products 1, products 2'}", "x.yaml: line 1: want parameters and their multipliers, each once"},
		{"offsets: {vllm: {products: 1}}", "x.yaml: line 1: want parameters and their multipliers"},
		{"motor: 1", "x.yaml: "},
	} {
		_, err := calibrate.ReadOverlay([]byte(c.text), "x.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want an error that begins with %q, got %v", c.text, c.want, err)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	prepared := predictor().PrepareClean(rows(t))
	c := calibrate.Calibration{Iterations: 1, Workers: 2, Validation: calibrate.Validation{LeaveOut: calibrate.Kinds()}}
	f := c.Run(prepared)
	if len(f.LeftOut) != len(calibrate.Kinds()) {
		t.Fatalf("%d kinds left out", len(f.LeftOut))
	}
	for i, kind := range calibrate.Kinds() {
		if l := f.LeftOut[i]; l.Kind != kind || len(l.Rows) != len(prepared) {
			t.Errorf("without %s: %d of %d rows predicted without %s", kind, len(l.Rows), len(prepared), l.Kind)
		}
	}
}

// TestShipped reads the parameters the program comes with: an engine must be
// known, and nothing may belong to one model alone.
func TestShipped(t *testing.T) {
	o := calibrate.Shipped()
	for _, engine := range []string{"vllm", "sglang", "trtllm"} {
		if _, ok := o.Offsets[engine]; !ok {
			t.Errorf("no parameters for %s", engine)
		}
	}
	for _, m := range []calibrate.Multipliers{o.Offsets, o.Unseen} {
		if len(m) == 0 {
			t.Error("no parameters for cells it has seen, or for others")
		}
		for group := range m {
			if strings.Contains(group, "/") {
				t.Errorf("%s: parameters of one model", group)
			}
		}
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
	if plain, kept, lost := tpot[0], tpot[1], tpot[2]; kept > plain/1.3 || kept < plain/1.8 || lost < plain {
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

// BenchmarkShipped: every command that predicts reads it.
func BenchmarkShipped(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		calibrate.Shipped()
	}
}
