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

// dump reads the table that is printed, whose cells end where their heads do.
func dump(t *testing.T, r *optimize.Response) (heads []string, rows []map[string]string) {
	t.Helper()
	var b bytes.Buffer
	report.OptimizeDump(&b, r)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	heads = strings.Fields(lines[0])
	for _, line := range lines[1:] {
		row, end := map[string]string{}, 0
		for _, name := range heads {
			begin := end
			end += strings.Index(lines[0][end:], name) + len(name)
			if padded := line + strings.Repeat(" ", end); padded[end-1] != ' ' || strings.TrimSpace(padded[begin:end]) == "" {
				row[name] = strings.TrimSpace(padded[begin:end])
				continue
			}
			t.Fatalf("%s does not end under its head:\n%s\n%s", name, lines[0], line)
		}
		rows = append(rows, row)
	}
	return heads, rows
}

// evaluated gives the layouts of a search two batches more: half of the best, and twice as much, which misses a limit.
func evaluated(s optimize.Search) optimize.Search {
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if c.Best == nil {
			continue
		}
		half, twice := *c.Best, *c.Best
		half.Batch, half.Best.Throughput, half.Binds = c.Best.Batch/2, c.Best.Best.Throughput/2, search.Fits
		twice.Batch, twice.Best.Throughput, twice.Binds = 2*c.Best.Batch, 1.5*c.Best.Best.Throughput, search.Fits
		c.Evaluated = []optimize.Evaluated{{Row: half}, {Row: *c.Best}, {Row: twice, Rejected: search.OverTPOT, Reason: "too slow"}}
	}
	return s
}

// TestDump: every batch that was sampled is a row, layouts in the order of enumeration; one without a batch has its reason.
func TestDump(t *testing.T) {
	r := response(t, a2)
	r.Devices[0].Searches = []optimize.Search{evaluated(aggregated(1))}
	heads, got := dump(t, r)
	if want := append(strings.Fields(raw), "phase", "feasible", "bound_by", "reason"); !slices.Equal(heads, want) {
		t.Fatalf("columns (-want +got):\n%s", cmp.Diff(want, heads))
	}
	var rows [][5]string
	for _, x := range got {
		rows = append(rows, [5]string{x["parallel"], x["batch_size"], x["token/s"], x["feasible"], x["bound_by"] + x["reason"]})
	}
	want := [][5]string{
		{"TP=8 | PP=1 | DP=1", "50", "500.000", "true", ""},
		{"TP=8 | PP=1 | DP=1", "100", "1000.000", "true", "TPOT limit"},
		{"TP=8 | PP=1 | DP=1", "200", "1500.000", "false", "TPOT limittoo slow"},
		{"TP=4 | PP=1 | DP=2", "43", "1444.223", "true", ""},
		{"TP=4 | PP=1 | DP=2", "87", "2888.445", "true", "TPOT limit"},
		{"TP=4 | PP=1 | DP=2", "174", "4332.668", "false", "TPOT limittoo slow"},
		{"TP=2 | PP=1 | DP=4", "4", "250.000", "true", ""},
		{"TP=2 | PP=1 | DP=4", "9", "500.000", "true", "TPOT limit"},
		{"TP=2 | PP=1 | DP=4", "18", "750.000", "false", "TPOT limittoo slow"},
		{"TP=1 | PP=1 | DP=8", "", "", "false", "TPOT limitTPOT 60.00 ms at batch 1 is over the limit of 50.00 ms"},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if x := got[4]; x["ttft"] != "16032.050" || x["tpot"] != "49.900" || x["percentage_breakdowns(d)"] != "Mem 75.00 | Comm 25.00 | Cube 0.00 | Vec 0.00" || x["avail_GB"] != "7.250" {
		t.Errorf("the best row has other figures than in the table: %v", x)
	}
}

// TestDumpOfUnequalPrompts: below each batch stand the lengths in it, without figures.
func TestDumpOfUnequalPrompts(t *testing.T) {
	r := response(t, a2)
	r.Devices[0].Searches = []optimize.Search{evaluated(unequal(r, search.PrefillOnly))}
	r.Devices[0].Searches[0].Candidates = r.Devices[0].Searches[0].Candidates[:1]
	heads, got := dump(t, r)
	for _, x := range [][2]string{{"num_input_tokens", "output_length"}, {"request_ratio", "samples"}, {"samples", "concurrency"}} {
		if i := slices.Index(heads, x[0]); i < 0 || heads[i+1] != x[1] {
			t.Errorf("no %s before %s in %v", x[0], x[1], heads)
		}
	}
	var rows [][4]string
	for _, x := range got {
		rows = append(rows, [4]string{x["num_input_tokens"], x["request_ratio"], x["samples"], x["token/s"]})
	}
	all := func(throughput string) [][4]string {
		return [][4]string{{"all", "1.000", "20", throughput}, {"250", "0.750", "7", ""}, {"2000", "0.250", "3", ""}}
	}
	if d := cmp.Diff(slices.Concat(all("15000.000"), all("30000.000"), all("45000.000")), rows); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got[4]["ttft"] != "" || got[4]["weight_GB"] != got[3]["weight_GB"] || got[4]["batch_size"] != got[3]["batch_size"] {
		t.Errorf("details: %v", got[4])
	}
}
