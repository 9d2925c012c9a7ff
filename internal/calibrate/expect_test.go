package calibrate_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/units"
)

// many rows leave nothing of the wider kind.
const many = 1 << 40

// even are residuals of so many rows, the same to both sides.
func even(rows int, ttft, tpot, throughput float64) calibrate.Residuals {
	return calibrate.Residuals{Rows: rows, TTFT: calibrate.Error{Low: -ttft, High: ttft}, TPOT: calibrate.Error{Low: -tpot, High: tpot}, Throughput: calibrate.Error{Low: -throughput, High: throughput}}
}

// ordinary is a deployment of a dense model that a fit has seen.
func ordinary() calibrate.Case {
	return calibrate.Case{
		Subject: calibrate.Subject{Engine: "vllm", Generation: "hopper", System: "h200_sxm", Model: "a/b", Class: engine.Dense},
		Tier:    device.Calibrated, Vendor: device.NVIDIA, Devices: 2, Concurrency: 16, Input: 1000,
	}
}

// fitted is an overlay that has seen it.
func fitted(residuals map[string]calibrate.Residuals) *calibrate.Overlay {
	return &calibrate.Overlay{
		Cells: map[string]map[string][]string{"vllm": {"h200_sxm": {"a/b"}}}, Residuals: residuals,
		Reach: calibrate.Reach{Concurrency: 256, Input: 8000, Devices: 8},
	}
}

func half(e calibrate.Error) float64 { return (e.High - e.Low) / 2 }

// isHalf checks the half-widths of three intervals around their middle.
func isHalf(t rapid.TB, what string, e calibrate.Expected, ttft, tpot, throughput float64) {
	t.Helper()
	for _, c := range []struct {
		of        string
		got, want float64
	}{{"TTFT", half(e.TTFT), ttft}, {"TPOT", half(e.TPOT), tpot}, {"throughput", half(e.Throughput), throughput}} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s: %s: want a half-width of %.6f, got %.6f (%s)", what, c.of, c.want, c.got, e.Basis)
		}
	}
}

// TestWhichResiduals: a prediction takes the residuals of the narrowest kind it belongs to.
func TestWhichResiduals(t *testing.T) {
	t.Parallel()
	names := []string{
		"seen", "seen/cache-free", "seen/cache-free/dense", "seen/cache-free/dense/to-64", "seen/cache-free/dense/to-64/vllm",
		"seen/cache-full", "seen/cache-full/dense/to-8", "seen/cache-free/dense/to-8", "seen/cache-free/dense/above-64", "seen/cache-free/moe",
		"unseen", "unseen/cache-free", "unseen/cache-free/to-64", "unseen/cache-free/to-64/vllm", "unseen/cache-free/dense",
		"untuned", "untuned/cache-free", "untuned/cache-free/to-64", "untuned/cache-free/to-64/vllm",
		"disagg", "disagg/vllm", "disagg/cache-free", "formulas", "formulas/to-64", "formulas/cache-free", "steady", "steady/to-64", "steady/to-8",
	}
	residuals := map[string]calibrate.Residuals{}
	for i, n := range names {
		residuals[n] = even(many, float64(i+1), float64(100+i), float64(200+i))
	}
	o := fitted(residuals)
	for _, c := range []struct {
		want   string
		change func(*calibrate.Case)
	}{
		{"seen/cache-free/dense/to-64/vllm", func(*calibrate.Case) {}},
		{"seen/cache-free/dense/to-64/vllm", func(s *calibrate.Case) { s.Concurrency = 9 }},
		{"seen/cache-free/dense/to-64/vllm", func(s *calibrate.Case) { s.Concurrency = 64 }},
		{"seen/cache-free/dense/to-8", func(s *calibrate.Case) { s.Concurrency = 8 }},
		{"seen/cache-free/dense/above-64", func(s *calibrate.Case) { s.Concurrency = 65 }},
		{"seen/cache-free/dense/to-64/vllm", func(s *calibrate.Case) { s.KVPeak = 0.8 }},
		{"seen/cache-full", func(s *calibrate.Case) { s.KVPeak = 0.81 }},
		{"seen/cache-free/moe", func(s *calibrate.Case) { s.Class = engine.MoE }},
		{"seen/cache-free", func(s *calibrate.Case) { s.Class = engine.Latent }},
		{"unseen/cache-free/to-64/vllm", func(s *calibrate.Case) { s.Model = "c/d" }},
		{"unseen/cache-free/to-64/vllm", func(s *calibrate.Case) { s.System = "h100_sxm" }},
		{"unseen", func(s *calibrate.Case) { s.Model, s.KVPeak = "c/d", 1 }},
		{"untuned/cache-free/to-64", func(s *calibrate.Case) { s.Engine = "mindie" }},
		{"untuned/cache-free", func(s *calibrate.Case) { s.Engine, s.Concurrency = "mindie", 100 }},
		{"disagg/vllm", func(s *calibrate.Case) { s.Apart = true }},
		{"disagg", func(s *calibrate.Case) { s.Apart, s.Engine = true, "sglang" }},
		{"formulas/to-64", func(s *calibrate.Case) { s.Method = calibrate.Formulas }},
		{"formulas", func(s *calibrate.Case) { s.Method, s.Concurrency = calibrate.Formulas, 65 }},
		{"steady/to-64", func(s *calibrate.Case) { s.Method, s.Steady = calibrate.Formulas, true }},
		{"steady/to-8", func(s *calibrate.Case) { s.Method, s.Steady, s.Concurrency = calibrate.Formulas, true, 8 }},
		{"disagg/vllm", func(s *calibrate.Case) { s.Method, s.Apart = calibrate.Formulas, true }},
	} {
		s := ordinary()
		c.change(&s)
		r := residuals[c.want]
		isHalf(t, c.want, o.Expect(&s), r.TTFT.High, r.TPOT.High, r.Throughput.High)
	}
	o.Offsets = calibrate.Multipliers{"vllm · h100_sxm · a/b": {"first": 2}} // fitted by a user
	s := ordinary()
	s.System = "h100_sxm"
	r := residuals["seen/cache-free/dense/to-64/vllm"]
	isHalf(t, "a cell of the user's own", o.Expect(&s), r.TTFT.High, r.TPOT.High, r.Throughput.High)
}

// TestDrawnResiduals: few rows are drawn to what is known without them. Of the widest kind thirty rows count whole, of
// narrower ones sixty weigh as much as the wider kind.
func TestDrawnResiduals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int { return rapid.IntRange(1, 100).Draw(t, name) }
		width := func(name string) float64 { return rapid.Float64Range(0, 2).Draw(t, name) }
		residuals := map[string]calibrate.Residuals{
			"seen": even(n("seen"), width("a"), width("b"), width("c")), "seen/cache-free": even(n("cache-free"), width("d"), width("e"), width("f")),
			"seen/cache-free/dense/to-64": even(50, 9, 9, 9), // its wider kind is missing
		}
		want := [3]float64{math.Ln2, 0.4, 0.4} // nothing known
		toward := func(r calibrate.Residuals, share float64) {
			for i, to := range []float64{r.TTFT.High, r.TPOT.High, r.Throughput.High} {
				want[i] = (1-share)*want[i] + share*to
			}
		}
		s := ordinary()
		isHalf(t, "nothing", (&calibrate.Overlay{}).Expect(&s), want[0], want[1], want[2])
		toward(residuals["seen"], math.Min(1, float64(residuals["seen"].Rows)/30))
		narrow := residuals["seen/cache-free"]
		toward(narrow, float64(narrow.Rows)/float64(narrow.Rows+60))
		isHalf(t, "two kinds", fitted(residuals).Expect(&s), want[0], want[1], want[2])
		mine := even(n("own"), width("g"), width("h"), width("i"))
		residuals["own/vllm · h200_sxm · a/b"] = mine
		toward(mine, float64(mine.Rows)/float64(mine.Rows+60))
		isHalf(t, "one's own", fitted(residuals).Expect(&s), want[0], want[1], want[2])
	})
}

// lopsided residuals have a middle that is not zero.
func lopsided() *calibrate.Overlay {
	return fitted(map[string]calibrate.Residuals{
		"seen":     {Rows: many, TTFT: calibrate.Error{Low: -0.1, High: 0.3}, TPOT: calibrate.Error{Low: -0.2, High: 0.1}, Throughput: calibrate.Error{Low: -0.05, High: 0.15}},
		"untuned":  {Rows: many, TTFT: calibrate.Error{Low: -0.4, High: 0.6}, TPOT: calibrate.Error{Low: -0.5, High: 0.2}, Throughput: calibrate.Error{Low: -0.3, High: 0.1}},
		"disagg":   even(many, 0.5, 0.4, 0.3),
		"formulas": even(many, 0.7, 0.6, 0.5),
	})
}

// TestWidening: each thing that is not known adds a standard deviation of its own, at a right angle, around the same
// middle; 1.2816 of them are half of an 80 % interval.
func TestWidening(t *testing.T) {
	t.Parallel()
	o := lopsided()
	near := ordinary()
	before := o.Expect(&near)
	for _, c := range []struct {
		name, says string
		ttft, tpot float64
		change     func(*calibrate.Case)
	}{
		{"constants of a relative", "prices no deployment on such a device has checked", 0.12, 0.12, func(s *calibrate.Case) { s.Tier = device.Transferred }},
		{"a data sheet", "prices from the data sheet alone", 0.25, 0.25, func(s *calibrate.Case) { s.Tier = device.Datasheet }},
		{"measured kernels", "", 0, 0, func(s *calibrate.Case) { s.Tier = device.Measured }},
		{"AMD", "no device of this vendor was measured", 0.32, 0.32, func(s *calibrate.Case) { s.Vendor = device.AMD }},
		{"Intel", "no device of this vendor was measured", 0.32, 0.32, func(s *calibrate.Case) { s.Vendor = device.Intel }},
		{"Ascend", "no Ascend device was measured", 0.32, 0.32, func(s *calibrate.Case) { s.Vendor = device.Ascend }},
		{"TensorCast", "and TensorCast publishes no error", 0.32, 0.32, func(s *calibrate.Case) { s.Vendor, s.TensorCast = device.Ascend, true }},
		{"both", "no device of this vendor was measured", math.Hypot(0.12, 0.32), math.Hypot(0.12, 0.32), func(s *calibrate.Case) { s.Tier, s.Vendor = device.Transferred, device.AMD }},
		{"lengths", "length_ratio_low is not told", 0.25, 0.07, func(s *calibrate.Case) { s.Untold = []string{"length_ratio_low"} }},
		{"a cache", "kv_cache_dtype is not told", 0.08, 0.06, func(s *calibrate.Case) { s.Untold = []string{"kv_cache_dtype"} }},
		{"a budget", "token_budget is not told", 0.19, 0.05, func(s *calibrate.Case) { s.Untold = []string{"token_budget"} }},
		{"what does not matter", "", 0, 0, func(s *calibrate.Case) { s.Untold = []string{"num_prompts"} }},
		{"two", "token_budget is not told", math.Hypot(0.25, 0.19), math.Hypot(0.07, 0.05), func(s *calibrate.Case) { s.Untold = []string{"length_ratio_low", "token_budget"} }},
		{"as many requests as measured", "", 0, 0, func(s *calibrate.Case) { s.Concurrency = 256 }},
		{"twice the requests", "concurrency above the 256 measured", 0.1, 0.1, func(s *calibrate.Case) { s.Concurrency = 512 }},
		{"eight times the prompts", "prompts above the 8000 measured", 0.3, 0.3, func(s *calibrate.Case) { s.Input = 64000 }},
		{"as long prompts as measured", "", 0, 0, func(s *calibrate.Case) { s.Input = 8000 }},
		{"half as many devices again", "devices above the 8 measured", 0.1 * math.Log2(1.5), 0.1 * math.Log2(1.5), func(s *calibrate.Case) { s.Devices = 12 }},
		{"as many devices", "", 0, 0, func(s *calibrate.Case) { s.Devices = 8 }},
		{"all three", "prompts above", 0.1 * math.Sqrt(3), 0.1 * math.Sqrt(3), func(s *calibrate.Case) { s.Concurrency, s.Input, s.Devices = 512, 16000, 16 }},
		{"tables", "those were priced without tables of kernels", 0, 0, func(s *calibrate.Case) { s.Tables = true }},
	} {
		s := ordinary()
		c.change(&s)
		e := o.Expect(&s)
		const normal80 = 1.2815515655
		isHalf(t, c.name, e, math.Hypot(0.2, normal80*c.ttft), math.Hypot(0.15, normal80*c.tpot), math.Hypot(0.1, normal80*c.tpot))
		for _, x := range [][2]calibrate.Error{{before.TTFT, e.TTFT}, {before.TPOT, e.TPOT}, {before.Throughput, e.Throughput}} {
			if math.Abs(x[0].Low+x[0].High-x[1].Low-x[1].High) > 1e-9 {
				t.Errorf("%s: the middle moves from %+v to %+v", c.name, x[0], x[1])
			}
		}
		if (c.says == "") != (e.Basis == before.Basis) || !strings.Contains(e.Basis, c.says) {
			t.Errorf("%s: %s", c.name, e.Basis)
		}
	}
	// The reach is that of aggregated rows, and disaggregated rows told no more.
	apart := near
	apart.Apart, apart.Concurrency, apart.Input, apart.Devices, apart.Untold = true, 1e6, 1e6, 1e6, []string{"token_budget"}
	isHalf(t, "disaggregated", o.Expect(&apart), 0.5, 0.4, 0.3)
	o.Reach = calibrate.Reach{} // unknown
	far := near
	far.Concurrency, far.Input, far.Devices = 1e6, 1e6, 1e6
	isHalf(t, "without a reach", o.Expect(&far), 0.2, 0.15, 0.1)
}

// TestPassIntervals: single passes of a dense model on one H200 were measured, decodes 8 % slower than predicted in the
// median; any other pass takes the error of the time it is, and its inverse for throughput.
func TestPassIntervals(t *testing.T) {
	t.Parallel()
	o := lopsided()
	for _, c := range []struct {
		name      string
		change    func(*calibrate.Case)
		low, high float64
	}{
		{"decode", func(*calibrate.Case) {}, -0.01, 0.17},
		{"prefill", func(s *calibrate.Case) { s.Decode = false }, -0.09, 0.09},
		{"two devices", func(s *calibrate.Case) { s.Devices = 2 }, -0.5, 0.2},
		{"two devices, prefill", func(s *calibrate.Case) { s.Devices, s.Decode = 2, false }, -0.4, 0.6},
		{"tables", func(s *calibrate.Case) { s.Tables = true }, -0.5, 0.2},
		{"Blackwell", func(s *calibrate.Case) { s.Generation = "blackwell" }, -0.5, 0.2},
		{"experts", func(s *calibrate.Case) { s.Class = engine.MoE }, -0.5, 0.2},
		{"kernels of tables", func(s *calibrate.Case) { s.Tier = device.Measured }, -0.5, 0.2},
		{"many requests", func(s *calibrate.Case) { s.Concurrency, s.Input = 1e6, 1e6 }, -0.01, 0.17}, // sizes of a step
	} {
		s := ordinary()
		s.Method, s.Decode, s.Devices = calibrate.Pass, true, 1
		c.change(&s)
		e := o.Expect(&s)
		if math.Abs(e.TPOT.Low-c.low) > 1e-6 || math.Abs(e.TPOT.High-c.high) > 1e-6 || e.TTFT != e.TPOT || e.Throughput != (calibrate.Error{Low: -e.TPOT.High, High: -e.TPOT.Low}) {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
	s := ordinary()
	s.Method, s.Decode, s.Devices = calibrate.Pass, true, 16
	const normal80 = 1.2815515655
	if e := o.Expect(&s); math.Abs(half(e.TPOT)-math.Hypot(0.35, normal80*0.1)) > 1e-6 {
		t.Errorf("16 devices where 8 were measured: %+v", e)
	}
}

// TestBasis: an interval says of how many deployments, and of what kind, it is.
func TestBasis(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibrate.Residuals{
		"seen": even(40, 1, 1, 1), "seen/cache-free": even(35, 1, 1, 1), "seen/cache-free/dense": even(31, 1, 1, 1),
		"own/vllm · h200_sxm · a/b": even(7, 1, 1, 1), "formulas": even(50, 1, 1, 1), "disagg": even(60, 1, 1, 1),
	})
	s := ordinary()
	want := "31 measured deployments, predicted without their configuration (cache-free, dense); and 7 of this model on the system under the engine"
	if got := o.Expect(&s).Basis; got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	s.Method = calibrate.Formulas
	if got, want := o.Expect(&s).Basis, "50 measured deployments, predicted by these formulas"; got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	s.Apart = true
	want = "60 measured deployments, disaggregated, predicted without their model on the system under the engine; " +
		"those were simulated: no such deployment was compared with these formulas"
	if got := o.Expect(&s).Basis; got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

// TestChance: both limits are kept as often as each, times each.
func TestChance(t *testing.T) {
	t.Parallel()
	e := calibrate.Expected{TTFT: calibrate.Error{Low: -0.2, High: 0.4}, TPOT: calibrate.Error{Low: -0.1, High: 0.1}}
	a, b := e.TTFT.Within(1, 1.2), e.TPOT.Within(0.01, 0.0105)
	if got := e.Chance(1, 0.01, 1.2, 0.0105); math.Abs(got-a*b) > 1e-12 || a <= 0.5 || b <= 0.5 || a >= 1 || b >= 1 {
		t.Errorf("%g and %g together %g", a, b, got)
	}
	sure := calibrate.Error{Low: 0.1, High: 0.1}
	if sure.Within(1, units.Seconds(math.Exp(0.1))) != 1 || sure.Within(1, 1) != 0 || sure.Within(0, 1) != 1 {
		t.Error("an error without a spread")
	}
}

// TestLearnByHand: residuals are the 80 % quantile of the sizes of errors where a fit is tried, else the 10 % and 90 %
// quantiles; a division needs thirty rows, a whole kind any.
func TestLearnByHand(t *testing.T) {
	t.Parallel()
	rows := func(n int, concurrency int) (out []calibrate.Compared) {
		for i := range n {
			off := units.Seconds(math.Exp(0.01 * float64(i-3))) // measured over predicted
			row := &calibrate.Row{Output: 101, LengthLow: 1, Concurrency: concurrency, TTFT: off, TPOT: 0.01 * off}
			s := ordinary()
			s.Concurrency = concurrency
			out = append(out, calibrate.Compared{Row: row, Pred: calibrate.Prediction{TTFT: 1, TPOT: 0.01, Throughput: float64(concurrency) * 101 / 2, Case: s}})
		}
		return out
	}
	bad := rows(5, 16)
	bad[0].Pred.Err, bad[1].Row.TTFT, bad[2].Row.TPOT, bad[3].Pred.TTFT, bad[4].Pred.TPOT = errUnknown, 0, 0, 0, 0
	var o calibrate.Overlay
	o.Learn(&calibrate.Evidence{Seen: append(rows(11, 16), bad...), Untuned: rows(30, 16), Formulas: rows(29, 8), Steady: append(rows(30, 8), rows(30, 100)...)})
	// Eleven errors of -3 to 7 percent: their sizes, sorted, are 0 1 1 2 2 3 3 4 5 6 7, of which the ninth is at 80 %.
	isResidual(t, o, "seen", calibrate.Residuals{Rows: 11, TTFT: calibrate.Error{Low: -0.05, High: 0.05}, TPOT: calibrate.Error{Low: -0.05, High: 0.05}, Throughput: calibrate.Error{Low: -0.05, High: 0.05}})
	// Thirty of -3 to 26 percent: 10 % and 90 % lie 2.9 in from the ends.
	isResidual(t, o, "untuned", calibrate.Residuals{Rows: 30, TTFT: calibrate.Error{Low: -0.001, High: 0.231}, TPOT: calibrate.Error{Low: -0.001, High: 0.231}, Throughput: calibrate.Error{Low: -0.231, High: 0.001}})
	for name, rows := range map[string]int{"untuned/cache-free": 30, "untuned/cache-free/to-64": 30, "formulas": 29, "steady": 60, "steady/to-8": 30, "steady/above-64": 30} {
		if got := o.Residuals[name].Rows; got != rows {
			t.Errorf("%s: want %d rows, got %d", name, rows, got)
		}
	}
	for _, name := range []string{"seen/cache-free", "formulas/to-8", "unseen", "disagg"} {
		if r, ok := o.Residuals[name]; ok {
			t.Errorf("%s has residuals: %+v", name, r)
		}
	}
	var mine calibrate.Overlay
	mine.LearnOwn(append(rows(11, 16), bad...))
	isResidual(t, mine, "own/vllm · h200_sxm · a/b", o.Residuals["seen"])
}

func isResidual(t *testing.T, o calibrate.Overlay, name string, want calibrate.Residuals) {
	t.Helper()
	got := o.Residuals[name]
	same := func(a, b calibrate.Error) bool { return math.Abs(a.Low-b.Low) < 1e-9 && math.Abs(a.High-b.High) < 1e-9 }
	if got.Rows != want.Rows || !same(got.TTFT, want.TTFT) || !same(got.TPOT, want.TPOT) || !same(got.Throughput, want.Throughput) {
		t.Errorf("%s: want %+v, got %+v", name, want, got)
	}
}

// TestCoverageByHand: the share of rows inside their intervals, ends included; rows that say nothing do not count.
func TestCoverageByHand(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibrate.Residuals{"seen": even(many, 0.1, 0.2, 0.3)})
	compared := func(ttft, tpot float64) calibrate.Compared {
		return calibrate.Compared{
			Row:  &calibrate.Row{TTFT: units.Seconds(math.Exp(ttft)), TPOT: units.Seconds(math.Exp(tpot))},
			Pred: calibrate.Prediction{TTFT: 1, TPOT: 1, Case: ordinary()},
		}
	}
	rows := []calibrate.Compared{compared(0.09, 0.19), compared(-0.09, -0.21), compared(0.11, 0.21), compared(-0.11, 0), compared(0, 0)}
	for i := range 3 {
		silent := compared(0, 0)
		*[]*units.Seconds{&silent.Row.TTFT, &silent.Row.TPOT, &silent.Row.TTFT}[i] = 0
		if i == 2 {
			silent.Row.TTFT, silent.Pred.Err = 1, errUnknown
		}
		rows = append(rows, silent)
	}
	if ttft, tpot := o.Coverage(rows); ttft != 3./5 || tpot != 3./5 {
		t.Errorf("%g and %g", ttft, tpot)
	}
	if ttft, tpot := o.Coverage(nil); !math.IsNaN(ttft) || !math.IsNaN(tpot) {
		t.Errorf("of nothing: %g and %g", ttft, tpot)
	}
}

// TestElsewhere: without its cells a fit has seen nothing of a prediction, but still is of its engine.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	o := fitted(map[string]calibrate.Residuals{"seen": even(many, 1, 1, 1), "unseen": even(many, 2, 2, 2), "untuned": even(many, 3, 3, 3)})
	s := ordinary()
	isHalf(t, "here", o.Expect(&s), 1, 1, 1)
	isHalf(t, "elsewhere", o.Elsewhere().Expect(&s), 2, 2, 2)
	if len(o.Cells["vllm"]) != 1 {
		t.Error("the overlay itself forgets")
	}
}
