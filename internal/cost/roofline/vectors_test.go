package roofline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/roofline"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// The vectors were produced by running Ascend's TensorCast; times in them are
// rounded to 1e-4 µs.
const tolerance = 1e-4

func load[T any](t *testing.T, file string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []T
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func roof(t *testing.T, name string) *roofline.Model {
	t.Helper()
	p, err := device.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return roofline.New(p, roofline.Settings{FreeUnsupported: true})
}

func near(got units.Seconds, wantUs float64) bool {
	return math.Abs(got.Us()-wantUs) <= tolerance*wantUs+5e-5
}

func TestCollectives(t *testing.T) {
	type row struct {
		Device string
		Op     string
		Ranks  string `json:"group_ranks"`
		Bytes  float64
		Us     float64
	}
	comms := map[string]op.Comm{
		"all_reduce": op.AllReduce, "all_gather": op.AllGather,
		"reduce_scatter": op.ReduceScatter, "all_to_all": op.AllToAll,
	}
	rows := load[row](t, "testdata/tensorcast-collectives.json")
	if len(rows) != 448 {
		t.Fatalf("%d vectors, want 448", len(rows))
	}
	for _, r := range rows {
		g := group(t, r.Ranks)
		n := float64(g.Size)
		o := op.Op{Kind: op.Collective, Comm: comms[r.Op], Group: g, Payload: units.Bytes(r.Bytes)}
		switch r.Op {
		case "all_gather":
			o.Bytes = units.Bytes(r.Bytes * (1 + n))
		case "all_to_all": // even chunks; a rank keeps its own
			o.Payload = units.Bytes(r.Bytes * (n - 1) / n)
			o.Bytes = units.Bytes(2 * r.Bytes)
		case "reduce_scatter":
			o.Bytes = units.Bytes(r.Bytes * (1 + 1/n))
		default:
			o.Bytes = units.Bytes(2 * r.Bytes)
		}
		if got := roof(t, r.Device).Cost(&o); !near(got.Total, r.Us) {
			t.Errorf("%s %s over %s, %.0f bytes: want %.4f µs, got %.4f", r.Device, r.Op, r.Ranks, r.Bytes, r.Us, got.Total.Us())
		}
	}
}

// group reads "0..7" or "0,8,16,24".
func group(t *testing.T, ranks string) parallel.Group {
	t.Helper()
	if _, last, ok := strings.Cut(ranks, ".."); ok {
		n, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		return parallel.Group{Size: int32(n + 1), Stride: 1}
	}
	list := strings.Split(ranks, ",")
	stride, err := strconv.Atoi(list[1])
	if err != nil {
		t.Fatal(err)
	}
	return parallel.Group{Size: int32(len(list)), Stride: int32(stride)}
}

func TestOperators(t *testing.T) {
	type row struct {
		Device string
		Op     string
		Us     float64
		MemUs  float64 `json:"mem_us"`
		MMAUs  float64 `json:"mma_us"`
		GPUs   float64 `json:"gp_us"`
	}
	rows := load[row](t, "testdata/tensorcast-operators.json")
	if len(rows) != 154 {
		t.Fatalf("%d vectors, want 154", len(rows))
	}
	for _, r := range rows {
		o := operator(t, r.Op)
		e := roof(t, r.Device).Cost(&o)
		for _, c := range []struct {
			part string
			got  units.Seconds
			want float64
		}{{"total", e.Total, r.Us}, {"memory", e.Memory, r.MemUs}, {"matrix", e.Matrix, r.MMAUs}, {"vector", e.Vector, r.GPUs}} {
			if !near(c.got, c.want) {
				t.Errorf("%s %s: %s: want %.4f µs, got %.4f", r.Device, r.Op, c.part, c.want, c.got.Us())
			}
		}
	}
}

// operator builds what a vector's description says.
func operator(t *testing.T, text string) op.Op {
	t.Helper()
	o := op.Op{In: dtype.F16, Weight: dtype.F16, Out: dtype.F16, VectorIn: dtype.F16, KV: dtype.F16}
	var m, k, k2, n float64
	scan := func(format string) bool {
		c, _ := fmt.Sscanf(text, format, &m, &k, &k2, &n)
		return c == 4
	}
	scan2 := func(format string) bool {
		c, _ := fmt.Sscanf(text, format, &m, &k)
		return c == 2
	}
	gemm := func(in, weight dtype.Format, extra float64) {
		o.Kind, o.In, o.Weight = op.GEMM, in, weight
		o.Rows, o.Depth, o.Cols, o.Bytes = m, k, n, units.Bytes(extra)
	}
	switch {
	case scan("mm f16 [%f,%f]x[%f,%f]"):
		gemm(dtype.F16, dtype.F16, 0)
	case scan("mm f32 [%f,%f]x[%f,%f]"):
		gemm(dtype.F32, dtype.F32, 0)
		o.Out = dtype.F32
	case scan("static_quant_linear i8 [%f,%f]x[%f,%f]"):
		gemm(dtype.INT8, dtype.INT8, 8)
	case scan("static_quant_linear_int4 [%f,%f]x[%f,%f]"):
		gemm(dtype.INT8, dtype.INT4, 8)
		o.Vector32 = units.Ops(k * n)
	case scan2("rms_norm f16 [%f,%f]"):
		o.Bytes, o.Vector32 = units.Bytes(2*(2*m*k+k)), units.Ops(5*m*k)
	case scan2("add_rms_norm2 f16 [%f,%f]"):
		o.Bytes = units.Bytes(2*(2*m*k+k) + 4*m*k)
	case scan2("swiglu f16 [%f,%f]"):
		o.Bytes = units.Bytes(6 * m * k)
	case scan2("dynamic_quantize_symmetric [%f,%f]"):
		o.Bytes = units.Bytes(3*m*k + 4)
	default:
		attention(t, text, &o)
	}
	return o
}

// attention fills in the attention vectors: Qwen3-32B's heads and DeepSeek-V3's.
func attention(t *testing.T, text string, o *op.Op) {
	t.Helper()
	blocks := func(requests, seq float64) float64 { return requests * math.Ceil(seq/128) }
	gqa := func() {
		o.Kind = op.Attention
		o.Heads, o.KVHeads, o.HeadDim, o.ValueDim = 64, 8, 128, 128
	}
	mla := func() {
		o.Kind = op.Latent
		o.Heads, o.HeadDim, o.ValueDim, o.Rank, o.Rope = 128, 192, 128, 512, 64
	}
	decode := func(b, s float64) {
		o.Decode = op.Span{Requests: b, Tokens: b, Pairs: b * s, Context: b * s}
		o.Bytes = units.Bytes(8 * (blocks(b, s) + 3*b + 1))
	}
	prefill := func(s float64) {
		o.Prefill = op.Span{Requests: 1, Tokens: s, Pairs: s * s, Context: s}
		o.Expanded = s
		o.Bytes = units.Bytes(8 * (blocks(1, s) + 4))
	}
	switch text {
	case "attention decode 32 seqs ctx 4097, 64q/8kv heads d128":
		gqa()
		decode(32, 4097)
	case "attention prefill 1x4096, 64q/8kv heads d128":
		gqa()
		prefill(4096)
	case "MLA decode 16 seqs ctx 4097 128 heads":
		mla()
		decode(16, 4097)
	case "MLA prefill 1x4096 128 heads":
		mla()
		prefill(4096)
	default:
		t.Fatalf("unknown vector %q", text)
	}
}
