package table_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// second prices every operator at a second, so that a table's efficiency is its time.
type second struct{}

func (second) Cost(*op.Op) cost.Estimate {
	return cost.Estimate{Total: 1, Matrix: 0.1, Vector: 0.2, Memory: 0.3, Comm: 0.4, Fixed: 0.5}
}

// onSeconds prepares a directory's tables over that price.
func onSeconds(t rapid.TB, dir fstest.MapFS) *table.Model {
	t.Helper()
	s, err := perfdata.Open(dir, "dir")
	if err != nil {
		t.Fatal(err)
	}
	sys, err := s.System("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := h200(t)
	return table.New(sys, perfdata.Selection{}, p, second{}).On(second{})
}

// TestRowsAsOperators: each row of each table is the operator that a graph would hold, worked out by hand.
func TestRowsAsOperators(t *testing.T) {
	const b16, f8, f4, f32, i4, i8 = dtype.BF16, dtype.FP8, dtype.FP4, dtype.F32, dtype.INT4, dtype.INT8
	const slow = 1e4 // ms
	dir := fstest.MapFS{}
	var want []table.Sample
	add := func(form, format string, ops ...op.Op) {
		want = append(want, table.Sample{Form: form, Format: format, Ops: ops, Seconds: slow / 1e3})
	}
	var gemms []gemmRow
	for _, f := range []struct {
		name       string
		in, weight dtype.Format
		scales     units.Bytes // of 64 rows, 512 columns and a depth of 2,048
	}{
		{"bfloat16", b16, b16, 0},
		{"fp8", f8, f8, 4 * 64}, // one of each row
		{"fp8_block", f8, f8, 4*(2048/128)*(512/128) + 4*64*(2048/128)}, // blocks of 128 × 128, and of 128 inputs
		{"nvfp4", f4, f4, 512*2048/16 + 64*2048/16},                     // a byte for 16
		{"int4_wo", b16, i4, 2 * 512 * 2048 / 128},                      // two bytes for 128 weights
		{"int8_wo", b16, i8, 0},
		{"w4a16_mxfp4", b16, f4, 512 * 2048 / 32}, // a byte for 32 weights
		{"w4a8_mxfp4_mxfp8", f8, f4, 512*2048/32 + 64*2048/32},
	} {
		gemms = append(gemms, gemmRow{"k", f.name, 64, 512, 2048, slow})
		add(table.FormProduct, f.name, op.Op{Kind: op.GEMM, In: f.in, Weight: f.weight, Out: b16, VectorIn: b16, Rows: 64, Cols: 512, Depth: 2048, Bytes: f.scales})
	}
	put(t, dir, "gemm/vllm/1.0/gemm", gemms...)
	attention := op.Op{Kind: op.Attention, In: b16, Out: b16, KV: b16, VectorIn: b16, Heads: 8, KVHeads: 2, HeadDim: 64, ValueDim: 64}
	put(t, dir, "attention/vllm/1.0/context_attention", attentionRow{"k", "fp8", "bfloat16", 3, 100, 8, 2, 64, 0, 0, slow})
	prefill := attention
	prefill.In, prefill.Prefill = f8, op.Span{Requests: 3, Tokens: 300, Pairs: 3 * 100 * 101 / 2, Context: 300}
	add(table.FormPrefill, "fp8, cache bfloat16", prefill)
	put(t, dir, "attention/vllm/1.0/generation_attention", attentionRow{"k", "bfloat16", "fp8", 5, 1, 8, 0, 64, 99, 0, slow})
	decode := attention
	decode.KV, decode.KVHeads, decode.Decode = f8, 8, op.Span{Requests: 5, Tokens: 5, Pairs: 500, Context: 500}
	add(table.FormDecode, "cache fp8", decode)
	delta := op.Op{Name: op.DeltaRule, Kind: op.Recurrent, In: b16, KV: f32, VectorIn: b16, Heads: 8, KVHeads: 4, HeadDim: 128, ValueDim: 64}
	put(t, dir, "linear_attention/vllm/1.0/gdn", deltaRow{"k", "context", 2, 1000, 4, 8, 128, 64, slow}, deltaRow{"k", "generation", 16, 1, 4, 8, 128, 64, slow})
	scan, update := delta, delta
	scan.Prefill, update.Decode = op.Span{Requests: 2, Tokens: 2000}, op.Span{Requests: 16, Tokens: 16}
	add(table.FormScan, "bfloat16", scan)
	add(table.FormUpdate, "bfloat16", update)
	put(t, dir, "comm/nccl/2.27/nccl",
		messageRow{"k", "all_reduce", "half", 4, 1000, slow}, messageRow{"k", "all_gather", "half", 4, 1000, slow},
		messageRow{"k", "reduce_scatter", "half", 4, 1000, slow}, messageRow{"k", "alltoall", "half", 4, 1000, slow},
		messageRow{"k", "all_reduce", "half", 1, 1000, slow}, messageRow{"k", "all_reduce", "half", 1025, 1000, slow}) // of one, and of too many
	comm := func(c op.Comm, payload, traffic units.Bytes) op.Op {
		return op.Op{Kind: op.Collective, Comm: c, Group: parallel.Group{Size: 4, Stride: 1}, Payload: payload, Bytes: traffic}
	}
	add(table.FormComm, "all_reduce", comm(op.AllReduce, 2000, 4000))
	add(table.FormComm, "all_gather", comm(op.AllGather, 500, 2500))
	add(table.FormComm, "reduce_scatter", comm(op.ReduceScatter, 2000, 2500))
	add(table.FormComm, "all_to_all", comm(op.AllToAll, 1500, 4000))
	got, err := open(t, dir).tables.Samples()
	if err != nil {
		t.Fatal(err)
	}
	order := func(a, b table.Sample) int {
		return cmp.Or(cmp.Compare(a.Form, b.Form), cmp.Compare(a.Format, b.Format))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPowerLaw: the busiest rank of random deals as benchmarks make them.
func TestPowerLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, d := range []op.Deal{{Experts: 128, Choice: 8, Ranks: 1}, {Experts: 128, Choice: 8, Ranks: 8}, {Experts: 256, Choice: 8, Ranks: 4}, {Experts: 32, Choice: 4, Ranks: 4}} {
		for _, exponent := range []float64{1.01, 1.2} {
			for _, tokens := range []float64{2, 8, 64, 1024} {
				const draws = 100
				var rows, active float64
				for range draws {
					r, a := dealByPowerLaw(random, d, exponent, tokens)
					rows, active = rows+r/draws, active+a/draws
				}
				// Ranks with few experts have loads that are far from normal, and what no expert can take more of goes to others.
				if r, a := table.Busiest(exponent, d, tokens); math.Abs(math.Log(r/rows)) > 0.3 || math.Abs(math.Log(a/active)) > 0.3 {
					t.Errorf("%+v, %g, %g tokens: %.4g rows for %.4g experts, %.4g and %.4g at random", d, exponent, tokens, r, a, rows, active)
				}
			}
		}
	}
}

// dealByPowerLaw draws popularities, rounds what follows from them, and gives what is left to experts with fewest rows.
func dealByPowerLaw(random *rand.Rand, d op.Deal, exponent, tokens float64) (rows, active float64) {
	low, high := 1.0, 0.8*tokens
	if tokens*float64(d.Choice) <= float64(d.Experts) {
		low, high = 0.01, 2
	}
	counts := make([]float64, d.Experts)
	sum := 0.0
	for i := range counts {
		from, to := math.Pow(low, 1-exponent), math.Pow(high, 1-exponent)
		counts[i] = math.Pow(from+(to-from)*random.Float64(), 1/(1-exponent))
		sum += counts[i]
	}
	left := tokens * float64(d.Choice)
	for i := range counts {
		counts[i] = math.Min(math.Round(counts[i]/sum*tokens*float64(d.Choice)), tokens)
		left -= counts[i]
	}
	local := int(d.Local())
	for rank := 0; left > 0; rank = (rank + 1) % int(d.Ranks) {
		own := counts[rank*local : (rank+1)*local]
		own[slices.Index(own, slices.Min(own))]++
		left--
	}
	for own := range slices.Chunk(counts, local) {
		all, met := 0.0, 0.0
		for _, n := range own {
			all += n
			met += math.Min(n, 1)
		}
		if all > rows {
			rows, active = all, met
		}
	}
	return rows, active
}

// TestExpertRows: a row of experts is two products of what a rank's experts receive, less what a graph counts beside them:
// every token and row read and written twice, and the inputs of both products narrowed.
func TestExpertRows(t *testing.T) {
	const tokens, hidden, inter, k, experts, tp, ranks = 64, 512, 1024, 8, 128, 2, 4
	_, base := h200(t)
	for _, f := range []struct {
		name         string
		in, weight   dtype.Format
		scale        float64 // bytes of a row's
		narrow       float64 // bytes of an element read wide and written narrow
		matrixInputs bool
	}{
		{"bfloat16", dtype.BF16, dtype.BF16, 0, 0, false},
		{"fp8", dtype.FP8, dtype.FP8, 4, 3, true},
		{"int8_wo", dtype.BF16, dtype.INT8, 0, 0, false},
	} {
		dir := fstest.MapFS{}
		put(t, dir, "moe/vllm/1.0/moe",
			moeRow{"k", f.name, "power_law_1.2", tokens, hidden, inter, k, experts, tp, ranks, 50},
			// No deals: none is chosen, all are, no ranks, more ranks than experts.
			moeRow{"k", f.name, "power_law_1.2", tokens, hidden, inter, 0, experts, tp, ranks, 60},
			moeRow{"k", f.name, "power_law_1.2", tokens, hidden, inter, 128, 128, tp, ranks, 60},
			moeRow{"k", f.name, "power_law_1.2", tokens, hidden, inter, k, experts, tp, 0, 60},
			moeRow{"k", f.name, "power_law_1.2", tokens, hidden, inter, k, experts, tp, 129, 60})
		rows, active := table.Busiest(1.2, op.Deal{Experts: experts, Choice: k, Ranks: ranks}, tokens)
		up := op.Op{
			Kind: op.GroupedGEMM, In: f.in, Weight: f.weight, Out: dtype.BF16, VectorIn: dtype.BF16, Rows: rows, Cols: 2 * inter / tp, Depth: hidden,
			Experts: active, OutCols: inter / tp, Vector: units.Ops(7 * rows * inter / tp), Bytes: units.Bytes(f.scale * rows),
		}
		down := op.Op{
			Kind: op.GroupedGEMM, In: f.in, Weight: f.weight, Out: dtype.BF16, VectorIn: dtype.BF16, Rows: rows, Cols: hidden, Depth: inter / tp,
			Experts: active, Bytes: units.Bytes(f.scale * rows),
		}
		pass := func(bytes float64) units.Seconds {
			return base.Cost(&op.Op{In: dtype.BF16, VectorIn: dtype.BF16, Bytes: units.Bytes(bytes)}).Total
		}
		seconds := 0.05 - 2*pass(2*(rows/k+rows)*hidden)
		if f.matrixInputs {
			seconds -= pass(f.narrow*rows*hidden) + pass(f.narrow*rows*inter/tp)
		}
		got, err := open(t, dir).tables.Samples()
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %+v, %v", f.name, got, err)
		}
		nearly := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) })
		if d := gocmp.Diff(table.Sample{Form: table.FormExperts, Format: f.name, Ops: []op.Op{up, down}, Seconds: seconds}, got[0], nearly); d != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, d)
		}
	}
}

// TestOneChoice: tokens may choose a single expert.
func TestOneChoice(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "moe/vllm/1.0/moe", moeRow{"k", "bfloat16", "balanced", 64, 512, 1024, 1, 2, 1, 2, 50})
	got, err := open(t, dir).tables.Samples()
	if err != nil || len(got) != 1 || got[0].Ops[0].Rows != 32 || math.Abs(got[0].Ops[0].Experts-1) > 1e-9 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLatentRows: a whole latent decode is its attention and the two products around it.
func TestLatentRows(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "mla/trtllm/1.0/generation_mla", latentRow{"k", "bfloat16", "fp8", 8, 1, 16, 4095, 2})
	put(t, dir, "mla_bmm/trtllm/1.0/mla_bmm",
		absorbedRow{"b", "mla_gen_pre", "bfloat16", 8, 16, 0.1}, absorbedRow{"b", "mla_gen_post", "bfloat16", 8, 16, 0.3})
	got, err := open(t, dir).tables.Samples()
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	want := op.Op{
		Kind: op.Latent, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, KV: dtype.FP8, VectorIn: dtype.BF16,
		Heads: 16, HeadDim: 192, ValueDim: 128, Rank: 512, Rope: 64, Decode: op.Span{Requests: 8, Tokens: 8, Pairs: 8 * 4096, Context: 8 * 4096},
	}
	if d := gocmp.Diff([]op.Op{want}, got[0].Ops); d != "" || !near(got[0].Seconds, 2.4*ms) {
		t.Errorf("%v (-want +got):\n%s", got[0].Seconds, d)
	}
	// The parts are read as operators of the right sizes: twice the time of a part is twice its share.
	m := onSeconds(t, dir)
	e := m.Cost(&want)
	if !near(e.Total, 2.4*ms) || !near(e.Measured, 2.4*ms) || !near(e.Fixed, 1.2*ms) {
		t.Errorf("priced %+v", e)
	}
	for name, change := range map[string]func(*op.Op){
		"head": func(o *op.Op) { o.HeadDim++ }, "value": func(o *op.Op) { o.ValueDim++ }, "rank": func(o *op.Op) { o.Rank++ }, "rope": func(o *op.Op) { o.Rope++ },
		"cache": func(o *op.Op) { o.KV = dtype.INT8 }, "input": func(o *op.Op) { o.In = dtype.F32 }, "weight": func(o *op.Op) { o.Weight = dtype.F32 },
	} {
		o := want
		change(&o)
		if e := m.Cost(&o); e.Measured != 0 || e.Total != 1 {
			t.Errorf("another %s: %+v", name, e)
		}
	}
	few := want
	few.Decode.Tokens, few.Decode.Requests, few.Decode.Context = 80, 80, 80*4096 // beyond what was measured of attention
	if e := m.Cost(&few); e.Measured != 0 || e.Total != 1 {
		t.Errorf("ten times the requests: %+v", e)
	}
}

// TestPartsScale: all parts of an estimate take the table's efficiency.
func TestPartsScale(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "gemm/vllm/1.0/gemm", gemmRow{"k", "bfloat16", 64, 4096, 4096, 3000})
	o := product(64, 4096, 4096)
	e := onSeconds(t, dir).Cost(&o)
	want := cost.Estimate{Total: 3, Matrix: 0.3, Vector: 0.6, Memory: 0.9, Comm: 1.2, Fixed: 1.5, Measured: 3}
	if d := gocmp.Diff(want, e, gocmp.Comparer(near)); d != "" {
		t.Error(d)
	}
}

// grid is measured times by batch and context, as a test reads them: in the logarithms of all three.
type grid map[float64]map[float64]float64

// line reads one batch: kept at the edge, up to two octaves beyond it.
func (g grid) line(batch, context float64) (log, over float64) {
	var x []float64
	for c := range g[batch] {
		x = append(x, c)
	}
	slices.Sort(x)
	at := math.Max(x[0], math.Min(x[len(x)-1], context))
	over = math.Abs(math.Log2(context / at))
	i, ok := slices.BinarySearch(x, at)
	if ok {
		return math.Log(g[batch][at]), over
	}
	w := math.Log(at/x[i-1]) / math.Log(x[i]/x[i-1])
	return (1-w)*math.Log(g[batch][x[i-1]]) + w*math.Log(g[batch][x[i]]), over
}

// at reads the grid; false is beyond it.
func (g grid) at(batch, context float64) (seconds float64, ok bool) {
	var lines []float64
	for b := range g {
		lines = append(lines, b)
	}
	slices.Sort(lines)
	first, last := lines[0], lines[len(lines)-1]
	if edge := math.Max(first, math.Min(last, batch)); edge != batch || slices.Contains(lines, batch) {
		log, over := g.line(edge, context)
		over += math.Abs(math.Log2(batch / edge))
		return math.Exp(log), over <= 2
	}
	i, _ := slices.BinarySearch(lines, batch)
	lo, hi := lines[i-1], lines[i]
	a, overA := g.line(lo, context)
	b, overB := g.line(hi, context)
	w := math.Log(batch/lo) / math.Log(hi/lo)
	switch {
	case overA > 2 && overB > 2:
		return 0, false
	case overB > 2:
		return math.Exp(a), true
	case overA > 2:
		return math.Exp(b), true
	}
	return math.Exp((1-w)*a + w*b), true
}

// TestInterpolation: between measured batches and contexts times are interpolated in logarithms; beyond them the
// efficiency of the edge holds for two octaves, those of both directions together.
func TestInterpolation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := grid{}
		var rows []attentionRow
		for _, b := range []int64{2, 8, 16} {
			g[float64(b)] = map[float64]float64{}
			contexts := []int64{1000, 3000, 4096}
			if b == 8 { // a shorter line
				contexts = []int64{1000}
			}
			for _, c := range contexts {
				seconds := rapid.Float64Range(1, 1000).Draw(t, "seconds")
				g[float64(b)][float64(c)] = seconds
				rows = append(rows, attentionRow{"k", "bfloat16", "bfloat16", b, 1, 8, 2, 128, c - 1, 0, 1e3 * seconds})
			}
		}
		dir := fstest.MapFS{}
		put(t, dir, "attention/vllm/1.0/generation_attention", rows...)
		n := float64(rapid.SampledFrom([]int{1, 2, 3, 5, 8, 12, 16, 30, 64, 65, 100}).Draw(t, "batch"))
		context := float64(rapid.SampledFrom([]int{200, 250, 400, 1000, 1001, 2000, 3000, 3500, 4096, 5000, 8192, 16384, 17000}).Draw(t, "context"))
		o := op.Op{
			Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16, Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128,
			Decode: op.Span{Requests: n, Tokens: n, Pairs: n * context, Context: n * context},
		}
		want, ok := g.at(n, context)
		e := onSeconds(t, dir).Cost(&o)
		if (e.Measured > 0) != ok || ok && math.Abs(float64(e.Total)/want-1) > 1e-9 {
			t.Errorf("%g requests of %g tokens: want %g (%t), got %+v", n, context, want, ok, e)
		}
	})
}

// TestNearMatrices: an unmeasured matrix takes the efficiencies of the four nearest within two octaves, the nearer the
// more.
func TestNearMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type site struct{ cols, depth, seconds, far float64 }
		cols, depth := 5000.0, 3000.0
		var sites []site
		var rows []gemmRow
		for range rapid.IntRange(1, 12).Draw(t, "matrices") {
			s := site{
				cols: float64(rapid.IntRange(2000, 12000).Draw(t, "cols")), depth: float64(rapid.IntRange(700, 13000).Draw(t, "depth")),
				seconds: rapid.Float64Range(1, 1000).Draw(t, "seconds"),
			}
			s.far = math.Hypot(math.Log2(s.cols/cols), math.Log2(s.depth/depth))
			sites = append(sites, s)
			rows = append(rows, gemmRow{"k", "bfloat16", 64, int64(s.cols), int64(s.depth), 1e3 * s.seconds})
		}
		slices.SortFunc(sites, func(a, b site) int { return cmp.Compare(a.far, b.far) })
		for i := 1; i < len(sites); i++ {
			if sites[i].far-sites[i-1].far < 1e-9 {
				t.Skip("equally far, or the same")
			}
		}
		var sum, weights float64
		for i, s := range sites {
			if i < 4 && s.far <= 2 {
				sum += math.Log(s.seconds) / (s.far * s.far)
				weights += 1 / (s.far * s.far)
			}
		}
		dir := fstest.MapFS{}
		put(t, dir, "gemm/vllm/1.0/gemm", rows...)
		o := product(64, cols, depth)
		e := onSeconds(t, dir).Cost(&o)
		if (e.Measured > 0) != (weights > 0) || weights > 0 && math.Abs(float64(e.Total)/math.Exp(sum/weights)-1) > 1e-9 {
			t.Errorf("want %g, got %+v", math.Exp(sum/weights), e)
		}
	})
}

// TestReachOfHeads: attention is priced by as many heads within an octave, products of experts by the same widths alone.
func TestReachOfHeads(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "attention/vllm/1.0/generation_attention", attentionRow{"k", "bfloat16", "bfloat16", 8, 1, 8, 8, 128, 999, 0, 5000})
	m := onSeconds(t, dir)
	for heads, covered := range map[float64]bool{4: true, 5: true, 8: true, 16: true, 17: false, 3: false} {
		o := op.Op{
			Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16, Heads: heads, KVHeads: 8, HeadDim: 128, ValueDim: 128,
			Decode: op.Span{Requests: 8, Tokens: 8, Pairs: 8000, Context: 8000},
		}
		if e := m.Cost(&o); (e.Measured > 0) != covered {
			t.Errorf("%g heads: %+v", heads, e)
		}
		o.ValueDim = 64
		if e := m.Cost(&o); e.Measured > 0 {
			t.Errorf("keys and values of two widths: %+v", e)
		}
	}
}

// TestCausal: prompts that attend to nine tenths of what stands before them, or of their window, are causal, however many
// there are.
func TestCausal(t *testing.T) {
	const n, length, window = 4, 1000, 100
	dir := fstest.MapFS{}
	put(t, dir, "attention/vllm/1.0/context_attention",
		attentionRow{"k", "bfloat16", "bfloat16", n, length, 8, 2, 128, 0, 0, 5000}, attentionRow{"k", "bfloat16", "bfloat16", n, length, 8, 2, 128, 0, window, 6000})
	m := onSeconds(t, dir)
	for _, c := range []struct {
		window, pairs float64
		want          units.Seconds
	}{
		{0, n * length * length / 2, 5},
		{0, 0.9 * n * length * length / 2, 5},
		{0, 0.89 * n * length * length / 2, 0},
		{window, 0.9 * n * length * window / 2, 6},
		{window, 0.89 * n * length * window / 2, 0},
	} {
		o := op.Op{
			Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16, Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128,
			Window: c.window, Prefill: op.Span{Requests: n, Tokens: n * length, Pairs: c.pairs, Context: n * length},
		}
		if e := m.Cost(&o); c.want == 0 && e.Measured != 0 || c.want > 0 && !near(e.Total, c.want) {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

// TestBelief: rows may lie three percent under what the device needs; small operands may come from its cache, but
// arithmetic is never faster. A kernel with more than one such row in twenty is not believed.
func TestBelief(t *testing.T) {
	p, _ := h200(t)
	peak, memory := float64(p.Matrix[dtype.BF16]), float64(p.Bandwidth)
	time := func(o op.Op, share float64, arithmetic bool) float64 {
		w := o.Work()
		if arithmetic {
			return share * float64(w.Matrix) / peak * 1e3
		}
		return share * float64(w.Bytes) / memory * 1e3
	}
	small, large, hard := product(1, 4096, 4096), product(1, 16384, 16384), product(8192, 4096, 4096)
	for _, c := range []struct {
		name     string
		o        op.Op
		ms       float64
		rejected int
	}{
		{"small, from the cache", small, time(small, 0.5, false), 0},
		{"large, as fast as memory", large, time(large, 0.98, false), 0},
		{"large, faster than memory", large, time(large, 0.96, false), 1},
		{"as fast as arithmetic", hard, time(hard, 0.98, true), 0},
		{"faster than arithmetic", hard, time(hard, 0.96, true), 1},
	} {
		dir := fstest.MapFS{}
		put(t, dir, "gemm/vllm/1.0/gemm", gemmRow{"k", "bfloat16", int64(c.o.Rows), int64(c.o.Cols), int64(c.o.Depth), c.ms})
		m := open(t, dir)
		m.Cost(&c.o)
		if u := m.tables.Uses(); len(u) != 1 || u[0].Rejected != c.rejected || u[0].Rows != 1-c.rejected {
			t.Errorf("%s: %+v", c.name, u)
		}
	}
	for bad, believed := range map[int]bool{1: true, 2: false} {
		dir := fstest.MapFS{}
		var rows []gemmRow
		for i := range 20 {
			row := gemmRow{"k", "bfloat16", int64(1 + i), 16384, 16384, 100}
			if i < bad {
				row.Latency = 1e-3
			}
			rows = append(rows, row)
		}
		put(t, dir, "gemm/vllm/1.0/gemm", rows...)
		m := open(t, dir)
		o := product(10, 16384, 16384)
		if e := m.Cost(&o); (e.Measured > 0) != believed {
			t.Errorf("%d of 20 impossible: %+v", bad, e)
		}
	}
}

// TestWorst: the worst row is named, whatever it is of.
func TestWorst(t *testing.T) {
	for want, write := range map[string]func(fstest.MapFS){
		"prefill of 64 × 8192 tokens, 64 heads of 128 in 1.000 µs": func(dir fstest.MapFS) {
			put(t, dir, "attention/vllm/1.0/context_attention", attentionRow{"k", "bfloat16", "bfloat16", 64, 8192, 64, 8, 128, 0, 0, 0.001})
		},
		"decode of 64 × 8192 tokens, 64 heads of 128 in 1.000 µs": func(dir fstest.MapFS) {
			put(t, dir, "attention/vllm/1.0/generation_attention", attentionRow{"k", "bfloat16", "bfloat16", 64, 1, 64, 8, 128, 8191, 0, 0.001})
		},
		"recurrence of 8 × 4096 tokens, 32 heads of 128 in 1.000 µs": func(dir fstest.MapFS) {
			put(t, dir, "linear_attention/vllm/1.0/gdn", deltaRow{"k", "context", 8, 4096, 16, 32, 128, 128, 0.001})
		},
		"recurrence of 4096 × 1 tokens, 32 heads of 128 in 1.000 µs": func(dir fstest.MapFS) {
			put(t, dir, "linear_attention/vllm/1.0/gdn", deltaRow{"k", "generation", 4096, 1, 16, 32, 128, 128, 0.001})
		},
		"1024 rows of 8192×32768 over 8.0 experts in 1.000 µs": func(dir fstest.MapFS) {
			put(t, dir, "moe/vllm/1.0/moe", moeRow{"k", "bfloat16", "uniform", 512, 8192, 16384, 2, 8, 1, 1, 0.001})
		},
		"1.907 MiB over 8 devices in 1.000 µs": func(dir fstest.MapFS) {
			put(t, dir, "comm/nccl/2.27/nccl", messageRow{"k", "all_reduce", "half", 8, 1e6, 0.001})
		},
	} {
		dir := fstest.MapFS{}
		write(dir)
		m := open(t, dir)
		if _, err := m.tables.Samples(); err != nil {
			t.Fatal(err)
		}
		if u := m.tables.Uses(); len(u) != 1 || !strings.HasPrefix(u[0].Worst, want+"; the device needs at least ") {
			t.Errorf("want %s, got %s", want, fmt.Sprint(u))
		}
	}
}

// TestWindowOfRows: a prompt behind a window attends to it alone, a decode reads no more.
func TestWindowOfRows(t *testing.T) {
	const window = 100
	dir := fstest.MapFS{}
	put(t, dir, "attention/vllm/1.0/context_attention", attentionRow{"k", "bfloat16", "bfloat16", 2, 1000, 8, 2, 128, 0, window, 5000})
	put(t, dir, "attention/vllm/1.0/generation_attention", attentionRow{"k", "bfloat16", "bfloat16", 2, 1, 8, 2, 128, 999, window, 7000})
	// Priced by the calibrated forms, the operator of the row itself costs what was measured.
	m := open(t, dir)
	pairs := 0.0
	for i := range 1000 {
		pairs += 2 * math.Min(float64(i+1), window)
	}
	o := op.Op{Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16, Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128, Window: window}
	prefill, decode := o, o
	prefill.Prefill = op.Span{Requests: 2, Tokens: 2000, Pairs: pairs, Context: 2000}
	decode.Decode = op.Span{Requests: 2, Tokens: 2, Pairs: 2 * window, Context: 2 * window}
	if e := m.Cost(&prefill); !near(e.Total, 5) {
		t.Errorf("prefill: %+v", e)
	}
	if e := m.Cost(&decode); !near(e.Total, 7) {
		t.Errorf("decode: %+v", e)
	}
}
