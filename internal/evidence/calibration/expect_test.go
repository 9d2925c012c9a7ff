package calibration_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// many rows leave nothing of the wider kind.
const many = 1 << 40

// even are residuals of so many rows, the same to both sides.
func even(rows int, ttft, tpot, throughput float64) calibration.Residuals {
	return calibration.Residuals{Rows: rows, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -ttft, High: ttft}, TPOT: calibration.Error{Low: -tpot, High: tpot}, Throughput: calibration.Error{Low: -throughput, High: throughput}}}
}

// ordinary is a deployment of a dense model with rows in the fit.
func ordinary() calibration.Case {
	return calibration.Case{
		Subject: calibration.Subject{Engine: "vllm", Generation: "hopper", System: "h200_sxm", Model: "a/b", Class: engine.Dense},
		Tier:    device.Calibrated, Vendor: device.NVIDIA, Devices: 2, Concurrency: 16, Input: 1000,
	}
}

// fitted is an overlay that has seen it.
func fitted(residuals map[string]calibration.Residuals) *calibration.Overlay {
	return &calibration.Overlay{
		Cells: map[string][]string{"vllm · h200_sxm": {"a/b"}}, Residuals: residuals,
		Reach: calibration.Reach{Concurrency: 256, Input: 8000, Devices: 8},
	}
}

func half(e calibration.Error) float64 { return (e.High - e.Low) / 2 }

// isHalf checks the half-widths of three intervals around their middle.
func isHalf(t rapid.TB, what string, e calibration.Expected, ttft, tpot, throughput float64) {
	t.Helper()
	for _, c := range []struct {
		of        string
		got, want float64
	}{{"TTFT", half(e.TTFT), ttft}, {"TPOT", half(e.TPOT), tpot}, {"throughput", half(e.Throughput), throughput}} {
		if math.Abs(c.got-c.want) > 2e-5 {
			t.Errorf("%s: %s: want a half-width of %.6f, got %.6f (%s)", what, c.of, c.want, c.got, e.Basis)
		}
	}
}

// TestAlike: the concurrency that stands for others has their errors, in their words too, and no higher one has.
func TestAlike(t *testing.T) {
	seen := map[string]calibration.Residuals{}
	path := ordinary()
	for i, n := range []int{1, 9, 65} {
		path.Concurrency = n
		steps := path.Path(calibration.KindSeen)
		for k := range steps {
			seen[strings.Join(steps[:k+1], "/")] = even(100*(i+1), 0.1*float64(i+1), 0.1, 0.1)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		o := fitted(seen)
		o.Reach.Concurrency = rapid.SampledFrom([]int{0, 4, 8, 32, 64, 65, 256}).Draw(t, "reach")
		n := rapid.IntRange(1, 300).Draw(t, "concurrency")
		at := func(n int) calibration.Expected {
			c := ordinary()
			c.Concurrency = n
			return o.Expect(&c)
		}
		like := o.Alike(n)
		if diff := cmp.Diff(at(n), at(like)); like < n || diff != "" {
			t.Fatalf("%d stands for %d: %s", like, n, diff)
		}
		if like < math.MaxInt && at(like+1) == at(n) {
			t.Fatalf("%d has the errors of %d as well", like+1, n)
		}
	})
}

// TestWhichResiduals: a prediction takes the residuals of the narrowest kind it belongs to.
func TestWhichResiduals(t *testing.T) {
	t.Parallel()
	names := []string{
		"seen", "seen/nvidia", "seen/nvidia/cache-free", "seen/nvidia/cache-free/dense", "seen/nvidia/cache-free/dense/to-64", "seen/nvidia/cache-free/dense/to-64/vllm",
		"seen/nvidia/cache-full", "seen/nvidia/cache-full/dense/to-8", "seen/nvidia/cache-free/dense/to-8", "seen/nvidia/cache-free/dense/above-64", "seen/nvidia/cache-free/moe",
		"unseen", "unseen/nvidia", "unseen/nvidia/cache-free", "unseen/nvidia/cache-free/to-64", "unseen/nvidia/cache-free/to-64/vllm", "unseen/nvidia/cache-free/dense",
		"uncalibrated", "uncalibrated/nvidia", "uncalibrated/nvidia/cache-free", "uncalibrated/nvidia/cache-free/to-64", "uncalibrated/nvidia/cache-free/to-64/vllm",
		"disagg-seen", "disagg-seen/nvidia", "disagg", "disagg/nvidia", "disagg/nvidia/vllm", "disagg/nvidia/cache-free", "formulas", "formulas/to-64", "formulas/cache-free", "steady", "steady/to-64", "steady/to-8",
	}
	residuals := map[string]calibration.Residuals{}
	for i, n := range names {
		residuals[n] = even(many, float64(i+1), float64(100+i), float64(200+i))
	}
	o := fitted(residuals)
	for _, c := range []struct {
		want   string
		change func(*calibration.Case)
	}{
		{"seen/nvidia/cache-free/dense/to-64/vllm", func(*calibration.Case) {}},
		{"seen/nvidia/cache-free/dense/to-64/vllm", func(s *calibration.Case) { s.Concurrency = 9 }},
		{"seen/nvidia/cache-free/dense/to-64/vllm", func(s *calibration.Case) { s.Concurrency = 64 }},
		{"seen/nvidia/cache-free/dense/to-8", func(s *calibration.Case) { s.Concurrency = 8 }},
		{"seen/nvidia/cache-free/dense/above-64", func(s *calibration.Case) { s.Concurrency = 65 }},
		{"seen/nvidia/cache-free/dense/to-64/vllm", func(s *calibration.Case) { s.KVPeak = 0.8 }},
		{"seen/nvidia/cache-full", func(s *calibration.Case) { s.KVPeak = 0.81 }},
		{"seen/nvidia/cache-free/moe", func(s *calibration.Case) { s.Class = engine.MoE }},
		{"seen/nvidia/cache-free", func(s *calibration.Case) { s.Class = engine.Latent }},
		{"unseen/nvidia/cache-free/to-64/vllm", func(s *calibration.Case) { s.Model = "c/d" }},
		{"unseen/nvidia/cache-free/to-64/vllm", func(s *calibration.Case) { s.System = "h100_sxm" }},
		{"unseen/nvidia", func(s *calibration.Case) { s.Model, s.KVPeak = "c/d", 1 }},
		{"uncalibrated/nvidia/cache-free/to-64", func(s *calibration.Case) { s.Engine = "mindie" }},
		{"uncalibrated/nvidia/cache-free", func(s *calibration.Case) { s.Engine, s.Concurrency = "mindie", 100 }},
		{"disagg/nvidia/vllm", func(s *calibration.Case) { s.Disaggregated = true }},
		{"disagg/nvidia", func(s *calibration.Case) { s.Disaggregated, s.Engine = true, "sglang" }},
		{"formulas/to-64", func(s *calibration.Case) { s.Method = calibration.Formulas }},
		{"formulas", func(s *calibration.Case) { s.Method, s.Concurrency = calibration.Formulas, 65 }},
		{"steady/to-64", func(s *calibration.Case) { s.Method, s.Steady = calibration.Formulas, true }},
		{"steady/to-8", func(s *calibration.Case) { s.Method, s.Steady, s.Concurrency = calibration.Formulas, true, 8 }},
		{"disagg/nvidia/vllm", func(s *calibration.Case) { s.Method, s.Disaggregated = calibration.Formulas, true }},
	} {
		s := ordinary()
		c.change(&s)
		r := residuals[c.want]
		isHalf(t, c.want, o.Expect(&s), r.TTFT.High, r.TPOT.High, r.Throughput.High)
	}
	o.Groups = only("vllm · h100_sxm · a/b", "first", 2).Groups // fitted by a user
	s := ordinary()
	s.System = "h100_sxm"
	r := residuals["seen/nvidia/cache-free/dense/to-64/vllm"]
	isHalf(t, "a cell of the user's own", o.Expect(&s), r.TTFT.High, r.TPOT.High, r.Throughput.High)
}

// TestDrawnResiduals: few rows are drawn to what is known without them. Of the widest kind thirty rows count whole, of
// narrower ones sixty weigh as much as the wider kind.
func TestDrawnResiduals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int { return rapid.IntRange(1, 100).Draw(t, name) }
		width := func(name string) float64 { return rapid.Float64Range(0, 2).Draw(t, name) }
		residuals := map[string]calibration.Residuals{
			"seen": even(n("seen"), width("a"), width("b"), width("c")), "seen/nvidia": even(n("nvidia"), width("j"), width("k"), width("l")),
			"seen/nvidia/cache-free":             even(n("cache-free"), width("d"), width("e"), width("f")),
			"seen/nvidia/cache-free/dense/to-64": even(50, 9, 9, 9), // its wider kind is missing
		}
		want := [3]float64{math.Ln2, 0.4, 0.4} // nothing known
		toward := func(r calibration.Residuals, share float64) {
			for i, to := range []float64{r.TTFT.High, r.TPOT.High, r.Throughput.High} {
				want[i] = (1-share)*want[i] + share*to
			}
		}
		s := ordinary()
		isHalf(t, "nothing", (&calibration.Overlay{}).Expect(&s), want[0], want[1], want[2])
		toward(residuals["seen"], math.Min(1, float64(residuals["seen"].Rows)/30))
		for _, name := range []string{"seen/nvidia", "seen/nvidia/cache-free"} {
			narrow := residuals[name]
			toward(narrow, float64(narrow.Rows)/float64(narrow.Rows+60))
		}
		isHalf(t, "two kinds", fitted(residuals).Expect(&s), want[0], want[1], want[2])
		mine := even(n("own"), width("g"), width("h"), width("i"))
		residuals["own/vllm · h200_sxm · a/b"] = mine
		toward(mine, float64(mine.Rows)/float64(mine.Rows+60))
		isHalf(t, "one's own", fitted(residuals).Expect(&s), want[0], want[1], want[2])
	})
}

// holds80 is how far from zero four in five draws lie, of a normal distribution around middle whose own four in five lie
// within half of that. It sums the density in small steps.
func holds80(middle, half float64) float64 {
	const fine = 1e-5
	sigma := half / 1.2815515655
	density := func(x float64) float64 {
		z := (x - middle) / sigma
		return math.Exp(-z*z/2) / sigma / math.Sqrt(2*math.Pi)
	}
	sum, x := 0.0, 0.0
	for ; sum < 0.8; x += fine {
		sum += fine * (density(x+fine/2) + density(-x-fine/2))
	}
	return x
}

// lopsided residuals have a middle that is not zero.
func lopsided() *calibration.Overlay {
	return fitted(map[string]calibration.Residuals{
		"seen":         {Rows: many, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -0.1, High: 0.3}, TPOT: calibration.Error{Low: -0.2, High: 0.1}, Throughput: calibration.Error{Low: -0.05, High: 0.15}}},
		"uncalibrated": {Rows: many, Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -0.4, High: 0.6}, TPOT: calibration.Error{Low: -0.5, High: 0.2}, Throughput: calibration.Error{Low: -0.3, High: 0.1}}},
		"disagg":       even(many, 0.5, 0.4, 0.3),
		"formulas":     even(many, 0.7, 0.6, 0.5),
	})
}

// TestWidening: each thing that is not known adds a standard deviation of its own, at a right angle; 1.2816 of them are
// half of an 80 % interval. What residuals are off to one side widens both.
func TestWidening(t *testing.T) {
	t.Parallel()
	o := lopsided()
	near := ordinary()
	before := o.Expect(&near)
	for _, c := range []struct {
		name, says string
		ttft, tpot float64
		change     func(*calibration.Case)
	}{
		{"constants of a relative", "no deployment of this device generation was measured", 0.12, 0.12, func(s *calibration.Case) { s.Tier = device.Transferred }},
		{"a data sheet", "operator times come from the data sheet", 0.25, 0.25, func(s *calibration.Case) { s.Tier = device.Datasheet }},
		{"measured kernels", "", 0, 0, func(s *calibration.Case) { s.Tier = device.Measured }},
		{"AMD", "no AMD device was measured", 0.32, 0.32, func(s *calibration.Case) { s.Vendor = device.AMD }},
		{"Intel", "no Intel device was measured", 0.32, 0.32, func(s *calibration.Case) { s.Vendor = device.Intel }},
		{"Google", "no TPU was measured", 0.32, 0.32, func(s *calibration.Case) { s.Vendor = device.Google }},
		{"AWS", "no AWS device was measured", 0.32, 0.32, func(s *calibration.Case) { s.Vendor = device.AWS }},
		{"Apple", "no Apple device was measured", 0.32, 0.32, func(s *calibration.Case) { s.Vendor = device.Apple }},
		{"Ascend", "too few Ascend devices were measured", 0.32, 0.32, func(s *calibration.Case) { s.Vendor = device.Ascend }},
		{"TensorCast", "and TensorCast publishes no error", 0.32, 0.32, func(s *calibration.Case) { s.Vendor, s.TensorCast = device.Ascend, true }},
		{"both", "no AMD device was measured", math.Hypot(0.12, 0.32), math.Hypot(0.12, 0.32), func(s *calibration.Case) { s.Tier, s.Vendor = device.Transferred, device.AMD }},
		{"lengths", "length_ratio_low is not given", 0.25, 0.07, func(s *calibration.Case) { s.Defaulted = []string{"length_ratio_low"} }},
		{"a cache", "kv_cache_dtype is not given", 0.08, 0.06, func(s *calibration.Case) { s.Defaulted = []string{"kv_cache_dtype"} }},
		{"a budget", "token_budget is not given", 0.19, 0.05, func(s *calibration.Case) { s.Defaulted = []string{"token_budget"} }},
		{"what does not matter", "", 0, 0, func(s *calibration.Case) { s.Defaulted = []string{"num_prompts"} }},
		{"two", "token_budget is not given", math.Hypot(0.25, 0.19), math.Hypot(0.07, 0.05), func(s *calibration.Case) { s.Defaulted = []string{"length_ratio_low", "token_budget"} }},
		{"as many requests as measured", "", 0, 0, func(s *calibration.Case) { s.Concurrency = 256 }},
		{"twice the requests", "no concurrency above 256 was measured", 0.1, 0.1, func(s *calibration.Case) { s.Concurrency = 512 }},
		{"eight times the prompts", "no prompt above 8000 tokens was measured", 0.3, 0.3, func(s *calibration.Case) { s.Input = 64000 }},
		{"as long prompts as measured", "", 0, 0, func(s *calibration.Case) { s.Input = 8000 }},
		{"half as many devices again", "no replica of more than 8 devices was measured", 0.1 * math.Log2(1.5), 0.1 * math.Log2(1.5), func(s *calibration.Case) { s.Devices = 12 }},
		{"as many devices", "", 0, 0, func(s *calibration.Case) { s.Devices = 8 }},
		{"all three", "no prompt above 8000 tokens was measured; also because no replica", 0.1 * math.Sqrt(3), 0.1 * math.Sqrt(3), func(s *calibration.Case) { s.Concurrency, s.Input, s.Devices = 512, 16000, 16 }},
		{"tables", "predicted without kernel tables", 0, 0, func(s *calibration.Case) { s.Tables = true }},
	} {
		s := ordinary()
		c.change(&s)
		e := o.Expect(&s)
		const normal80 = 1.2815515655
		isHalf(t, c.name, e, holds80(0.1, math.Hypot(0.2, normal80*c.ttft)), holds80(0.05, math.Hypot(0.15, normal80*c.tpot)), holds80(0.05, math.Hypot(0.1, normal80*c.tpot)))
		for _, x := range []calibration.Error{e.TTFT, e.TPOT, e.Throughput} {
			if x.Low != -x.High {
				t.Errorf("%s: %+v is not centred", c.name, x)
			}
		}
		if (c.says == "") != (e.Basis == before.Basis) || !strings.Contains(e.Basis, c.says) {
			t.Errorf("%s: %s", c.name, e.Basis)
		}
	}
	// The reach is that of aggregated rows, and disaggregated rows gave no more.
	split := near
	split.Disaggregated, split.Concurrency, split.Input, split.Devices, split.Defaulted = true, 1e6, 1e6, 1e6, []string{"token_budget"}
	isHalf(t, "disaggregated", o.Expect(&split), 0.5, 0.4, 0.3)
	o.Reach = calibration.Reach{} // unknown
	far := near
	far.Concurrency, far.Input, far.Devices = 1e6, 1e6, 1e6
	isHalf(t, "without a reach", o.Expect(&far), holds80(0.1, 0.2), holds80(0.05, 0.15), holds80(0.05, 0.1))
}

// TestPassIntervals: single passes of a dense model on one H200 were measured, decodes 8 % slower than predicted in the
// median; any other pass takes the error of the time it is, and its inverse for throughput.
func TestPassIntervals(t *testing.T) {
	t.Parallel()
	o := lopsided()
	for _, c := range []struct {
		name      string
		change    func(*calibration.Case)
		low, high float64
	}{
		{"decode", func(*calibration.Case) {}, -0.01, 0.17},
		{"prefill", func(s *calibration.Case) { s.Decode = false }, -0.09, 0.09},
		{"two devices", func(s *calibration.Case) { s.Devices = 2 }, -0.5, 0.2},
		{"two devices, prefill", func(s *calibration.Case) { s.Devices, s.Decode = 2, false }, -0.4, 0.6},
		{"tables", func(s *calibration.Case) { s.Tables = true }, -0.5, 0.2},
		{"Blackwell", func(s *calibration.Case) { s.Generation = "blackwell" }, -0.5, 0.2},
		{"experts", func(s *calibration.Case) { s.Class = engine.MoE }, -0.5, 0.2},
		{"kernels of tables", func(s *calibration.Case) { s.Tier = device.Measured }, -0.5, 0.2},
		{"many requests", func(s *calibration.Case) { s.Concurrency, s.Input = 1e6, 1e6 }, -0.01, 0.17}, // sizes of a step
	} {
		s := ordinary()
		s.Method, s.Decode, s.Devices = calibration.SingleStep, true, 1
		c.change(&s)
		e := o.Expect(&s)
		if want := holds80((c.low+c.high)/2, (c.high-c.low)/2); math.Abs(half(e.TPOT)-want) > 2e-5 || e.TTFT != e.TPOT || e.Throughput != e.TPOT {
			t.Errorf("%s: want ±%.6f, got %+v", c.name, want, e)
		}
	}
	s := ordinary()
	s.Method, s.Decode, s.Devices = calibration.SingleStep, true, 16
	const normal80 = 1.2815515655
	if e := o.Expect(&s); math.Abs(half(e.TPOT)-holds80(-0.15, math.Hypot(0.35, normal80*0.1))) > 2e-5 {
		t.Errorf("16 devices where 8 were measured: %+v", e)
	}
}

// TestBasis: an interval says of how many deployments, and of what kind, it is.
func TestBasis(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibration.Residuals{
		"seen": even(40, 1, 1, 1), "seen/nvidia": even(38, 1, 1, 1), "seen/nvidia/cache-free": even(35, 1, 1, 1), "seen/nvidia/cache-free/dense": even(31, 1, 1, 1),
		"own/vllm · h200_sxm · a/b": even(7, 1, 1, 1), "formulas": even(50, 1, 1, 1), "disagg": even(60, 1, 1, 1),
	})
	s := ordinary()
	want := "31 measured deployments (NVIDIA, KV cache not full, dense models), with their configuration held out of the fit, and 7 more of this model, system and engine"
	if got := o.Expect(&s).Basis; got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	s.Method = calibration.Formulas
	if got, want := o.Expect(&s).Basis, "50 measured deployments, predicted by these formulas"; got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	s.Disaggregated = true
	want = "60 measured disaggregated deployments, with their model, engine and device generation held out of the fit; " +
		"they validate the simulation, not these formulas"
	if got := o.Expect(&s).Basis; got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

// TestBasisOfOtherVendors: where no device of a vendor was measured, an interval says whose stand in for them, and why it is
// wider.
func TestBasisOfOtherVendors(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibration.Residuals{
		"seen": even(40, 1, 1, 1), "seen/nvidia": even(38, 1, 1, 1), "seen/amd": even(31, 1, 1, 1),
	})
	for _, c := range []struct {
		vendor     device.Vendor
		generation string
		group, why string
	}{
		{device.NVIDIA, "hopper", "(NVIDIA)", ""},
		{device.AMD, "cdna3", "(AMD)", "widened because no deployment of this device generation was measured"},
		{device.AMD, "rdna3", "(NVIDIA GPUs in place of AMD devices)", "widened because no deployment of this device generation was measured"},
		{device.Intel, "gaudi3", "(NVIDIA GPUs in place of Intel devices)", "no Intel device was measured"},
		{device.Google, "tpu-v6e", "(NVIDIA GPUs in place of TPUs)", "no TPU was measured"},
		{device.AWS, "neuron-v3", "(NVIDIA GPUs in place of AWS devices)", "no AWS device was measured"},
		{device.Apple, "apple-m3", "(NVIDIA GPUs in place of Apple devices)", "no Apple device was measured"},
		{device.Ascend, "ascend-a3", "(NVIDIA GPUs in place of Ascend devices)", "too few Ascend devices were measured"},
		{device.Other, "new", "(NVIDIA GPUs in place of devices of this vendor)", "no device of this vendor was measured"},
	} {
		s := ordinary()
		s.Vendor, s.Generation = c.vendor, c.generation
		got := o.Expect(&s).Basis
		if !strings.Contains(got, " measured deployments "+c.group) || c.why != "" && !strings.Contains(got, c.why) || c.why == "" && strings.Contains(got, "widened") {
			t.Errorf("%s %s: %s", c.vendor, c.generation, got)
		}
	}
}

// TestChance: both limits are met as often as each, times each.
func TestChance(t *testing.T) {
	t.Parallel()
	e := calibration.Expected{Each: figures.Each[calibration.Error]{TTFT: calibration.Error{Low: -0.2, High: 0.4}, TPOT: calibration.Error{Low: -0.1, High: 0.1}}}
	a, b := e.TTFT.Within(1, 1.2), e.TPOT.Within(0.01, 0.0105)
	if got := e.Chance(figures.Times{TTFT: 1, TPOT: 0.01}, workload.Limits{TTFT: 1.2, TPOT: 0.0105}); math.Abs(got-a*b) > 1e-12 || a <= 0.5 || b <= 0.5 || a >= 1 || b >= 1 {
		t.Errorf("%g and %g together %g", a, b, got)
	}
	sure := calibration.Error{Low: 0.1, High: 0.1}
	if sure.Within(1, units.Seconds(math.Exp(0.1))) != 1 || sure.Within(1, 1) != 0 || sure.Within(0, 1) != 1 {
		t.Error("an error without a spread")
	}
}

// TestElsewhere: a fit without the cells of a prediction still has rows of its engine.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibration.Residuals{"seen": even(many, 1, 1, 1), "unseen": even(many, 2, 2, 2), "uncalibrated": even(many, 3, 3, 3)})
	s := ordinary()
	isHalf(t, "here", o.Expect(&s), 1, 1, 1)
	isHalf(t, "elsewhere", o.Elsewhere().Expect(&s), 2, 2, 2)
	if len(o.Cells["vllm · h200_sxm"]) != 1 {
		t.Error("the overlay itself forgets")
	}
}

// TestCheckpoint: rows of a model say nothing about the same model with other weights; the list of models is without them.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	var o calibration.Overlay
	s := calibration.Subject{Engine: "vllm", System: "h200_sxm", Generation: "hopper", Model: "some/model", Weights: "bf16"}
	o.AddCell(&s)
	other := s
	other.Weights = "fp8"
	h100 := s
	h100.System = "h100_sxm"
	if !o.Saw(&s) || !o.Has(&s) || o.Saw(&h100) || !o.Has(&h100) || o.Saw(&other) || o.Has(&other) {
		t.Errorf("%v %v", o.Cells, o.Families)
	}
	all := calibration.Overlay{Cells: map[string][]string{"vllm · h200_sxm": {"some/model"}}}
	if !all.Saw(&s) || !all.Saw(&other) || all.Saw(&h100) {
		t.Error("a model without weights")
	}
	o.AddCell(&other)
	if got := o.Models("vllm", "h200_sxm"); len(got) != 1 || got[0] != "some/model" {
		t.Errorf("models %q", got)
	}
}

// TestEveryParameter: each parameter of an overlay multiplies its part of a tuning and no other.
func TestEveryParameter(t *testing.T) {
	t.Parallel()
	both := func(p step.Part) func(*replica.Multipliers) []*float64 {
		return func(u *replica.Multipliers) []*float64 { return []*float64{&u.Decode[p], &u.Prefill[p]} }
	}
	prefill := func(p step.Part) func(*replica.Multipliers) []*float64 {
		return func(u *replica.Multipliers) []*float64 { return []*float64{&u.Prefill[p]} }
	}
	one := func(of func(*replica.Multipliers) *float64) func(*replica.Multipliers) []*float64 {
		return func(u *replica.Multipliers) []*float64 { return []*float64{of(u)} }
	}
	for name, fields := range map[string]func(*replica.Multipliers) []*float64{
		"products": both(step.Products), "experts": both(step.Experts), "exchange": both(step.Exchange), "elementwise": both(step.Elementwise),
		"decode_attention": one(func(u *replica.Multipliers) *float64 { return &u.Decode[step.Attention] }),
		"prefill_products": prefill(step.Products), "prefill_experts": prefill(step.Experts), "prefill_attention": prefill(step.Attention),
		"per_step":         one(func(u *replica.Multipliers) *float64 { return &u.PerStep }),
		"per_sequence":     one(func(u *replica.Multipliers) *float64 { return &u.PerSequence }),
		"per_prefill_step": one(func(u *replica.Multipliers) *float64 { return &u.PerPrefillStep }),
		"per_layer":        one(func(u *replica.Multipliers) *float64 { return &u.PerLayer }),
		"launch_floor":     one(func(u *replica.Multipliers) *float64 { return &u.LaunchFloor }),
		"first":            one(func(u *replica.Multipliers) *float64 { return &u.First }),
	} {
		o := only("nvidia", name, 3)
		got, want := o.Multipliers(calibration.Subject{}), replica.Ones()
		for _, f := range fields(&want) {
			*f *= 3
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestEveryGroup: a prediction takes the product of all groups it belongs to, of each kind by what it differs by.
func TestEveryGroup(t *testing.T) {
	t.Parallel()
	s := calibration.Subject{
		Engine: "sglang", Generation: "hopper", System: "h200_sxm", Model: "a/b", Class: "latent", Products: "fp8 block", Experts: "nvfp4", KV: "fp8", Disaggregated: true,
	}
	dense := s
	dense.Class, dense.Experts, dense.Disaggregated = "dense", "", false
	for _, c := range []struct {
		group, parameter string
		latent, dense    float64 // with a multiplier of two
	}{
		{"nvidia", "first", 2, 2},
		{"amd", "first", 1, 1},
		{"nvidia · sglang", "first", 2, 2},
		{"hopper", "first", 2, 2},
		{"sglang · hopper", "first", 1, 1},
		{"nvidia · vllm", "first", 1, 1},
		{"sglang · blackwell", "first", 1, 1},
		{"nvidia · disagg", "first", 2, 1},
		{"nvidia · sglang · disagg", "first", 2, 1},
		{"sglang · hopper · fp8 block", "first", 1, 1},
		{"sglang · hopper · dense", "launch_floor", 1, 2},
		{"sglang · hopper · latent", "launch_floor", 2, 1},
		{"sglang · h200_sxm · a/b", "first", 2, 2},
		{"sglang · h200_sxm · c/d", "first", 1, 1},
	} {
		o := only(c.group, c.parameter, 2)
		read := func(s calibration.Subject) float64 {
			u := o.Multipliers(s)
			if c.parameter == "launch_floor" {
				return u.LaunchFloor
			}
			return u.First
		}
		if a, b := read(s), read(dense); math.Abs(a-c.latent) > 1e-9 || math.Abs(b-c.dense) > 1e-9 {
			t.Errorf("%s: want %g and %g, got %g and %g", c.group, c.latent, c.dense, a, b)
		}
	}
	for group, part := range map[string]step.Part{
		"products · sglang · hopper · fp8 block": step.Products, "experts · sglang · hopper · nvfp4": step.Experts, "decode_attention · sglang · hopper · latent fp8": step.Attention,
	} {
		parameter, group, _ := strings.Cut(group, " · ")
		o := only(group, parameter, 2)
		if got := o.Multipliers(s).Decode[part]; math.Abs(got-2) > 1e-9 {
			t.Errorf("%s of %s: %g", parameter, group, got)
		}
	}
	o := only("sglang · hopper · attention fp8", "prefill_attention", 2)
	if a, b := o.Multipliers(s).Prefill[step.Attention], o.Multipliers(dense).Prefill[step.Attention]; a != 1 || math.Abs(b-2) > 1e-9 {
		t.Errorf("attention that is not latent: %g, %g", a, b)
	}
}

// TestMultiplierBounds: a multiplier is between 0.01 and 100.
func TestMultiplierBounds(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{"0.011": true, "0.01": false, "99.9": true, "100": false, "nan": false} {
		_, err := calibration.Read([]byte("multipliers:\n  all: first "+value), "x.yaml")
		if (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
	for rows, ok := range map[int]bool{0: false, 1: true} {
		_, err := calibration.Read(fmt.Appendf(nil, "residuals:\n  seen: %d rows, ttft -1 1, tpot 0 0, throughput 0 1", rows), "x.yaml")
		if (err == nil) != ok {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// only is an overlay with one multiplier.
func only(group, parameter string, multiplier float64) *calibration.Overlay {
	o, err := calibration.Read(fmt.Appendf(nil, "multipliers:\n  %s: %s %g\n", group, parameter, multiplier), "only.yaml")
	if err != nil {
		panic(err)
	}
	return o
}
