package table_test

import (
	"bytes"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

type gemmRow struct {
	Kernel  string  `parquet:"kernel_source"`
	DType   string  `parquet:"gemm_dtype"`
	M       int64   `parquet:"m"`
	N       int64   `parquet:"n"`
	K       int64   `parquet:"k"`
	Latency float64 `parquet:"latency"`
}

type attentionRow struct {
	Kernel  string  `parquet:"kernel_source"`
	Attn    string  `parquet:"attn_dtype"`
	KV      string  `parquet:"kv_cache_dtype"`
	Batch   int64   `parquet:"batch_size"`
	Length  int64   `parquet:"isl"`
	Heads   int64   `parquet:"num_heads"`
	KVHeads int64   `parquet:"num_key_value_heads"`
	Dim     int64   `parquet:"head_dim"`
	Step    int64   `parquet:"step"`
	Window  int64   `parquet:"window_size"`
	Latency float64 `parquet:"latency"`
}

type latentRow struct {
	Kernel  string  `parquet:"kernel_source"`
	DType   string  `parquet:"mla_dtype"`
	KV      string  `parquet:"kv_cache_dtype"`
	Batch   int64   `parquet:"batch_size"`
	Length  int64   `parquet:"isl"`
	Heads   int64   `parquet:"num_heads"`
	Step    int64   `parquet:"step"`
	Latency float64 `parquet:"latency"`
}

type absorbedRow struct {
	Kernel  string  `parquet:"kernel_source"`
	Op      string  `parquet:"op_name"`
	DType   string  `parquet:"bmm_dtype"`
	Tokens  int64   `parquet:"num_tokens"`
	Heads   int64   `parquet:"num_heads"`
	Latency float64 `parquet:"latency"`
}

type moeRow struct {
	Kernel  string  `parquet:"kernel_source"`
	DType   string  `parquet:"moe_dtype"`
	Deal    string  `parquet:"distribution"`
	Tokens  int64   `parquet:"num_tokens"`
	Hidden  int64   `parquet:"hidden_size"`
	Inter   int64   `parquet:"inter_size"`
	TopK    int64   `parquet:"topk"`
	Experts int64   `parquet:"num_experts"`
	TP      int64   `parquet:"moe_tp_size"`
	EP      int64   `parquet:"moe_ep_size"`
	Latency float64 `parquet:"latency"`
}

type deltaRow struct {
	Kernel     string  `parquet:"kernel_source"`
	Phase      string  `parquet:"phase"`
	Batch      int64   `parquet:"batch_size"`
	Length     int64   `parquet:"seq_len"`
	KeyHeads   int64   `parquet:"num_k_heads"`
	ValueHeads int64   `parquet:"num_v_heads"`
	KeyDim     int64   `parquet:"head_k_dim"`
	ValueDim   int64   `parquet:"head_v_dim"`
	Latency    float64 `parquet:"latency"`
}

type messageRow struct {
	Kernel  string  `parquet:"kernel_source"`
	Op      string  `parquet:"op_name"`
	DType   string  `parquet:"nccl_dtype"`
	GPUs    int64   `parquet:"num_gpus"`
	Size    int64   `parquet:"message_size"`
	Latency float64 `parquet:"latency"`
}

// put adds a table to a directory.
func put[T any](t rapid.TB, dir fstest.MapFS, path string, rows ...T) {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	dir["h200_sxm/"+path+"_perf.parquet"] = &fstest.MapFile{Data: b.Bytes()}
}

// h200 is the device of the tests and what prices it without tables.
func h200(t rapid.TB) (*device.Profile, cost.Coster) {
	t.Helper()
	p, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	m, ok := calibrated.New(p)
	if !ok {
		t.Fatal("no constants")
	}
	return p, m
}

// opened is prices and the tables they come from.
type opened struct {
	*table.Model
	tables *table.Tables
}

// open prepares a directory's tables.
func open(t rapid.TB, dir fstest.MapFS) opened {
	t.Helper()
	s, err := perfdata.Open(dir, "dir")
	if err != nil {
		t.Fatal(err)
	}
	sys, err := s.System("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	p, base := h200(t)
	tables := table.New(sys, perfdata.Selection{}, p, base)
	return opened{tables.On(base), tables}
}
