package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

// gemmRow is a measured product as AIConfigurator's tables hold it.
type gemmRow struct {
	Kernel  string  `parquet:"kernel_source"`
	DType   string  `parquet:"gemm_dtype"`
	M       int64   `parquet:"m"`
	N       int64   `parquet:"n"`
	K       int64   `parquet:"k"`
	Latency float64 `parquet:"latency"`
}

// gemmTable is products of every size a small model has, at a fifth of an H200's
// peaks, and one row no H200 can do.
func gemmTable() ([]byte, error) {
	const peak, bandwidth = 989e12 / 5, 4.8e12 / 5
	var rows []gemmRow
	for m := int64(1); m <= 1<<14; m *= 4 {
		for n := int64(1 << 7); n <= 1<<18; n *= 4 {
			for k := int64(1 << 7); k <= 1<<15; k *= 4 {
				work, bytes := 2*float64(m*n*k), 2*float64(m*n+n*k+m*k)
				rows = append(rows, gemmRow{"torch", "bfloat16", m, n, k, 1e3 * max(work/peak, bytes/bandwidth, 5e-6)})
			}
		}
	}
	rows = append(rows, gemmRow{"torch", "bfloat16", 8192, 8192, 8192, 0.1})
	var b bytes.Buffer
	err := parquet.Write(&b, rows)
	return b.Bytes(), err
}

// writeTables writes a directory of measured kernels: one table for an H200, and
// a damaged one for an H100.
func writeTables(dir string) error {
	data, err := gemmTable()
	if err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		"h200_sxm/gemm/vllm/0.22.0/gemm_perf.parquet": data,
		"h100_sxm/gemm/vllm/0.22.0/gemm_perf.parquet": data[:len(data)/2],
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// tables is the script command "tables DIR".
func tables(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tables DIR")
	}
	ts.Check(writeTables(ts.MkAbs(args[0])))
}

// tablesDir is such a directory for a test.
func tablesDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := writeTables(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
