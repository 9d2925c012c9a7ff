package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/command"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// kernels is a table of products on an H200, one of them faster than the device can be.
func kernels(t *testing.T) []byte {
	t.Helper()
	type product struct {
		Kernel  string  `parquet:"kernel_source"`
		Format  string  `parquet:"gemm_dtype"`
		M       int64   `parquet:"m"`
		N       int64   `parquet:"n"`
		K       int64   `parquet:"k"`
		Latency float64 `parquet:"latency"`
	}
	rows := []product{{"torch", "bfloat16", 8192, 8192, 8192, 0.1}}
	for m := int64(1); m <= 1<<10; m *= 4 {
		for n := int64(1 << 10); n <= 1<<14; n *= 4 {
			for k := int64(1 << 10); k <= 1<<14; k *= 4 {
				rows = append(rows, product{"torch", "bfloat16", m, n, k, 1e3 * max(float64(2*m*n*k)/2e14, float64(2*n*k)/1e12, 5e-6)})
			}
		}
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// files are what the commands below read.
func files() map[string]string {
	var rows, power strings.Builder
	rows.WriteString(measuredtest.Header)
	power.WriteString(strings.Replace(measuredtest.Header, "quality", "tput_per_gpu,joules_per_output_token,quality", 1))
	for n := 1; n <= 12; n++ {
		row := fmt.Sprintf("%d,vllm,Qwen/Qwen3-8B,h200_sxm,fp8,agg,256,32,1,1,1,1,%d,%d,0.8,fp8,8192,0.9,100,10,", n, n, 2*n)
		fmt.Fprintf(&power, "%s%d,%g,\n", row, 900*n, 4/float64(n))
		if n <= 3 {
			fmt.Fprintln(&rows, row)
		}
	}
	return map[string]string{
		"rows.csv": rows.String(), "power.csv": power.String(), "rival.csv": "id,ttft_ms,tpot_ms\n1,40,9\n2,60,10.5\n3,,\n", "none.csv": "id,ttft_ms,tpot_ms\nz,1,1\n",
		"wrong.yaml": "hopper:\n  fitted: [gemm.wid]\n",
	}
}

// run runs a command line, and returns what it prints and writes.
func run(ctx context.Context, t *testing.T, line string) (out, talk string, written map[string]*bytes.Buffer, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	written = map[string]*bytes.Buffer{}
	tables := fstest.MapFS{"h200_sxm/gemm/vllm/0.22.0/gemm_perf.parquet": {Data: kernels(t)}}
	p := command.Program{
		Session: &session.Session{
			Dir: func(string) fs.FS { return tables },
			Open: func(name string) (io.ReadCloser, error) {
				text, ok := files()[name]
				if !ok {
					return nil, fs.ErrNotExist
				}
				return io.NopCloser(strings.NewReader(text)), nil
			},
		},
		Create: func(name string) (io.WriteCloser, error) {
			written[name] = &bytes.Buffer{}
			return nopCloser{written[name]}, nil
		},
		Stdout: &stdout, Stderr: &stderr, Workers: 2,
	}
	err = p.Run(ctx, strings.Fields(line))
	return stdout.String(), stderr.String(), written, err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestCommands: what each command prints and writes.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, prints, file, holds string }{
		{"deployments -iterations 1 -folds 2 -leave-out model -out fit.yaml rows.csv", "aggregated: model held out", "fit.yaml", "  formulas:"},
		{"extend -iterations 1 -folds 2 -out fit.yaml rows.csv", "aggregated: configuration held out", "fit.yaml", "(fit extend rows.csv)"},
		{"kernels -perf-data kernels -systems h200_sxm -out fit.yaml", "hopper", "fit.yaml", "\nhopper:\n"},
		{"surfaces -perf-data kernels -out surfaces.bin", "h200_sxm", "surfaces.bin", "plimsoll surfaces 3"},
		{"power -out power.yaml power.csv", "fitted rows", "power.yaml", "# go run ./cmd/fit power -out coefficients.yaml power.csv\n"},
		{"page -beside Rival=rival.csv rows.csv", "2 clean rows of `rows.csv` that every column predicts", "", ""},
		{"outside rows.csv", "80 % intervals hold", "", ""},
	} {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			out, talk, written, err := run(t.Context(), t, tt.line)
			if err != nil || !strings.Contains(out, tt.prints) {
				t.Errorf("%v\n%s%s", err, out, talk)
			}
			if tt.file != "" && (written[tt.file] == nil || !strings.Contains(written[tt.file].String(), tt.holds)) {
				t.Errorf("%s: %s", tt.file, written[tt.file])
			}
			ended, stop := context.WithCancel(t.Context())
			stop()
			if _, _, written, err := run(ended, t, tt.line); !errors.Is(err, context.Canceled) || len(written) > 0 {
				t.Errorf("cancelled: %v, %d files", err, len(written))
			}
		})
	}
}

// TestMistakes: what makes no sense is refused with a reason.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                 "no COMMAND given",
		"fits":                             `unknown command "fits"`,
		"deployments":                      "no ROWS.csv given",
		"deployments nowhere.csv":          "file does not exist",
		"power rows.csv":                   "rows.csv: no device generation has 10 rows",
		"kernels":                          "a fit to kernels needs -perf-data",
		"page -beside rival rows.csv":      "-beside must be NAME=FILE",
		"page -beside R=none.csv rows.csv": "none.csv predicts none of the rows",
		"page -beside R=rows.csv rows.csv": "rows.csv: it has no column ttft_ms",
		"kernels -perf-data kernels -selection wrong.yaml":   "wrong.yaml: hopper: fitted: unknown form",
		"kernels -perf-data kernels -systems h200_sxn":       `unknown device "h200_sxn"`,
		"deployments -iterations 1 -leave-out kind rows.csv": `"kind" cannot be left out`,
	} {
		if _, _, _, err := run(t.Context(), t, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %s, got %v", line, want, err)
		}
	}
}
