package measured_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
)

// findings are the rules that rows trip, by id.
func findings(t *testing.T, rows ...map[string]string) string {
	t.Helper()
	read, err := measured.Read(strings.NewReader(measuredtest.Sheet(rows...)), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range examined(t, read) {
		out = append(out, f.Row.ID+":"+f.Rule)
	}
	return strings.Join(out, " ")
}

// qwen is a row of Qwen3-32B in bfloat16 on two H200 with lengths that do not vary, changed as asked.
func qwen(id string, more ...any) map[string]string {
	r := map[string]string{
		"id": id, "backend": "vllm", "model_path": "Qwen/Qwen3-32B", "system": "h200_sxm", "isl": "1000", "osl": "101", "tp_size": "2", "concurrency": "16",
		"length_ratio_low": "1", "silicon_ttft_ms": "200", "silicon_tpot_ms": "20",
	}
	for i := 0; i < len(more); i += 2 {
		r[fmt.Sprint(more[i])] = fmt.Sprint(more[i+1])
	}
	return r
}

// h200Wide is the peak of an H200 in bfloat16, and the operations of a token of Qwen3-32B.
func h200Wide(t *testing.T) (peak, perToken float64) {
	t.Helper()
	d, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Lookup("Qwen/Qwen3-32B")
	if err != nil {
		t.Fatal(err)
	}
	return float64(d.Matrix[dtype.BF16]), 2 * float64(m.Facts().Active)
}

// TestReachableCompute: 55 % of the peak, prompts and answers together, are within reach.
func TestReachableCompute(t *testing.T) {
	t.Parallel()
	peak, perToken := h200Wide(t)
	for used, want := range map[float64]string{0.545: "", 0.555: "a:over-compute"} {
		// 16 requests of 1000 + 101 tokens in TTFT + 100 TPOT; a tenth of it is TTFT.
		whole := 16 * 1101 * perToken / (used * 2 * peak)
		if got := findings(t, qwen("a", "silicon_ttft_ms", 100*whole, "silicon_tpot_ms", 9*whole)); got != want {
			t.Errorf("%g of the peak: want %q, got %q", used, want, got)
		}
		// The same of two prefill and two decode workers of one device: four in all.
		split := qwen("a", "mode", "disagg", "prefill_num_workers", 2, "decode_num_workers", 2, "silicon_ttft_ms", 50*whole, "silicon_tpot_ms", 4.5*whole)
		if got := findings(t, split); got != want {
			t.Errorf("%g of the peak, disaggregated: want %q, got %q", used, want, got)
		}
	}
}

// TestCrowdedCache: six times what the cache holds may be in flight, or anybody waits a second.
func TestCrowdedCache(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times, ttft float64
		want        string
	}{{5.99, 900, ""}, {6.01, 900, "a:multi-worker"}, {6.01, 1000, ""}, {6.01, 999, "a:multi-worker"}} {
		row := qwen("a", "silicon_ttft_ms", c.ttft, "silicon_tpot_ms", 1e6)
		read, err := measured.Read(strings.NewReader(measuredtest.Sheet(row)), "x.csv")
		if err != nil {
			t.Fatal(err)
		}
		cache := measuredtest.Predictor().Predict(t.Context(), &read[0]).KVTokens
		row["concurrency"] = fmt.Sprint(math.Round(c.times * float64(cache) / 1101))
		if got := findings(t, row); got != c.want {
			t.Errorf("%g times the cache, TTFT %g ms: want %q, got %q", c.times, c.ttft, c.want, got)
		}
	}
	if got, want := findings(t, qwen("a", "silicon_data_source", "x; dynamo_version=1")), "a:multi-worker"; got != want {
		t.Errorf("by its source: want %q, got %q", want, got)
	}
}

// TestColdStart: a first token may take two seconds, half of all prompts at a twentieth of the peak, and thirty steps.
func TestColdStart(t *testing.T) {
	t.Parallel()
	peak, perToken := h200Wide(t)
	warm := func(devices float64) float64 { return 1e3 * (2 + 16*1000*perToken/(0.05*peak*devices)/2 + 30*0.020) }
	for share, cold := range map[float64]bool{0.999: false, 1.001: true} {
		want := map[bool]string{true: "a:cold-start"}[cold]
		if got := findings(t, qwen("a", "silicon_ttft_ms", share*warm(2))); got != want {
			t.Errorf("%g of the limit: want %q, got %q", share, want, got)
		}
		// Apart, the prefill workers' devices compute prompts, and a waiting request waits for a place.
		want = map[bool]string{true: "a:hidden-limit"}[cold]
		split := qwen("a", "mode", "disagg", "prefill_num_workers", 3, "decode_tp_size", 4, "silicon_ttft_ms", share*warm(3))
		if got := findings(t, split); got != want {
			t.Errorf("%g of the limit, disaggregated: want %q, got %q", share, want, got)
		}
	}
	// Where the cache is full first tokens wait for room.
	full := qwen("a", "silicon_ttft_ms", 1e7, "silicon_tpot_ms", 1e4, "concurrency", 5000)
	if got := findings(t, full); got != "" {
		t.Errorf("a full cache: %q", got)
	}
}

// TestBadCampaigns: two rows, and one in five, condemn those measured with them; cold starts only before benchmarks warmed
// up.
func TestBadCampaigns(t *testing.T) {
	t.Parallel()
	campaign := func(bad, good int, day string) []map[string]string {
		var rows []map[string]string
		for i := range bad + good {
			ttft := 200 + i
			if i < bad {
				ttft = 60_000 + i
			}
			rows = append(rows, qwen(string(rune('a'+i)), "silicon_data_source", "x; measured="+day, "silicon_ttft_ms", ttft, "concurrency", 4))
		}
		return rows
	}
	for _, c := range []struct {
		bad, good int
		day       string
		condemned int
	}{
		{1, 1, "2025-11-01", 1},
		{2, 8, "2025-11-01", 10},
		{2, 9, "2025-11-01", 2},
		{3, 12, "2025-11-01", 15},
		{2, 2, "2026-01-20", 4},
		{2, 2, "2026-01-21", 2},
		{2, 2, "2026", 2},
		{2, 2, "", 2},
	} {
		got := findings(t, campaign(c.bad, c.good, c.day)...)
		if n := strings.Count(got, "cold-start"); n != c.condemned || strings.Count(got, ":") != n {
			t.Errorf("%d of %d on %q: want %d condemned, got %q", c.bad, c.bad+c.good, c.day, c.condemned, got)
		}
	}
	// Rows beyond the kernels condemn all, warmed up or not; those of another source stay.
	const day = "x; measured=2026-03-01"
	fast := func(id string, ttft int) map[string]string {
		return qwen(id, "silicon_data_source", day, "concurrency", 2000, "silicon_ttft_ms", ttft, "silicon_tpot_ms", 1)
	}
	slow := qwen("c", "silicon_data_source", day, "kv_cache_dtype", "fp8") // no neighbour of theirs
	if got, want := findings(t, fast("a", 1500), fast("b", 1600), slow, qwen("d", "silicon_data_source", "y", "silicon_ttft_ms", 300)), "a:over-compute b:over-compute c:over-compute"; got != want {
		t.Errorf("beyond the kernels: want %q, got %q", want, got)
	}
}

// TestSpeculationThresholds: up to eight requests, fewer devices are at most a fifth faster; one version is at most 1.6
// times as fast as another whose first tokens take a like time.
func TestSpeculationThresholds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		concurrency int
		a, b        []any
		want        string
	}{
		{"few devices, a fifth faster", 8, []any{"silicon_tpot_ms", 8.1}, []any{"tp_size", 4, "silicon_tpot_ms", 10}, ""},
		{"few devices, more than a fifth", 8, []any{"silicon_tpot_ms", 7.9}, []any{"tp_size", 4, "silicon_tpot_ms", 10}, "a:speculation"},
		{"under load", 9, []any{"silicon_tpot_ms", 7.9}, []any{"tp_size", 4, "silicon_tpot_ms", 10}, ""},
		{"as many devices", 8, []any{"silicon_tpot_ms", 7.9}, []any{"tp_size", 1, "attention_dp_size", 2, "silicon_tpot_ms", 10}, ""},
		{"other lengths", 8, []any{"silicon_tpot_ms", 7.9}, []any{"tp_size", 4, "silicon_tpot_ms", 10, "isl", 900}, ""},
		{"a version", 32, []any{"backend_version", "1", "silicon_tpot_ms", 159}, []any{"backend_version", "2", "silicon_tpot_ms", 100, "silicon_ttft_ms", 201}, ""},
		{"a faster version", 32, []any{"backend_version", "1", "silicon_tpot_ms", 161}, []any{"backend_version", "2", "silicon_tpot_ms", 100, "silicon_ttft_ms", 201}, "b:speculation"},
		{"with like first tokens", 32, []any{"backend_version", "1", "silicon_tpot_ms", 161}, []any{"backend_version", "2", "silicon_tpot_ms", 100, "silicon_ttft_ms", 248}, "b:speculation"},
		{"with others", 32, []any{"backend_version", "1", "silicon_tpot_ms", 161}, []any{"backend_version", "2", "silicon_tpot_ms", 100, "silicon_ttft_ms", 252}, ""},
		{"the same version", 32, []any{"backend_version", "1", "silicon_tpot_ms", 161}, []any{"backend_version", "1", "silicon_tpot_ms", 100, "silicon_ttft_ms", 201}, ""},
		{"another layout", 32, []any{"backend_version", "1", "silicon_tpot_ms", 161}, []any{"backend_version", "2", "tp_size", 4, "silicon_tpot_ms", 100, "silicon_ttft_ms", 201}, ""},
	} {
		a, b := qwen("a", append(c.a, "concurrency", c.concurrency)...), qwen("b", append(c.b, "concurrency", c.concurrency)...)
		if got := findings(t, a, b); got != c.want {
			t.Errorf("%s: want %q, got %q", c.name, c.want, got)
		}
	}
}

// TestNoiseThreshold: 15 % slower than under more load is noise, in rows measured together alone.
func TestNoiseThreshold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tpot float64
		more []any
		want string
	}{
		{"a little", 22.9, nil, ""},
		{"more", 23.1, nil, "a:noise"},
		{"another budget", 23.1, []any{"token_budget", 4096}, ""},
		{"another cache", 23.1, []any{"kv_cache_dtype", "fp8"}, ""},
		{"another version", 23.1, []any{"backend_version", "2"}, ""},
		{"another source", 23.1, []any{"silicon_data_source", "y"}, ""},
		{"the same load", 23.1, []any{"concurrency", 16}, ""},
		{"less load", 23.1, []any{"concurrency", 8, "silicon_tpot_ms", 21}, ""},
	} {
		b := qwen("b", append([]any{"concurrency", 32, "silicon_ttft_ms", 300}, c.more...)...)
		if got := findings(t, qwen("a", "silicon_tpot_ms", c.tpot), b); got != c.want {
			t.Errorf("%s: want %q, got %q", c.name, c.want, got)
		}
	}
}

// TestDuplicates: both times agree to the last digit, in one cell.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more []any
		want string
	}{
		"again": {nil, "b:duplicate"}, "another TTFT": {[]any{"silicon_ttft_ms", 200.001}, ""}, "another TPOT": {[]any{"silicon_tpot_ms", 20.001}, ""},
		"another system": {[]any{"system", "h100_sxm"}, ""}, "another load": {[]any{"concurrency", 15}, "b:duplicate"},
	} {
		if got := findings(t, qwen("a"), qwen("b", c.more...)); got != c.want {
			t.Errorf("%s: want %q, got %q", name, c.want, got)
		}
	}
}

// TestUnknownRows: what is not known here may well exist.
func TestUnknownRows(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"model_path", "system", "backend"} {
		if got := findings(t, qwen("a", column, "nobody", "silicon_ttft_ms", 1e6)); got != "" {
			t.Errorf("an unknown %s: %q", column, got)
		}
	}
}

// TestSizes: the classes of a number of weights.
func TestSizes(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"Qwen/Qwen3-14B": "below 15 B", "Qwen/Qwen3-30B-A3B": "15 to 80 B", "meta-llama/Llama-3.1-70B": "15 to 80 B",
		"openai/gpt-oss-120b": "80 to 300 B", "Qwen/Qwen3-235B-A22B": "80 to 300 B", "Qwen/Qwen3.5-397B-A17B": "300 B and more", "deepseek-ai/DeepSeek-V3": "300 B and more",
	}
	for id, size := range want {
		row := measuredtest.One(t, measuredtest.Needed("model_path", id, "tp_size", "8", "system", "b200_sxm"))
		if p := measuredtest.Predictor().Prepare(&row); p.Err != nil || p.Subject.Size != size {
			t.Errorf("%s: %q, %v", id, p.Subject.Size, p.Err)
		}
	}
}

// TestSettingsMatter: what a row says of its engine changes what is predicted of it.
func TestSettingsMatter(t *testing.T) {
	t.Parallel()
	p := measuredtest.Predictor()
	predict := func(engine string, more ...string) measured.Prediction {
		row := measuredtest.One(t, measuredtest.Needed(append([]string{"backend", engine, "model_path", "Qwen/Qwen3-32B", "concurrency", "64", "num_prompts", "128", "length_ratio_low", "0.5", "memory_fraction", "0.9"}, more...)...)) // a setting, or those of a preset are assumed
		got := p.Predict(t.Context(), &row)
		if got.Err != nil {
			t.Fatal(got.Err)
		}
		return got
	}
	for _, c := range []struct{ engine, column, value string }{
		{"vllm", "token_budget", "512"},
		{"vllm", "memory_fraction", "0.6"},
		{"vllm", "max_num_seqs", "16"},
		{"sglang", "recv_interval", "50"},
		{"trtllm", "batch_wait_iters", "40"},
		{"vllm", "kv_cache_dtype", "fp8"},
		{"vllm", "precision", "fp8"},
		{"vllm", "precision", "fp4"},
		{"vllm", "num_prompts", "64"},
		{"vllm", "length_ratio_low", "1"},
	} {
		more := []string{c.column, c.value}
		if c.column == "batch_wait_iters" {
			more = append(more, "batch_wait_ratio", "0.9")
		}
		a, b := predict(c.engine), predict(c.engine, more...)
		if a.TTFT == b.TTFT && a.TPOT == b.TPOT && a.KVTokens == b.KVTokens {
			t.Errorf("%s of %s changes nothing", c.column, c.engine)
		}
	}
	if a, b := predict("vllm"), predict("vllm", "kv_cache_dtype", "bfloat16"); a.KVTokens != b.KVTokens {
		t.Errorf("a cache in the model's own format: %d and %d tokens", a.KVTokens, b.KVTokens)
	}
}

// TestFormats: what a precision says of a model's parts.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, precision, kv, products, experts, cache string }{
		{"Qwen/Qwen3-32B", "", "", "bf16", "", "bf16"},
		{"Qwen/Qwen3-32B", "fp8", "", "fp8", "", "fp8"},
		{"Qwen/Qwen3-32B", "fp8", "bf16", "fp8", "", "bf16"},
		{"Qwen/Qwen3-32B", "fp4", "", "nvfp4 w4a16", "", "fp8"},
		{"Qwen/Qwen3-30B-A3B", "fp8", "", "fp8 block", "fp8 block", "fp8"},
		{"Qwen/Qwen3-30B-A3B", "fp4", "", "bf16", "nvfp4 w4a16", "fp8"},
		{"Qwen/Qwen3-30B-A3B", "int4", "", "bf16", "w4a16 int4", "bf16"},
		{"Qwen/Qwen3-30B-A3B", "int4", "fp8", "bf16", "w4a16 int4", "fp8"},
		{"openai/gpt-oss-120b", "fp8", "", "bf16", "mxfp4 w4a16", "bf16"},
		{"openai/gpt-oss-120b", "fp4", "fp8", "bf16", "mxfp4 w4a16", "fp8"},
		{"Qwen/Qwen3-30B-A3B-FP8", "fp8", "", "fp8 block", "fp8 block", "bf16"},
	} {
		row := measuredtest.One(t, measuredtest.Needed("model_path", c.model, "precision", c.precision, "kv_cache_dtype", c.kv))
		s := measuredtest.Predictor().Prepare(&row).Subject
		if s.Products != c.products || s.Experts != c.experts || s.KV != c.cache {
			t.Errorf("%+v: got %q, %q, %q", c, s.Products, s.Experts, s.KV)
		}
	}
}
