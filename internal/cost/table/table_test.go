package table_test

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

const ms = units.Seconds(1e-3)

// product is a bfloat16 product.
func product(m, n, k float64) op.Op {
	return op.Op{
		Kind: op.GEMM, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, VectorIn: dtype.BF16, Rows: m, Cols: n, Depth: k,
	}
}

// near reports equality but for rounding.
func near(a, b units.Seconds) bool { return math.Abs(float64(a/b)-1) < 1e-9 }

// gemms is a directory with a small grid of products: 1 to 1024 rows, twice as
// slow as the forms say.
func gemms(t rapid.TB) (dir fstest.MapFS, slow float64) {
	t.Helper()
	dir, slow = fstest.MapFS{}, 2
	_, base := h200(t)
	var rows []gemmRow
	for _, m := range []int64{1, 16, 256, 1024} {
		for _, n := range []int64{2048, 8192} {
			for _, k := range []int64{2048, 8192} {
				o := product(float64(m), float64(n), float64(k))
				rows = append(rows, gemmRow{"kernel", "bfloat16", m, n, k, slow * float64(base.Cost(&o).Total/ms)})
			}
		}
	}
	put(t, dir, "gemm/vllm/1.0/gemm", rows...)
	return dir, slow
}

// TestEfficiencyIsKept: a table that is uniformly slower than the forms makes
// every product it covers, or lies a little beyond, as much slower; what is far
// away is priced without it.
func TestEfficiencyIsKept(t *testing.T) {
	dir, slow := gemms(t)
	m := open(t, dir)
	_, base := h200(t)
	for _, c := range []struct {
		m, n, k float64
		covered bool
	}{
		{16, 2048, 8192, true},    // measured
		{100, 2048, 8192, true},   // between two
		{64, 4096, 4096, true},    // among four matrices
		{4096, 8192, 8192, true},  // two octaves beyond
		{5000, 8192, 8192, false}, // more
		{64, 8192, 65536, false},  // no matrix near
	} {
		o := product(c.m, c.n, c.k)
		e, without := m.Cost(&o), base.Cost(&o).Total
		if covered := e.Measured > 0; covered != c.covered || covered != (m.Source(&o) == "vllm 1.0 kernel") {
			t.Errorf("%+v: measured %v of %v, source %q", c, e.Measured, e.Total, m.Source(&o))
		}
		want := without
		if c.covered {
			want *= units.Seconds(slow)
		}
		if !near(e.Total, want) {
			t.Errorf("%+v: want %v, got %v", c, want, e.Total)
		}
	}
	o := product(16, 2048, 2048)
	o.In, o.Weight = dtype.F32, dtype.F32 // no such table
	if e := m.Cost(&o); e.Measured != 0 || e.Total != base.Cost(&o).Total {
		t.Errorf("float32: %+v", e)
	}
	if err := m.tables.Err(); err != nil {
		t.Error(err)
	}
	if u := m.tables.Uses(); len(u) != 1 || u[0].Rows != 16 || u[0].Of != 16 || u[0].Rejected != 0 {
		t.Errorf("uses: %+v", u)
	}
}

// TestFastestKernel: of two engines the faster one counts, wherever its grid
// reaches; beyond that the other one's grid does.
func TestFastestKernel(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "gemm/vllm/1.0/gemm", gemmRow{"a", "bfloat16", 1, 4096, 4096, 0.1}, gemmRow{"a", "bfloat16", 4096, 4096, 4096, 1})
	put(t, dir, "gemm/sglang/0.5/gemm", gemmRow{"b", "bfloat16", 1, 4096, 4096, 0.05}, gemmRow{"b", "bfloat16", 64, 4096, 4096, 0.05})
	m := open(t, dir)
	for rows, want := range map[float64]struct {
		from string
		time units.Seconds
	}{1: {"sglang 0.5 b", 0.05 * ms}, 4096: {"vllm 1.0 a", ms}} {
		o := product(rows, 4096, 4096)
		if e := m.Cost(&o); m.Source(&o) != want.from || !near(e.Total, want.time) {
			t.Errorf("%g rows: want %v of %s, got %v of %s", rows, want.time, want.from, e.Total, m.Source(&o))
		}
	}
}

// TestImpossibleRows are left out and reported, with all of a kernel that has many.
func TestImpossibleRows(t *testing.T) {
	dir := fstest.MapFS{}
	var rows []gemmRow
	for m := int64(1); m <= 4096; m *= 2 {
		for range 4 { // measured again and again
			rows = append(rows, gemmRow{"good", "bfloat16", m, 4096, 4096, 1})
		}
		rows = append(rows, gemmRow{"bad", "bfloat16", m, 16384, 16384, 0.01 + float64(m)/1e4},
			gemmRow{"bad", "bfloat16", m, 16384, 16384, 10}) // possible, but of a kernel that is not believed
	}
	rows = append(rows, gemmRow{"good", "bfloat16", 8192, 4096, 4096, 0.1}, // 2.7 PFLOP/s
		gemmRow{"good", "bfloat16", 0, 4096, 4096, 1}, gemmRow{"good", "bfloat16", 2, 4096, 4096, math.NaN()})
	put(t, dir, "gemm/vllm/1.0/gemm", rows...)
	m := open(t, dir)
	o := product(8192, 4096, 4096)
	m.Cost(&o)
	u := m.tables.Uses()
	if len(u) != 1 || u[0].Rejected != 1+13 || u[0].Distrust != 13 || u[0].Rows != 4*13 {
		t.Errorf("uses: %+v", u)
	}
	if want := "1×16384×16384 in 10.10 µs; the device needs at least"; !strings.HasPrefix(u[0].Worst, want) {
		t.Errorf("worst: want %s…, got %s", want, u[0].Worst)
	}
	// A small matrix found in the cache beats memory without being wrong, but no
	// price does.
	dir = fstest.MapFS{}
	put(t, dir, "gemm/vllm/1.0/gemm", gemmRow{"hot", "bfloat16", 1, 4096, 4096, 0.004})
	m, o = open(t, dir), product(1, 4096, 4096)
	p, _ := h200(t)
	w := o.Work()
	if light := units.Seconds(float64(w.Bytes) / float64(p.Bandwidth)); !near(m.Cost(&o).Total, light) {
		t.Errorf("want %v, got %v", light, m.Cost(&o).Total)
	}
}

func TestAttention(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "attention/vllm/1.0/context_attention",
		attentionRow{"fa", "bfloat16", "bfloat16", 1, 1024, 8, 2, 128, 0, 0, 0.5}, attentionRow{"fa", "bfloat16", "bfloat16", 4, 1024, 8, 2, 128, 0, 0, 2},
		attentionRow{"fa", "bfloat16", "bfloat16", 1, 1024, 8, 2, 128, 0, 128, 0.1}) // a window
	put(t, dir, "attention/vllm/1.0/generation_attention",
		attentionRow{"fa", "bfloat16", "fp8", 8, 1, 8, 0, 128, 4095, 0, 0.8}, attentionRow{"fa", "bfloat16", "fp8", 8, 1, 8, 2, 128, 4095, 0, 0.2})
	m := open(t, dir)
	_, base := h200(t)
	o := op.Op{
		Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
		Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128,
		Prefill: op.Span{Requests: 1, Tokens: 1024, Pairs: 1024 * 1025 / 2, Context: 1024},
	}
	if e := m.Cost(&o); !near(e.Total, 0.5*ms) || e.Measured != e.Total {
		t.Errorf("prefill: %+v", e)
	}
	sliding := o
	sliding.Prefill.Pairs = 1024*128 - 127*128/2
	if e := m.Cost(&sliding); e.Measured != 0 || e.Total != base.Cost(&sliding).Total {
		t.Errorf("a selection: %+v", e)
	}
	sliding.Window = 128
	if e := m.Cost(&sliding); !near(e.Total, 0.1*ms) || e.Measured != e.Total {
		t.Errorf("a window: %+v", e)
	}
	sliding.Window = 256
	if e := m.Cost(&sliding); e.Measured != 0 {
		t.Errorf("another window: %+v", e)
	}
	decode := o
	decode.KV, decode.Prefill = dtype.FP8, op.Span{}
	decode.Decode = op.Span{Requests: 8, Tokens: 8, Pairs: 8 * 4096, Context: 8 * 4096}
	if e := m.Cost(&decode); !near(e.Total, 0.2*ms) || e.Measured != e.Total {
		t.Errorf("decode: %+v", e)
	}
	windowed := decode
	windowed.Window, windowed.Decode.Pairs, windowed.Decode.Context = 2048, 8*2048, 8*2048
	short := windowed
	short.Window = 0
	if e := m.Cost(&windowed); e.Measured == 0 || !near(e.Total, m.Cost(&short).Total) {
		t.Errorf("a decode of an unmeasured window: %+v", e)
	}
	every := decode
	every.KVHeads = 8 // 0 in the table
	if e := m.Cost(&every); !near(e.Total, 0.8*ms) {
		t.Errorf("as many KV heads as heads: %+v", e)
	}
	both := decode
	both.Prefill = o.Prefill
	prompts := o
	prompts.KV = dtype.FP8 // no such table of prefills
	if e := m.Cost(&both); !near(e.Total, 0.2*ms+base.Cost(&prompts).Total) || !near(e.Measured, 0.2*ms) {
		t.Errorf("both phases: %+v", e)
	}
}

// TestLatent: a decode is attention and two batched products, a prefill
// attention and the product that expands.
func TestLatent(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "mla/trtllm/1.0/generation_mla", latentRow{"k", "bfloat16", "bfloat16", 8, 1, 16, 4095, 0.2})
	put(t, dir, "mla/trtllm/1.0/context_mla", latentRow{"k", "bfloat16", "bfloat16", 1, 1024, 16, 0, 0.9})
	put(t, dir, "mla_bmm/trtllm/1.0/mla_bmm",
		absorbedRow{"b", "mla_gen_pre", "bfloat16", 8, 16, 0.01}, absorbedRow{"b", "mla_gen_post", "bfloat16", 8, 16, 0.02})
	put(t, dir, "gemm/vllm/1.0/gemm", gemmRow{"g", "bfloat16", 1024, 4096, 512, 0.1})
	m := open(t, dir)
	o := op.Op{
		Kind: op.Latent, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
		Heads: 16, HeadDim: 192, ValueDim: 128, Rank: 512, Rope: 64,
	}
	decode, prefill := o, o
	decode.Decode = op.Span{Requests: 8, Tokens: 8, Pairs: 8 * 4096, Context: 8 * 4096}
	prefill.Prefill, prefill.Expanded = op.Span{Requests: 1, Tokens: 1024, Pairs: 1024 * 1025 / 2, Context: 1024}, 1024
	if e := m.Cost(&decode); !near(e.Total, 0.23*ms) || !near(e.Measured, e.Total) || m.Source(&decode) != "trtllm 1.0 k" {
		t.Errorf("decode: %+v of %s", e, m.Source(&decode))
	}
	if e := m.Cost(&prefill); !near(e.Total, ms) || !near(e.Measured, e.Total) {
		t.Errorf("prefill: %+v", e)
	}
	other := decode
	other.Rank = 256
	_, base := h200(t)
	if e := m.Cost(&other); e != base.Cost(&other) {
		t.Errorf("another rank: %+v", e)
	}
}

// TestDelta: a recurrence over prompts and one by a token are kernels of their
// own; the convolution in the same table is not theirs.
func TestDelta(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "linear_attention/vllm/1.0/gdn",
		deltaRow{"causal_conv1d_fn", "context", 2, 1024, 4, 8, 128, 128, 0.01},
		deltaRow{"chunk_gated_delta_rule", "context", 2, 1024, 4, 8, 128, 128, 0.5},
		deltaRow{"causal_conv1d_update", "generation", 16, 1, 4, 8, 128, 128, 0.01},
		deltaRow{"fused_recurrent_gated_delta_rule", "generation", 16, 1, 4, 8, 128, 128, 0.2})
	m := open(t, dir)
	_, base := h200(t)
	o := op.Op{
		Name: op.DeltaRule, Kind: op.Recurrent, In: dtype.BF16, KV: dtype.F32, VectorIn: dtype.BF16,
		Heads: 8, KVHeads: 4, HeadDim: 128, ValueDim: 128,
		Prefill: op.Span{Requests: 2, Tokens: 2048}, Decode: op.Span{Requests: 16, Tokens: 16},
	}
	if e := m.Cost(&o); !near(e.Total, 0.7*ms) || !near(e.Measured, e.Total) || m.Source(&o) != "vllm 1.0 chunk_gated_delta_rule" {
		t.Errorf("both phases: %+v of %s", e, m.Source(&o))
	}
	for name, change := range map[string]func(*op.Op){
		"another recurrence": func(o *op.Op) { o.Name = op.SelectiveScan },
		"a narrow state":     func(o *op.Op) { o.KV = dtype.BF16 },
		"other heads":        func(o *op.Op) { o.HeadDim = 64 },
	} {
		other := o
		change(&other)
		if e := m.Cost(&other); e.Measured != 0 || !near(e.Total, base.Cost(&other).Total) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestExperts: the two products of a layer come to what was measured less what
// the graph counts by itself, whichever of the deals they belong to.
func TestExperts(t *testing.T) {
	const tokens, hidden, inter, k, experts, ranks = 64, 4096, 1024, 8, 128, 4
	dir := fstest.MapFS{}
	rows := []moeRow{
		{"nongated", "bfloat16", "power_law_1.01", tokens, hidden, inter, k, experts, 1, ranks, 0.01},
		{"grouped", "bfloat16", "balanced", tokens, hidden, inter, k, experts, 1, ranks, 5},
		{"grouped", "bfloat16", "power_law_1.01", tokens, hidden, 2 * inter, k, experts, 1, ranks, 7},
		{"grouped", "bfloat16", "power_law_1.01", tokens, hidden, inter, k, experts / 2, 1, ranks, 9},
		{"grouped", "bfloat16", "power_law_1.01", tokens, hidden, 2 * inter, k, experts, 2, ranks, 1},
	}
	put(t, dir, "moe/vllm/1.0/moe", rows...)
	m := open(t, dir)
	_, base := h200(t)
	deal := op.Deal{Experts: experts, Choice: k, Ranks: ranks}
	pairs, active := table.Busiest(1.01, deal, tokens)
	up := product(pairs, 2*inter, hidden)
	up.Kind, up.Experts, up.OutCols, up.Deal = op.GroupedGEMM, active, inter, deal
	down := product(pairs, hidden, inter)
	down.Kind, down.Experts, down.Deal = op.GroupedGEMM, active, deal
	pass := op.Op{In: dtype.BF16, VectorIn: dtype.BF16, Bytes: units.Bytes(2 * (pairs/k + pairs) * hidden)}
	got, want := m.Cost(&up).Total+m.Cost(&down).Total, ms-2*base.Cost(&pass).Total
	if !near(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
	few := up
	few.Deal.Choice = 3
	ungated := up
	ungated.Cols = inter
	for name, o := range map[string]*op.Op{"another deal": &few, "without a gate": &ungated} {
		if e := m.Cost(o); e != base.Cost(o) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestOtherWidths: a deal that was measured for other inner widths alone does not
// hide the next one, which was for this.
func TestOtherWidths(t *testing.T) {
	const tokens, hidden, inter, k, experts = 64, 4096, 1024, 8, 128
	dir := fstest.MapFS{}
	put(t, dir, "moe/vllm/1.0/moe",
		moeRow{"other", "bfloat16", "power_law_1.01", tokens, hidden, 2 * inter, k, experts, 1, 1, 7},
		moeRow{"asked", "bfloat16", "balanced", tokens, hidden, inter, k, experts, 1, 1, 5})
	m := open(t, dir)
	o := product(tokens*k, hidden, inter)
	o.Kind, o.Experts, o.Deal = op.GroupedGEMM, experts, op.Deal{Experts: experts, Choice: k, Ranks: 1}
	if got := m.Source(&o); got != "vllm 1.0 asked" {
		t.Errorf("priced by %q", got)
	}
}

func TestCollectives(t *testing.T) {
	dir := fstest.MapFS{}
	put(t, dir, "comm/vllm/1.0/custom_allreduce",
		messageRow{Kernel: "v_graph", GPUs: 8, Size: 1 << 20, Latency: 0.05}, messageRow{Kernel: "v_eager", GPUs: 8, Size: 1 << 20, Latency: 0.02})
	put(t, dir, "comm/nccl/2.27/nccl",
		messageRow{"NCCL", "all_reduce", "half", 8, 1 << 20, 0.06}, messageRow{"NCCL", "all_gather", "half", 8, 1 << 20, 0.07},
		messageRow{"NCCL", "reduce_scatter", "half", 8, 1 << 20, 0.08}, messageRow{"NCCL", "alltoall", "half", 8, 1 << 20, 0.09})
	m := open(t, dir)
	_, base := h200(t)
	const whole = units.Bytes(2 << 20)
	for _, c := range []struct {
		comm    op.Comm
		payload units.Bytes
		want    units.Seconds
	}{
		{op.AllReduce, whole, 0.05}, {op.AllGather, whole / 8, 0.07}, {op.ReduceScatter, whole, 0.08}, {op.AllToAll, whole * 7 / 8, 0.09},
	} {
		o := op.Op{Kind: op.Collective, Comm: c.comm, Group: parallel.Group{Size: 8, Stride: 1}, Payload: c.payload, Bytes: 2 * c.payload}
		if e := m.Cost(&o); !near(e.Total/ms, c.want) {
			t.Errorf("%v: want %v ms, got %v", c.comm, c.want, e.Total)
		}
		o.Group.Stride = 8 // between nodes
		if e := m.Cost(&o); e != base.Cost(&o) {
			t.Errorf("%v between nodes: %+v", c.comm, e)
		}
		o.Group = parallel.Group{Size: 4, Stride: 1}
		if e := m.Cost(&o); e != base.Cost(&o) {
			t.Errorf("%v of four: %+v", c.comm, e)
		}
	}
}

// TestDamagedTable: the price is that without tables, and the error names the
// file.
func TestDamagedTable(t *testing.T) {
	m := open(t, fstest.MapFS{"h200_sxm/gemm/vllm/1.0/gemm_perf.parquet": {Data: []byte("PAR1 and no more")}})
	_, base := h200(t)
	o := product(1, 4096, 4096)
	if e := m.Cost(&o); e != base.Cost(&o) {
		t.Errorf("%+v", e)
	}
	if err := m.tables.Err(); err == nil || !strings.Contains(err.Error(), "h200_sxm/gemm/vllm/1.0/gemm_perf.parquet") {
		t.Errorf("want an error that names the table, got %v", err)
	}
}

// TestOrderOfReading: the report on the tables does not depend on which
// operator came first.
func TestOrderOfReading(t *testing.T) {
	damaged := &fstest.MapFile{Data: []byte("PAR1 and no more")}
	dir := fstest.MapFS{
		"h200_sxm/gemm/sglang/1.0/gemm_perf.parquet":                    damaged,
		"h200_sxm/attention/vllm/1.0/generation_attention_perf.parquet": damaged,
	}
	put(t, dir, "gemm/vllm/1.0/gemm",
		gemmRow{"k", "bfloat16", 1, 16384, 16384, 0.01}, gemmRow{"k", "fp8", 1, 16384, 16384, 0.001}, gemmRow{"k", "fp8", 8, 16384, 16384, 0.001})
	narrow := product(1, 16384, 16384)
	narrow.In, narrow.Weight = dtype.FP8, dtype.FP8
	decode := op.Op{
		Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128,
		Decode: op.Span{Requests: 8, Tokens: 8, Pairs: 8 * 4096, Context: 8 * 4096},
	}
	ops := []op.Op{product(1, 16384, 16384), narrow, decode}
	read := func(order ...int) ([]table.Use, string) {
		m := open(t, dir)
		for _, i := range order {
			m.Cost(&ops[i])
		}
		return m.tables.Uses(), m.tables.Err().Error()
	}
	uses, errs := read(0, 1, 2)
	if len(uses) != 1 || uses[0].Rejected != 3 || !strings.Contains(uses[0].Worst, "8×16384×16384 in 1.000 µs") {
		t.Errorf("uses: %+v", uses)
	}
	if n := strings.Count(errs, "\n") + 1; n != 2 {
		t.Errorf("two files are damaged, got %d errors: %s", n, errs)
	}
	again, others := read(2, 1, 0)
	if !slices.Equal(uses, again) || errs != others {
		t.Errorf("in another order:\n%+v\n%+v\n%s\n%s", uses, again, errs, others)
	}
}

// TestSpeedOfLight: whatever a table says, no price is below the peaks.
func TestSpeedOfLight(t *testing.T) {
	p, _ := h200(t)
	rapid.Check(t, func(t *rapid.T) {
		dir := fstest.MapFS{}
		size := rapid.SampledFrom([]int64{1, 7, 64, 1000, 4096, 30000})
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) gemmRow {
			return gemmRow{"k", "bfloat16", size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "k"), rapid.Float64Range(1e-5, 10).Draw(t, "ms")}
		}), 1, 30).Draw(t, "rows")
		put(t, dir, "gemm/vllm/1.0/gemm", rows...)
		m := open(t, dir)
		o := product(float64(size.Draw(t, "rows")), float64(size.Draw(t, "cols")), float64(size.Draw(t, "depth")))
		w := o.Work()
		light := math.Max(float64(w.Matrix)/float64(p.Matrix[dtype.BF16]), float64(w.Bytes)/float64(p.Bandwidth))
		if e := m.Cost(&o); float64(e.Total) < light*(1-1e-9) || e.Measured != 0 && e.Measured != e.Total {
			t.Errorf("%+v, but light needs %v", e, light)
		}
	})
}

// TestCostAllocatesNothing once tables are read, and gives every goroutine the
// same.
func TestCostAllocatesNothing(t *testing.T) {
	dir, _ := gemms(t)
	put(t, dir, "mla/trtllm/1.0/generation_mla", latentRow{"k", "bfloat16", "bfloat16", 8, 1, 16, 4095, 0.2})
	put(t, dir, "attention/vllm/1.0/generation_attention", attentionRow{"fa", "bfloat16", "bfloat16", 8, 1, 8, 2, 128, 4095, 0, 0.2})
	put(t, dir, "attention/vllm/1.0/context_attention", attentionRow{"fa", "bfloat16", "bfloat16", 1, 1024, 8, 2, 128, 0, 0, 0.5})
	span := op.Span{Requests: 8, Tokens: 8, Pairs: 8 * 4096, Context: 8 * 4096}
	latent := op.Op{
		Kind: op.Latent, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
		Heads: 16, HeadDim: 192, ValueDim: 128, Rank: 512, Rope: 64, Decode: span,
	}
	attention := op.Op{
		Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
		Heads: 8, KVHeads: 2, HeadDim: 128, ValueDim: 128, Decode: span,
		Prefill: op.Span{Requests: 1, Tokens: 1024, Pairs: 1024 * 1025 / 2, Context: 1024},
	}
	ops := []op.Op{product(100, 2048, 8192), product(64, 4096, 4096), latent, attention}
	m := open(t, dir)
	var group sync.WaitGroup
	totals := make([]units.Seconds, 8)
	for g := range totals {
		group.Go(func() {
			for i := range ops {
				totals[g] += m.Cost(&ops[i]).Total
			}
		})
	}
	group.Wait()
	for _, x := range totals {
		if x != totals[0] {
			t.Errorf("goroutines disagree: %v", totals)
		}
	}
	for i := range ops {
		if e := m.Cost(&ops[i]); e.Measured == 0 {
			t.Errorf("operator %d is not covered", i)
		}
		if n := testing.AllocsPerRun(100, func() { m.Cost(&ops[i]) }); n != 0 {
			t.Errorf("operator %d: %g allocations", i, n)
		}
	}
}

func BenchmarkCost(b *testing.B) {
	dir, _ := gemms(b)
	m := open(b, dir)
	for name, o := range map[string]op.Op{"site=measured": product(100, 2048, 8192), "site=near": product(64, 4096, 4096)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Cost(&o)
			}
		})
	}
}
