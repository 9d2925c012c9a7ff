package perfdata

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// measured is a row as AIConfigurator writes them: every column optional.
type measured struct {
	Kernel  *string  `parquet:"kernel_source,optional"`
	DType   *string  `parquet:"gemm_dtype,optional,dict"`
	M       *int64   `parquet:"m,optional"`
	N       *int32   `parquet:"n,optional"`
	Latency *float64 `parquet:"latency,optional"`
}

// tableOf encodes rows with some compression, pages of a few rows each.
func tableOf(t testing.TB, rows []measured) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[measured](&b, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(3))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func example(t testing.TB) []byte {
	t.Helper()
	var rows []measured
	for i, d := range []string{"bfloat16", "fp8", "bfloat16", "bfloat16", "fp8"} {
		rows = append(rows, measured{new("k" + d), new(d), new(int64(i)), new(int32(10 * i)), new(float64(i) / 4)})
	}
	rows[3].N = nil
	return tableOf(t, rows)
}

func files(paths ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, p := range paths {
		out[p] = &fstest.MapFile{Data: []byte("x")}
	}
	return out
}

func TestLayouts(t *testing.T) {
	for name, c := range map[string]struct {
		fsys fstest.MapFS
		want File
	}{
		"systems beside one another": {
			files("gpu/gemm/vllm/0.22.0/gemm_perf.parquet", "gpu.yaml"),
			File{"vllm", "0.22.0", "gemm", "gpu/gemm/vllm/0.22.0/gemm_perf.parquet"},
		},
		"under data": {
			files("data/gpu/gemm/vllm/0.22.0/gemm_perf.parquet", "gpu.yaml"),
			File{"vllm", "0.22.0", "gemm", "data/gpu/gemm/vllm/0.22.0/gemm_perf.parquet"},
		},
		"without families": {
			files("gpu/vllm/0.22.0/gemm_perf.parquet"),
			File{"vllm", "0.22.0", "gemm", "gpu/vllm/0.22.0/gemm_perf.parquet"},
		},
	} {
		s, err := Open(c.fsys, "dir")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sys, err := s.System("none", "", "GPU")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := sys.Choose("gemm", Selection{}); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: want %+v, got %+v", name, c.want, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		fsys fstest.MapFS
		want string
	}{
		"no tables":  {files("readme.md", "gpu/notes.txt"), "dir has no kernel tables; want <system>/<family>"},
		"incomplete": {files("gpu/gemm/vllm/1/gemm_perf.parquet", "gpu/gemm/vllm/1/INCOMPLETE.txt"), "dir has no kernel tables"},
	} {
		if _, err := Open(c.fsys, "dir"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", name, c.want, err)
		}
	}
	s, err := Open(files("h200_sxm/gemm/vllm/1/gemm_perf.parquet", "l40s/gemm/vllm/1/gemm_perf.parquet"), "dir")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"h100_sxm": "dir has no tables of h100_sxm; nearest: h200_sxm",
		"ATLAS":    "dir has no tables of ATLAS; it has h200_sxm, l40s",
	} {
		if _, err := s.System(name); err == nil || err.Error() != want {
			t.Errorf("%s: want %q, got %v", name, want, err)
		}
	}
}

func TestChoose(t *testing.T) {
	s, err := Open(files(
		"gpu/comm/nccl/2.27.3/nccl_perf.parquet",
		"gpu/comm/vllm/0.9.0/nccl_perf.parquet",
		"gpu/comm/vllm/0.22.0/nccl_perf.parquet",
		"gpu/comm/trtllm/1.3.0rc9/nccl_perf.parquet",
		"gpu/comm/trtllm/1.3.0rc20/nccl_perf.parquet",
		"gpu/comm/trtllm/1.3.0rc20/other_perf.parquet",
	), "dir")
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := s.System("gpu")
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{
		"":                 "nccl 2.27.3, trtllm 1.3.0rc20, vllm 0.22.0",
		"vllm":             "nccl 2.27.3, vllm 0.22.0",
		"vllm@0.22":        "nccl 2.27.3, vllm 0.22.0",
		"vllm@0.21":        "nccl 2.27.3, vllm 0.9.0",
		"vllm@0.1":         "nccl 2.27.3",
		"trtllm@1.3.0rc10": "nccl 2.27.3, trtllm 1.3.0rc9",
		"trtllm@1.3":       "nccl 2.27.3, trtllm 1.3.0rc20",
	} {
		sel, err := ParseSelection(asked)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range gpu.Choose("nccl", sel) {
			got = append(got, f.Engine+" "+f.Version)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: want %s, got %s", asked, want, got)
		}
	}
	if got := gpu.Oldest("vllm"); got != "0.9.0" {
		t.Errorf("oldest: %s", got)
	}
	if _, err := ParseSelection("vllm@new"); err == nil {
		t.Error("a word is accepted as a version")
	}
	if diff := cmp.Diff([]string{"trtllm", "vllm"}, gpu.Engines()); diff != "" {
		t.Error(diff)
	}
}

func TestRead(t *testing.T) {
	fsys := fstest.MapFS{"gpu/vllm/1/gemm_perf.parquet": {Data: example(t)}}
	s, err := Open(fsys, "dir")
	if err != nil {
		t.Fatal(err)
	}
	sys, f := s.systems[0], s.systems[0].files[0]
	got, err := sys.Read(f, &Query{
		Text: map[string]string{"gemm_dtype": "bfloat16"}, Labels: []string{"kernel_source"},
		Values: []string{"latency", "m", "n", "window"}, Optional: []string{"window"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &Rows{
		Labels: [][]string{{"kbfloat16", "kbfloat16", "kbfloat16"}},
		Values: [][]float64{{0, 0.5, 0.75}, {0, 2, 3}, {0, 20, 0}, {0, 0, 0}}, N: 3, Total: 5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = sys.Read(f, &Query{Number: map[string]float64{"n": 40, "window": 0}, Values: []string{"m", "gemm_dtype"}, Optional: []string{"window"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.N != 1 || got.Values[0][0] != 4 || !math.IsNaN(got.Values[1][0]) {
		t.Errorf("want one row of m 4, got %+v", got)
	}
	_, err = sys.Read(f, &Query{Values: []string{"k"}})
	if want := `reading kernel table gpu/vllm/1/gemm_perf.parquet: column "k": no such column`; err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}

// TestDamaged: whatever is cut off or changed, the answer is an error or rows,
// never a panic.
func TestDamaged(t *testing.T) {
	whole := example(t)
	q := &Query{Text: map[string]string{"gemm_dtype": "fp8"}, Labels: []string{"kernel_source"}, Values: []string{"latency", "m", "n"}}
	for n := range len(whole) {
		if _, err := decode(whole[:n], q); err == nil {
			t.Errorf("%d of %d bytes are accepted", n, len(whole))
		}
		changed := bytes.Clone(whole)
		changed[n] ^= 0xff
		if rows, err := decode(changed, q); err == nil && (len(rows.Values[0]) != rows.N || len(rows.Labels[0]) != rows.N) {
			t.Errorf("byte %d changed: %d rows with %d values", n, rows.N, len(rows.Values[0]))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = decode(data, &Query{
			Text: map[string]string{"gemm_dtype": "bfloat16"}, Labels: []string{"kernel_source"}, Values: []string{"latency", "m", "n"},
		})
	})
}
