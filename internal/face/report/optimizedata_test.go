package report_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// raw are the columns of the vendor's dump, in its order; ours come behind.
const raw = "device_name num_devices model_id quantize_linear_action quantize_attention_action input_length output_length " +
	"effective_input_length max_batched_tokens prefill_num_chunks concurrency ttft tpot token/s token/s/device parallel batch_size " +
	"percentage_breakdowns(p) percentage_breakdowns(d) weight_GB kv_cache_GB activation_GB avail_GB"

func table(t *testing.T, r *optimize.Response) []map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := report.OptimizeCSV(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := append(strings.Fields(raw), "phase", "feasible", "bound_by", "reason"); !slices.Equal(want, rows[0]) {
		t.Fatalf("columns (-want +got):\n%s", cmp.Diff(want, rows[0]))
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// TestCSV: every candidate is a row, the best first, the rejected last with
// their reason and without numbers.
func TestCSV(t *testing.T) {
	r := response(t, a2, a3)
	r.Devices[0].Searches = []optimize.Search{aggregated(1)}
	r.Devices[1].Searches = []optimize.Search{prefill(8), decode()}
	rows := table(t, r)
	if len(rows) != 8 {
		t.Fatalf("want 8 rows, got %d", len(rows))
	}
	for i, want := range []map[string]string{
		{
			"device_name": a2, "num_devices": "8", "model_id": "Qwen/Qwen3-32B", "quantize_linear_action": "W8A8_DYNAMIC",
			"quantize_attention_action": "DISABLED", "input_length": "3500", "output_length": "1500", "effective_input_length": "3500",
			"max_batched_tokens": "8192", "prefill_num_chunks": "1", "concurrency": "174", "ttft": "16032.050", "tpot": "49.900",
			"token/s": "2888.445", "token/s/device": "361.056", "parallel": "TP=4 | PP=1 | DP=2", "batch_size": "87",
			"percentage_breakdowns(p)": "Mem 12.50 | Comm 25.00 | Cube 50.00 | Vec 12.50",
			"percentage_breakdowns(d)": "Mem 75.00 | Comm 25.00 | Cube 0.00 | Vec 0.00",
			"weight_GB":                "10.000", "kv_cache_GB": "174.000", "activation_GB": "0.500", "avail_GB": "7.250",
			"phase": "aggregated", "feasible": "true", "bound_by": "TPOT limit", "reason": "",
		},
		{"token/s": "1000.000"},
		{"token/s": "500.000"},
		{
			"token/s": "", "ttft": "", "concurrency": "", "batch_size": "", "weight_GB": "", "avail_GB": "", "parallel": "TP=1 | PP=1 | DP=8",
			"phase": "aggregated", "feasible": "false", "bound_by": "TPOT limit", "reason": "TPOT 60.00 ms at batch 1 is over the limit of 50.00 ms",
		},
		{"phase": "prefill", "ttft": "1324.010", "tpot": "", "percentage_breakdowns(d)": ""},
		{"phase": "prefill", "token/s": "21000.500"},
		{"phase": "decode", "ttft": "", "tpot": "33.250", "percentage_breakdowns(p)": ""},
		{"phase": "decode", "device_name": a3},
	} {
		for name, value := range want {
			if got := rows[i][name]; got != value {
				t.Errorf("row %d, %s: want %q, got %q", i, name, value, got)
			}
		}
	}
	r = response(t, a2)
	r.Devices[0].Searches = []optimize.Search{unequal(r, search.PrefillOnly)}
	if got := table(t, r)[0]; got["input_length"] != "distribution" || got["effective_input_length"] != "687" {
		t.Errorf("unequal prompts: %s, %s effective", got["input_length"], got["effective_input_length"])
	}
}

// TestDump: the dump is the same table, right-aligned in columns.
func TestDump(t *testing.T) {
	r := response(t, a2)
	r.Devices[0].Searches = []optimize.Search{aggregated(1)}
	want := table(t, r)
	var b bytes.Buffer
	report.OptimizeDump(&b, r)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 1+len(want) {
		t.Fatalf("want %d lines, got %d", 1+len(want), len(lines))
	}
	end := 0 // of a column in the line
	for name := range strings.FieldsSeq(raw) {
		at := strings.Index(lines[0][end:], name)
		if at < 0 {
			t.Fatalf("no column %s", name)
		}
		begin := end
		end += at + len(name)
		for i, row := range want {
			line := lines[1+i]
			if len(line) < end {
				line += strings.Repeat(" ", end-len(line))
			}
			if got := line[begin:end]; strings.TrimSpace(got) != row[name] || row[name] != "" && !strings.HasSuffix(got, row[name]) {
				t.Errorf("row %d, %s: want %q at the right of %q", i, name, row[name], got)
			}
		}
	}
}
