package measuredtest

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Header is the columns of [File].
const Header = "id,backend,model_path,system,precision,mode,isl,osl,tp_size,attention_dp_size,moe_tp_size,moe_ep_size," +
	"concurrency,num_prompts,length_ratio_low,kv_cache_dtype,token_budget,memory_fraction,silicon_ttft_ms,silicon_tpot_ms,quality\n"

// File is rows of a made-up benchmark: two models, four lengths, a few
// concurrencies.
func File() string {
	var b strings.Builder
	b.WriteString(Header)
	for _, m := range []string{"meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-32B"} {
		for _, isl := range []int{256, 512, 1024, 2048} {
			for _, c := range []int{1, 4, 16, 64} {
				fmt.Fprintf(&b, "%s-%d-%d,vllm,%s,h200_sxm,fp8,agg,%d,128,2,1,2,1,%d,%d,0.8,fp8,8192,0.9,100,10,\n", m, isl, c, m, isl, c, 4*c)
			}
		}
	}
	return b.String()
}

// priced keeps the prices of devices: every test asks for the same few.
var priced sync.Map

// Predictor predicts by fitted prices, without a calibration.
func Predictor() *measured.Predictor {
	return &measured.Predictor{Prices: func(d *device.Profile) cost.Coster {
		if m, ok := priced.Load(d.Name); ok {
			return m.(cost.Coster)
		}
		m, ok := calibrated.New(d)
		if !ok {
			panic("no prices for " + d.Name)
		}
		priced.Store(d.Name, m)
		return m
	}}
}

// Rows are those of [File].
func Rows(t testing.TB) []measured.Row {
	t.Helper()
	return read(t, []byte(File()), "made-up.csv")
}

// Silicon is a sample of measured rows; ../testdata/README.md says whose and how
// they were chosen. It is read from two folders below internal, where tests run that use it.
func Silicon(t testing.TB) []measured.Row {
	t.Helper()
	return beside(t, "silicon-sample.csv")
}

// Runs are our own of vLLM on an H200: those the shipped calibration was fitted to, and those it
// has not seen.
func Runs(t testing.TB) (fitted, unseen []measured.Row) {
	t.Helper()
	return beside(t, "h200-fitted.csv"), beside(t, "h200-held-out.csv")
}

// beside reads a file of package measured.
func beside(t testing.TB, name string) []measured.Row {
	t.Helper()
	data, err := os.ReadFile("../../evidence/measured/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, data, name)
}

func read(t testing.TB, data []byte, name string) []measured.Row {
	t.Helper()
	r, err := measured.Read(bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Sheet is a CSV of rows given by column.
func Sheet(rows ...map[string]string) string {
	var columns []string
	for _, r := range rows {
		for c := range r {
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	slices.Sort(columns)
	var out strings.Builder
	out.WriteString(strings.Join(columns, ",") + "\n")
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, r[c])
		}
		out.WriteString(strings.Join(cells, ",") + "\n")
	}
	return out.String()
}

// Needed are the columns no row can do without, with others on top.
func Needed(more ...string) map[string]string {
	r := map[string]string{
		"backend": "vllm", "model_path": "a/b", "system": "h200_sxm", "isl": "1000", "osl": "100", "tp_size": "2", "silicon_ttft_ms": "50", "silicon_tpot_ms": "5",
	}
	for i := 0; i < len(more); i += 2 {
		r[more[i]] = more[i+1]
	}
	return r
}

// One is the row of a sheet with no other.
func One(t testing.TB, row map[string]string) measured.Row {
	t.Helper()
	return read(t, []byte(Sheet(row)), "x.csv")[0]
}

// Clean are the clean rows that can be predicted, ready to be simulated.
func Clean(t *testing.T, p *measured.Predictor, rows []measured.Row) []measured.Prepared {
	t.Helper()
	out, err := p.PrepareClean(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
