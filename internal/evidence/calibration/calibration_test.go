package calibration_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// served is a deployment the shipped fit has seen.
func served(t *testing.T) calibration.Case {
	t.Helper()
	const system = "h200_sxm"
	checkpoints := calibration.Shipped().Cells["vllm · "+system]
	if len(checkpoints) == 0 {
		t.Fatal("the shipped fit has no vLLM on an H200")
	}
	model, weights, _ := strings.Cut(strings.TrimSuffix(checkpoints[0], ")"), " (")
	return calibration.Case{
		Subject: calibration.Subject{Generation: "hopper", Class: engine.Dense, Model: model, Weights: weights, System: system, Engine: "vllm"},
		Tier:    device.Calibrated, Vendor: device.NVIDIA, Devices: 1, Concurrency: 16, Input: 1024, Familiar: true,
	}
}

// wider says how much wider an error is than another one: their half-widths'
// ratio.
func wider(a, b calibration.Error) float64 { return (a.High - a.Low) / (b.High - b.Low) }

// TestWiderWithLessKnown: an interval only grows as less is known.
func TestWiderWithLessKnown(t *testing.T) {
	t.Parallel()
	o := calibration.Shipped()
	near := served(t)
	for _, c := range []struct {
		name   string
		change func(*calibration.Case)
	}{
		{"a model it has not seen", func(s *calibration.Case) { s.Model = "nobody/nothing" }},
		{"disaggregated", func(s *calibration.Case) { s.Disaggregated = true }},
		{"constants of another generation", func(s *calibration.Case) { s.Tier, s.System = device.Transferred, "a100_sxm" }},
		{"the data sheet", func(s *calibration.Case) { s.Tier, s.System = device.Datasheet, "x" }},
		{"another vendor", func(s *calibration.Case) { s.Tier, s.Vendor, s.System = device.Transferred, device.AMD, "mi300x" }},
		{"more requests than measured", func(s *calibration.Case) { s.Concurrency = 64 * o.Reach.Concurrency }},
		{"longer prompts than measured", func(s *calibration.Case) { s.Input = 4 * o.Reach.Input }},
		{"more devices than measured", func(s *calibration.Case) { s.Devices = 4 * o.Reach.Devices }},
		{"a source outside the fit", func(s *calibration.Case) { s.Familiar = false }},
		{"one on Ascend", func(s *calibration.Case) {
			s.Familiar, s.Generation, s.Vendor, s.System = false, "ascend-a3", device.Ascend, "ATLAS_800_A3_752T_128G_DIE"
		}},
		{"lengths not given", func(s *calibration.Case) { s.Defaulted = []string{"num_prompts", "length_ratio_low"} }},
	} {
		far := near
		c.change(&far)
		a, b := o.Expect(&far), o.Expect(&near)
		for what, r := range map[string]float64{"TTFT": wider(a.TTFT, b.TTFT), "TPOT": wider(a.TPOT, b.TPOT), "throughput": wider(a.Throughput, b.Throughput)} {
			if r <= 1 {
				t.Errorf("%s: %s is no less sure than of a known deployment: %.2f times as wide", c.name, what, r)
			}
		}
		if a.Basis == b.Basis {
			t.Errorf("%s: the basis does not say so: %s", c.name, a.Basis)
		}
	}
}

// TestSingleSteps: single passes were measured on an H200; everything else is less
// sure, AMD's devices still less, then generations without a measured deployment, and data sheets least.
func TestSingleSteps(t *testing.T) {
	t.Parallel()
	o := calibration.Shipped()
	last := 0.0
	for _, s := range []calibration.Case{
		{Tier: device.Calibrated, Vendor: device.NVIDIA, Subject: calibration.Subject{Generation: "hopper", Class: engine.Dense}, Devices: 1},
		{Tier: device.Calibrated, Vendor: device.NVIDIA, Subject: calibration.Subject{Generation: "hopper", Class: engine.Dense}, Devices: 8},
		{Tier: device.Transferred, Vendor: device.AMD, Subject: calibration.Subject{Generation: "cdna3", Class: engine.Dense}, Devices: 8},
		{Tier: device.Transferred, Vendor: device.NVIDIA, Subject: calibration.Subject{Generation: "ampere", Class: engine.Dense}, Devices: 8},
		{Tier: device.Datasheet, Vendor: device.Ascend, Subject: calibration.Subject{Generation: "ascend-a3", Class: engine.Dense}, Devices: 8},
	} {
		s.Method, s.Decode, s.Concurrency = calibration.SingleStep, true, 8
		e := o.Expect(&s)
		if half := (e.TPOT.High - e.TPOT.Low) / 2; half <= last {
			t.Errorf("%s %s, %d devices: half-width %.3f after %.3f", s.Vendor, s.Tier, s.Devices, half, last)
		} else {
			last = half
		}
		if e.TTFT != e.TPOT || e.Throughput != e.TPOT.Inverse() {
			t.Errorf("a step has one time, got %+v", e)
		}
	}
}

// TestOn: ranks of a dense model are replicas, those of a mixture share experts.
func TestOn(t *testing.T) {
	t.Parallel()
	var dense, mixture calibration.Case
	dense.On(8, 100, 8, false)
	mixture.On(8, 100, 8, true)
	if dense.Devices != 1 || dense.Concurrency != 13 || mixture.Devices != 8 || mixture.Concurrency != 100 {
		t.Errorf("dense %+v, mixture %+v", dense, mixture)
	}
}

// TestInterval: an interval holds 80 % of what a lognormal draws, and Within is
// the share of draws below a limit.
func TestInterval(t *testing.T) {
	t.Parallel()
	e := calibration.Error{Low: -0.1, High: 0.3}
	const middle, sigma, draws = 0.1, 0.2 / 1.2815515655, 200000
	random := rand.New(rand.NewPCG(1, 2))
	low, high := e.Times(0.050)
	in, kept := 0, 0
	for range draws {
		x := 0.050 * units.Seconds(math.Exp(middle+sigma*random.NormFloat64()))
		if x >= low && x <= high {
			in++
		}
		if x <= 0.060 {
			kept++
		}
	}
	if share := float64(in) / draws; math.Abs(share-0.8) > 0.005 {
		t.Errorf("the interval holds %.3f of the draws", share)
	}
	if share := float64(kept) / draws; math.Abs(share-e.Within(0.050, 0.060)) > 0.005 {
		t.Errorf("want %.3f of the draws within the limit, got %.3f", e.Within(0.050, 0.060), share)
	}
}

// TestWithin: the probability is one without a limit, and grows with it.
func TestWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-3, 3).Draw(t, "low")
		e := calibration.Error{Low: low, High: low + rapid.Float64Range(0, 3).Draw(t, "width")}
		x := units.Seconds(rapid.Float64Range(1e-6, 1e3).Draw(t, "predicted"))
		limit := units.Seconds(rapid.Float64Range(1e-6, 1e3).Draw(t, "limit"))
		p, more := e.Within(x, limit), e.Within(x, 1.5*limit)
		if !(p >= 0 && p <= more && more <= 1) {
			t.Fatalf("%g at the limit and %g above it", p, more)
		}
		if e.Within(x, 0) != 1 || e.Within(x, units.Seconds(math.Inf(1))) != 1 {
			t.Fatal("no limit is not always kept")
		}
		if got := e.Inverse().Inverse(); got != e {
			t.Fatalf("the inverse of the inverse is %v, not %v", got, e)
		}
	})
}

func TestBadResiduals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"vllm: 4 rows, ttft 0 0, tpot 0 0, throughput 0 0", `x.yaml:2: vllm: unknown kind; the kinds are seen, unseen, own, disagg, disagg-seen, uncalibrated, formulas, steady`},
		{"seen: 4 rows, ttft 1 0, tpot 0 1, throughput 0 0", "x.yaml:2: seen: want at least one row, and a low and a high quantile in that order"},
		{"seen: 4 rows, ttft nan 0, tpot 0 1, throughput 0 0", "x.yaml:2: seen: want at least one row"},
		{"seen: 0 rows, ttft 0 1, tpot 0 1, throughput 0 0", "x.yaml:2: seen: want at least one row"},
		{"seen: 4 rows, ttft 0", `x.yaml:2: seen: want "40 rows, ttft`},
	} {
		_, err := calibration.Read([]byte("residuals:\n  "+c.text), "x.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want an error that begins with %q, got %v", c.text, c.want, err)
		}
	}
}

// FuzzReadOverlay: a file is refused or gives finite intervals.
func FuzzReadOverlay(f *testing.F) {
	f.Add([]byte("residuals:\n  seen: 40 rows, ttft -0.1 0.2, tpot 0 1, throughput 0 0\n"))
	f.Add([]byte("multipliers:\n  all: products 1.1, first 0.9\ncells:\n  vllm · h200_sxm: a/b, c/d\nreach:\n  concurrency: 8\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := calibration.Read(data, "fuzz.yaml")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := o.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := calibration.Read(b.Bytes(), "written.yaml"); err != nil {
			t.Errorf("what was written cannot be read: %v\n%s", err, &b)
		}
		e := o.Expect(&calibration.Case{Concurrency: 100, Input: 100})
		if e.TTFT.High < e.TTFT.Low || math.IsNaN(e.TPOT.High) {
			t.Errorf("%+v", e)
		}
	})
}

func TestOverlayKeepsParameters(t *testing.T) {
	const text = "source: a test\nmultipliers:\n  nvidia: products 1.25\n  nvidia · vllm: products 2\n  vllm · hopper · fp8: products 1.1\n"
	o, err := calibration.Read([]byte(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := o.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := calibration.Read(b.Bytes(), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		subject calibration.Subject
		want    float64
	}{
		{calibration.Subject{Engine: "vllm", Generation: "hopper", Products: "fp8"}, 2.75},
		{calibration.Subject{Engine: "vllm", Generation: "hopper", Products: "bf16"}, 2.5},
		{calibration.Subject{Engine: "vllm", Generation: "blackwell", Products: "fp8"}, 2.5},
		{calibration.Subject{Engine: "an engine never seen", Generation: "hopper", Products: "fp8"}, 1.25},
	} {
		if got := back.Multipliers(c.subject).Decode[step.Products]; math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%+v: want %g, got %g", c.subject, c.want, got)
		}
	}
}

// TestUnseenCells: models without rows on any device of the generation take parameters of their own, nearer to the prior.
func TestUnseenCells(t *testing.T) {
	const text = "multipliers:\n  nvidia · vllm: per_step 3\nunseen:\n  nvidia: per_step 2\ncells:\n  vllm · h200_sxm: a/model\nfamilies:\n  vllm · hopper: a/model\n"
	o, err := calibration.Read([]byte(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		system, generation string
		disaggregated      bool
		want               float64
	}{{"h200_sxm", "hopper", false, 3}, {"h100_sxm", "hopper", false, 3}, {"b200_sxm", "blackwell", false, 2}, {"h200_sxm", "hopper", true, 2}} {
		s := calibration.Subject{Engine: "vllm", System: c.system, Generation: c.generation, Model: "a/model", Disaggregated: c.disaggregated}
		if got := o.Multipliers(s).PerStep; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("on %s, disaggregated %t: want %g, got %g", c.system, c.disaggregated, c.want, got)
		}
	}
}

// TestVariantOfGeneration takes what was fitted to a generation for its
// variants.
func TestVariantOfGeneration(t *testing.T) {
	o, err := calibration.Read([]byte("multipliers:\n  vllm · blackwell · dense: per_layer 3\n"), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := o.Multipliers(calibration.Subject{Engine: "vllm", Generation: "blackwell-ultra", Class: engine.Dense}).PerLayer
	if math.Abs(got-3) > 1e-9 {
		t.Errorf("want 3, got %g", got)
	}
}

func TestBadOverlays(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"multipliers:\n  vllm: prodcts 1", `x.yaml:2: vllm: unknown parameter "prodcts"`},
		{"multipliers:\n  vllm: products -1", "x.yaml:2: vllm: products: a multiplier must be between 0.01 and 100, got -1"},
		{"multipliers:\n  vllm: products", "x.yaml:2: vllm: want parameters and their multipliers"},
		{"multipliers:\n  vllm: products 1, products 2", "x.yaml:2: vllm: products is given twice"},
		{"multipliers:\n  vllm: products 1\n  vllm: first 2", "x.yaml:3: vllm: given twice, first on line 2"},
		{"multipliers:\n  vllm:\n    products: 1", "x.yaml:2: vllm: want parameters and their multipliers"},
		{"multipliers:\nreach:\nmultipliers:", "x.yaml:2: reach: must be a mapping of keys to values, got nothing\nx.yaml:3: multipliers: given twice, first on line 1"},
		{"reach:\n  input: -1", `x.yaml:2: reach.input: must be at least 0, got -1`},
		{"  vllm: products 1", `x.yaml:1: vllm: unknown key`},
		{"a line", "x.yaml:1: must be a mapping"},
		{"motor: 1", `x.yaml:1: motor: unknown key; keys here: source, multipliers`},
	} {
		_, err := calibration.Read([]byte(c.text), "x.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want an error that begins with %q, got %v", c.text, c.want, err)
		}
	}
}

// TestShipped reads the parameters the program comes with: an engine must be
// known, and nothing may belong to one model alone.
func TestShipped(t *testing.T) {
	o := calibration.Shipped()
	for _, engine := range []string{"vllm", "sglang", "trtllm"} {
		if _, ok := o.Groups["nvidia · "+engine]; !ok {
			t.Errorf("no parameters for %s", engine)
		}
	}
	for _, m := range []calibration.Groups{o.Groups, o.Unseen} {
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

// BenchmarkShipped: every command that predicts reads it.
func BenchmarkShipped(b *testing.B) {
	var data bytes.Buffer
	if err := calibration.Shipped().Write(&data); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := calibration.Read(data.Bytes(), "shipped.yaml"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLimit: a limit is met with the probability it was made for.
func TestLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1, 1).Draw(t, "low")
		e := calibration.Error{Low: low, High: low + rapid.Float64Range(0.01, 1).Draw(t, "width")}
		p := rapid.Float64Range(0.01, 0.99).Draw(t, "probability")
		if got := e.Within(0.05, e.Limit(0.05, p)); math.Abs(got-p) > 1e-9 {
			t.Errorf("a limit for %g is kept with %g", p, got)
		}
	})
}
