package calibrate_test

import (
	"bytes"
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
