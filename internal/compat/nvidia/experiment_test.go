package nvidia_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// TestFiles: the guide's files, rewritten, and files of the new generation mean what
// the golden files say, and say it again when written and read.
func TestFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		es, notes, err := nvidia.Read(data, filepath.Base(file))
		if err != nil {
			t.Error(err)
			continue
		}
		var out bytes.Buffer
		for _, e := range es {
			out.Write(nvidia.Write(e))
			roundTrip(t, e)
		}
		for _, n := range notes {
			fmt.Fprintf(&out, "# %s\n", n)
		}
		golden.Check(t, strings.TrimSuffix(file, ".yaml")+".golden", out.Bytes())
	}
}

// failer is a test, or one draw of a property.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// roundTrip checks that an experiment is read as it was written.
func roundTrip(t failer, e experiment.Experiment) {
	t.Helper()
	text := nvidia.Write(e)
	again, _, err := nvidia.Read(text, "written.yaml")
	if err != nil || len(again) != 1 {
		t.Errorf("%s\n%d experiments, %v", text, len(again), err)
		return
	}
	if d := cmp.Diff(e, again[0]); d != "" {
		t.Errorf("%s\n(-written +read):\n%s", text, d)
	}
}

// TestRoundTrip: any experiment is read as it was written.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { roundTrip(t, experiments().Draw(t, "experiment")) })
}

// experiments draws experiments that files can ask for.
func experiments() *rapid.Generator[experiment.Experiment] {
	return rapid.Custom(func(t *rapid.T) experiment.Experiment {
		pick := func(name string, among ...string) string { return rapid.SampledFrom(among).Draw(t, name) }
		size := func(name string, low int) int { return rapid.IntRange(low, 4096).Draw(t, name) }
		e := experiment.Experiment{
			Name:   rapid.StringMatching(`[a-zA-Z0-9_=: "'-][a-zA-Z0-9._=: "'#{}\[\]-]{0,20}`).Filter(func(s string) bool { return s != "exps" }).Draw(t, "name"),
			Mode:   experiment.Aggregated,
			Model:  pick("model", "QWEN3_32B", "DEEPSEEK_V3", "GPT_OSS_20B", "Qwen/Qwen3-32B-FP8", "./mine", "123", "null", "~"),
			System: pick("system", "h200_sxm", "gb200", "a100_sxm"),
			Engine: deployment.Engine{Name: pick("engine", "trtllm", "vllm", "sglang"), Version: pick("version", "", "1.0.0")},
			Input:  size("isl", 1), Output: size("osl", 1), Devices: size("gpus", 2),
			Statistic:  workload.Statistic{Percentile: rapid.Float64Range(0, 100).Draw(t, "percentile")},
			Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
		}
		e.Prefix = rapid.IntRange(0, e.Input-1).Draw(t, "prefix")
		if rapid.Bool().Draw(t, "set") {
			e.Engine.Settings = []string{"token_budget=4096", "memory_share=0.5"}
		}
		limit := func(name string) units.Seconds {
			return units.Seconds(rapid.SampledFrom([]float64{0, 1, 7.3, 1000, rapid.Float64Range(1e-6, 1e6).Draw(t, name)}).Draw(t, name) / 1e3)
		}
		e.Limits = workload.Limits{TTFT: limit("ttft"), TPOT: limit("tpot"), Latency: limit("latency")}
		if e.MTP = rapid.IntRange(0, 3).Draw(t, "nextn"); e.MTP > 0 {
			e.AcceptanceRates = rapid.SliceOfN(rapid.Float64Range(0, 1), e.MTP, e.MTP).Draw(t, "rates")
		}
		kv := pick("kv", "", "bf16", "fp8", "int8")
		e.Workers = workers(t, kv)
		if rapid.Bool().Draw(t, "disagg") {
			e.Mode, e.Decode = experiment.Disaggregated, workers(t, kv)
			if other := pick("decode system", "", "b200_sxm"); other != e.System {
				e.DecodeSystem = other
			}
			e.Replica = experiment.ReplicaSpace{
				Devices: rapid.SampledFrom([][]int{nil, {2}, {1, 8, 512}}).Draw(t, "replicas"), MaxDevices: size("largest", 0),
				MaxPrefill: size("most prefill", 0), MaxDecode: size("most decode", 0),
			}
		}
		return e
	})
}

func workers(t *rapid.T, kv string) experiment.WorkerSpace {
	list := func(name string) []int {
		return rapid.SampledFrom([][]int{nil, {1}, {1, 2, 4}, {8, 3}}).Draw(t, name)
	}
	word := rapid.SampledFrom(append([]string{""}, dtype.WeightFormats()...))
	return experiment.WorkerSpace{
		Formats:  deployment.Formats{GEMM: word.Draw(t, "gemm"), MoE: word.Draw(t, "moe"), KV: kv},
		Sizes:    search.Sizes{Devices: list("num_gpu"), TP: list("tp"), PP: list("pp"), DP: list("dp"), MoETP: list("moe_tp"), EP: list("moe_ep")},
		MaxBatch: rapid.IntRange(0, 512).Draw(t, "batch"), Scale: rapid.Float64Range(0, 2).Draw(t, "scale"),
	}
}

// base is an experiment without mistakes that tests add to.
const base = "a:\n  serving_mode: agg\n  model_path: Qwen/Qwen3-32B\n  system_name: h200_sxm\n  total_gpus: 8\n"

// both is one of prefill and decode.
const both = "a:\n  serving_mode: disagg\n  model_name: QWEN3_32B\n  system_name: h200_sxm\n  total_gpus: 8\n"

// TestMistakes: each mistake is reported with its line, the experiment, the key and what is
// allowed.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "f:1: the file is empty"},
		{"- a\n", "f:1: must be a mapping of keys to values, got a list"},
		{"{}\n", "f:1: the file has no experiment"},
		{"exps: []\n" + base, "f:1: exps: must have at least one element"},
		{"exps: a\n" + base, "f:1: exps: must be a list, got the text a"},
		{"exps: [exp_aggregate]\nexp_aggregated: {}\n", "f:1: exps: exp_aggregate has no block in this file; nearest: exp_aggregated"},
		{"exps: [a, a]\n" + base, "f:1: exps: a appears twice"},
		{"exps: [[a]]\n" + base, "f:1: exps: must name experiments, got a list"},
		{"a: 3\n", "f:1: a: must be a mapping of keys to values, got 3\nf:1: a: serving_mode is missing\nf:1: a: model_path is missing\n" +
			"f:1: a: system_name is missing\nf:1: a: total_gpus is missing"},
		{strings.Replace(base, "a:", "../a:", 1), "f:1: experiment ../a: a name becomes that of a directory: up to 100 characters, none of them / or \\, and no . in front"},
		{base + "  totl_gpus: 3\n", "f:6: a.totl_gpus: unknown key; nearest: total_gpus"},
		{base + "  total_gpus: 3\n", "f:6: a.total_gpus: given twice, first on line 5"},
		{base + "  model_name: x\n", "f:6: a.model_name: says the same as a.model_path on line 3"},
		{base + "  config: {model_name: x}\n", "f:6: a.config.model_name: is x here and Qwen/Qwen3-32B on line 3"},
		{base + "  config: {worker_config: {tp_lists: [1]}}\n", "f:6: a.config.worker_config.tp_lists: unknown key; nearest: tp_list"},
		{base + "  config: {worker_confg: {}}\n", "f:6: a.config.worker_confg: unknown key; nearest: worker_config"},
		{base + "  config: [1]\n", "f:6: a.config: must be a mapping of keys to values, got a list"},
		{base + "  worker_config: {tp_list: [1]}\n  agg_tp_candidates: [1]\n", "f:7: a.agg_tp_candidates: says the same as a.worker_config.tp_list on line 6"},
		{base + "  isl: many\n  osl: 0\n", "f:6: a.isl: must be a whole number between 1 and 1000000000, got the text many\n" +
			"f:7: a.osl: must be a whole number between 1 and 1000000000, got 0"},
		{base + "  isl: 100\n  prefix: 100\n", "f:7: a.prefix: must be less than isl 100, got 100"},
		{base + "  ttft: -1\n", "f:6: a.ttft: must be a positive number of milliseconds, or .inf for no limit, got -1"},
		{base + "  tpot: fast\n", "f:6: a.tpot: must be a number, got the text fast"},
		{base + "  mode: patsh\n", "f:6: a.mode: must be one of patch, replace, got patsh; nearest: patch"},
		{base + "  profiles: [fp8_defalt]\n", "f:6: a.profiles: must be among bfloat16, bfloat16_default, float16, float16_default, fp8, fp8_default, fp8_static, " +
			"mxfp4, nvfp4, nvfp4_default, got the text fp8_defalt; nearest: fp8_default"},
		{base + "  kvcache_quant_mode: fp9\n", "f:6: a.kvcache_quant_mode: must be one of bfloat16, float16, bf16, fp16, half, fp8, int8, checkpoint, got fp9; nearest: fp8"},
		{base + "  agg_tp_candidates: [1, two]\n", "f:6: a.agg_tp_candidates: must be a whole number between 1 and 1000000, got the text two"},
		{base + "  agg_tp_candidates: []\n", "f:6: a.agg_tp_candidates: must have at least one element"},
		{base + "  agg_tp_candidates: 4\n", "f:6: a.agg_tp_candidates: must be a list, got 4"},
		{base + "  percentile: pp\n", "f:6: a.percentile: must be a number, got the text p"},
		{base + "  percentile: 101\n", "f:6: a.percentile: must be above 0 and up to 100, got 101"},
		{base + "  confidence: .nan\n", "f:6: a.confidence: must be above 0 and up to 1, got .nan"},
		{base + "  enable_wide_ep: yep\n", "f:6: a.enable_wide_ep: must be true or false, got the text yep"},
		{base + "  nextn: 1\n", "f:6: a.nextn: 1 needs nextn_accepted, the mean number of draft tokens accepted per step"},
		{base + "  nextn: 1\n  nextn_accepted: 2\n", "f:7: a.nextn_accepted: must be between 0 and nextn 1, got 2"},
		{base + "  nextn: 1\n  nextn_accepted: 1\n  nextn_accept_rates: [1]\n", "f:7: a.nextn_accepted: conflicts with the acceptance rates: give one of them"},
		{base + "  nextn: 2\n  nextn_accept_rates: [0.5]\n", "f:7: a.nextn_accept_rates: nextn 2 needs as many acceptance rates, got 1"},
		{base + "  nextn: 1\n  nextn_accept_rates: [1.5]\n", "f:7: a.nextn_accept_rates: must be between 0 and 1, got 1.5"},
		{base + "  image_height: 512\n", "f:6: a.image_height: must be 0: images are not modelled in experiments"},
		{base + "  free_gpu_memory_fraction: 1.5\n", "f:6: a.free_gpu_memory_fraction: must be above 0 and up to 1, got 1.5"},
		{base + "  engine_settings: [token_bugdet=1]\n", "f:6: a.engine_settings: engine setting \"token_bugdet=1\": unknown key; nearest: token_budget"},
		{base + "  engine_settings: [token_budget]\n", "f:6: a.engine_settings: must be a list of KEY=VALUE, got the text token_budget"},
		{base + "  backend_name: vlm\n", "f:6: a.backend_name: unknown engine \"vlm\"; nearest: vllm (engines: vllm, sglang, trtllm, mindie, vllm-ascend, sglang-npu, atom, atom-vllm, atom-sglang, generic)"},
		{base + "  backend_name: vllm\n  backend_version: 0.1\n", "f:7: a.backend_version: engine vllm: version 0.1 is too old; the oldest supported version is 0.8"},
		{strings.Replace(base, "h200_sxm", "h200_smx", 1), "f:4: a.system_name: unknown device \"h200_smx\"; nearest: h200_sxm"},
		{strings.Replace(base, "agg", "afd", 1), "f:2: a.serving_mode: must be one of agg, disagg, got afd"},
		{strings.Replace(both, "gpus: 8", "gpus: 1", 1), "f:5: a.total_gpus: must be at least 2 for disagg, got 1"},
		{both + "  num_gpu_per_replica: [16]\n", "f:6: a.num_gpu_per_replica: has no size within total_gpus 8, got [16]"},
		{both + "  prefill_backend_name: vllm\n  decode_backend_name: sglang\n", "f:7: a.decode_backend_name: prefill and decode workers must have the same backend_name, got vllm and sglang"},
		{both + "  prefill_kvcache_quant_mode: fp8\n  decode_kvcache_quant_mode: float16\n", "f:7: a.decode_kvcache_quant_mode: prefill and decode workers " +
			"exchange KV caches and need the same format, got fp8 and bf16"},
		{base + "  mode: replace\n  isl: 1\n", "f:6: a.mode: replace takes no defaults; missing: osl, ttft, tpot, nextn, worker_config.dp_list, " +
			"worker_config.moe_ep_list, worker_config.moe_tp_list, worker_config.num_gpu_per_worker, worker_config.pp_list, worker_config.tp_list"},
		{both + "  mode: replace\n", "f:6: a.mode: replace takes no defaults; missing: isl, osl, ttft, tpot, nextn, num_gpu_per_replica, max_gpu_per_replica, " +
			"max_prefill_workers, max_decode_workers, prefill_max_batch_size, decode_max_batch_size, prefill_correction_scale, decode_correction_scale, " +
			"prefill_worker_config.dp_list, prefill_worker_config.moe_ep_list"},
		{"a: {}\nb: {}\n", "f:1: a: serving_mode is missing\nf:1: a: model_path is missing\nf:1: a: system_name is missing\nf:1: a: total_gpus is missing\n" +
			"f:2: b: serving_mode is missing"},
	} {
		es, _, err := nvidia.Read([]byte(c.text), "f")
		switch _, ok := errors.AsType[*strictyaml.Problem](err); {
		case err == nil:
			t.Errorf("%s\nwant %s, got %+v", c.text, c.want, es)
		case !ok || !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%s\nwant %s\ngot  %v", c.text, c.want, err)
		}
	}
}

// read is the one experiment of a file.
func read(t *testing.T, text string) (experiment.Experiment, []string) {
	t.Helper()
	es, notes, err := nvidia.Read([]byte(text), "f")
	if err != nil || len(es) != 1 {
		t.Fatalf("%s\n%d experiments, %v", text, len(es), err)
	}
	return es[0], notes
}

// TestUnnamed: an experiment may stand alone, as the tool saves it; its mode is its name.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	e, _ := read(t, strings.ReplaceAll(strings.TrimPrefix(base, "a:\n"), "  ", ""))
	want, _ := read(t, strings.Replace(base, "a:", "agg:", 1))
	if d := cmp.Diff(want, e); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPercentile: as a number, or as it is said.
func TestPercentile(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"95", "p95", "95.0"} {
		if e, _ := read(t, base+"  percentile: "+word+"\n"); e.Percentile != 95 {
			t.Errorf("%s: got %g", word, e.Percentile)
		}
	}
}

// TestReplicas: which replicas are tried.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want experiment.ReplicaSpace
	}{
		{"", experiment.ReplicaSpace{Devices: []int{1, 2, 4, 8}, MaxDevices: 128}},
		{"  max_gpu_per_replica: 4\n", experiment.ReplicaSpace{Devices: []int{1, 2, 4}, MaxDevices: 4}},
		{"  max_gpu_per_replica: 0\n", experiment.ReplicaSpace{}},
		{"  num_gpu_per_replica: [8, 4]\n", experiment.ReplicaSpace{Devices: []int{8, 4}, MaxDevices: 128}},
		{"  num_gpu_per_replica:\n", experiment.ReplicaSpace{MaxDevices: 128}},
		{"  config: {replica_config: {max_gpu_per_replica: 0, max_decode_worker: 3}}\n", experiment.ReplicaSpace{MaxDecode: 3}},
		{"  enable_wide_ep: true\n", experiment.ReplicaSpace{MaxDevices: 512}},
		{
			"  replica_config: {max_gpu_per_replica: 8}\n  config: {replica_config: {max_gpu_per_replica: 4, num_gpu_per_replica: [4]}}\n",
			experiment.ReplicaSpace{Devices: []int{4}, MaxDevices: 4},
		},
	} {
		e, _ := read(t, both+c.text)
		if d := cmp.Diff(c.want, e.Replica); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, d)
		}
	}
	e, _ := read(t, strings.Replace(both, "gpus: 8", "gpus: 20", 1))
	if d := cmp.Diff([]int{1, 2, 4, 8, 16, 20}, e.Replica.Devices); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPrecision: what names and words mean on which device.
func TestPrecision(t *testing.T) {
	t.Parallel()
	form := func(gemm, moe, kv string) deployment.Formats { return deployment.Formats{GEMM: gemm, MoE: moe, KV: kv} }
	for _, c := range []struct {
		model, system, more string
		want                deployment.Formats
		note                string
	}{
		{"QWEN3_32B", "h200_sxm", "", form("fp8_block", "fp8_block", "fp8"), "QWEN3_32B on h200_sxm means weights in fp8_block, KV cache in fp8"},
		{"QWEN3_32B", "gb200_sxm", "", form("nvfp4", "nvfp4", "fp8"), "on gb200 means weights in nvfp4"},
		{"QWEN3_32B", "a100_sxm", "", form("bf16", "bf16", "bf16"), "weights in bf16"},
		{"QWEN3_32B", "l40s", "", form("fp8_block", "fp8_block", "fp8"), ""},
		{"QWEN3_32B", "mi300x", "", form("fp8_block", "fp8_block", "fp8"), ""},
		{"LLAMA3.1_70B", "h100_sxm", "", form("fp8", "fp8", "fp8"), ""},
		{"QWEN2.5_72B", "h100_sxm", "", form("fp8", "fp8", "fp8"), ""},
		{"MOE_Mixtral8x7B", "h200_sxm", "", form("fp8", "fp8", "fp8"), ""},
		{"LLAMA3.1_70B", "b200_sxm", "", form("nvfp4", "nvfp4", "fp8"), ""},
		{"DEEPSEEK_V3", "h200_sxm", "", form("fp8_block", "fp8_block", "fp8"), "drafts 1 token per step"},
		{"GPT_OSS_20B", "h200_sxm", "", form("", "", ""), ""},
		{"QWEN3_32B", "h200_sxm", "  profiles: [float16_default, fp8]\n", form("fp8", "fp8", "fp8"), ""},
		{"QWEN3_32B", "h200_sxm", "  profiles: [float16_default]\n  use_specific_quant_mode: w4afp8\n", form("bf16", "w4afp8", "bf16"), ""},
		{"QWEN3_32B", "h200_sxm", "  use_specific_quant_mode: fp8\n", form("fp8", "fp8", "fp8"), ""},
		{"QWEN3_32B", "h200_sxm", "  profiles: [nvfp4]\n  config: {worker_config: {gemm_quant_mode: float16}}\n", form("bf16", "nvfp4", "fp8"), ""},
		{"QWEN3_32B", "h200_sxm", "  gemm_quant_mode: checkpoint\n  moe_quant_mode: int4\n  kvcache_quant_mode: int8\n", form("", "int4_wo", "int8"), ""},
		{"Qwen/Qwen3-32B", "h200_sxm", "", form("", "", ""), ""},
		{"Qwen/Qwen3-32B-FP8", "h200_sxm", "", form("", "", ""), "keeps its KV cache in bf16, as engines do; AIConfigurator assumes fp8"},
		{"Qwen/Qwen3-32B-FP8", "h200_sxm", "  kvcache_quant_mode: fp8\n", form("", "", "fp8"), ""},
		{"nvidia/DeepSeek-V3.1-NVFP4", "b200_sxm", "", form("", "", ""), ""},
		{"openai/gpt-oss-20b", "h200_sxm", "", form("", "", ""), ""},
		{"./mine", "h200_sxm", "  moe_quant_mode: nvfp4\n", form("", "nvfp4", ""), ""},
	} {
		text := strings.NewReplacer("Qwen/Qwen3-32B", c.model, "h200_sxm", c.system).Replace(base) + c.more
		e, notes := read(t, text)
		if d := cmp.Diff(c.want, e.Workers.Formats); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
		if all := strings.Join(notes, "\n"); !strings.Contains(all, c.note) || c.note == "" && strings.Contains(all, "keeps its KV cache") {
			t.Errorf("%s: want a note %q, got %q", text, c.note, notes)
		}
	}
}

// TestCachesOfPairs: prefill and decode have one format of the cache.
func TestCachesOfPairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ more, want string }{
		{"", "fp8"},
		{"  decode_system_name: a100_sxm\n", "bf16"},
		{"  prefill_kvcache_quant_mode: int8\n", "int8"},
		{"  decode_kvcache_quant_mode: float16\n", "bf16"},
	} {
		e, _ := read(t, both+c.more)
		if e.Workers.Formats.KV != c.want || e.Decode.Formats.KV != c.want {
			t.Errorf("%s: want %s, got %s and %s", c.more, c.want, e.Workers.Formats.KV, e.Decode.Formats.KV)
		}
	}
}

// TestLimits: limits by generation, and whole requests instead.
func TestLimits(t *testing.T) {
	t.Parallel()
	limits := func(ttft, tpot, latency float64) workload.Limits {
		return workload.Limits{TTFT: units.Seconds(ttft / 1e3), TPOT: units.Seconds(tpot / 1e3), Latency: units.Seconds(latency / 1e3)}
	}
	for _, c := range []struct {
		text string
		want workload.Limits
	}{
		{base, limits(1000, 50, 0)},
		{base + "  mode: patch\n", limits(1000, 40, 0)},
		{both, limits(1000, 40, 0)},
		{strings.Replace(base, "Qwen/Qwen3-32B", "QWEN3_32B", 1), limits(1000, 40, 0)},
		{base + "  ttft: .inf\n", limits(0, 50, 0)},
		{base + "  request_latency: 5000\n", limits(0, 0, 5000)},
		{base + "  request_latency: 5000\n  tpot: 20\n", limits(0, 20, 5000)},
		{both + "  ttft: 300\n  config: {runtime_config: {ttft: 200}}\n", limits(200, 40, 0)},
	} {
		if e, _ := read(t, c.text); e.Limits != c.want {
			t.Errorf("%s: want %+v, got %+v", c.text, c.want, e.Limits)
		}
	}
	want := []nvidia.Values{{4000, 1000, 1000, 20}, {4000, 1000, 1000, 40}, {4000, 1000, 2000, 30}, {4000, 1000, 1000, 50}}
	got := []nvidia.Values{
		nvidia.Defaults(nvidia.Old, false), nvidia.Defaults(nvidia.Old, true),
		nvidia.Defaults(nvidia.New, false), nvidia.Defaults(nvidia.New, true),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestNotes: what has no effect is noted once, and not where it is the tool's default.
func TestNotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{base, nil},
		{base + "  database_mode: SILICON\n  comm_quant_mode: half\n  transfer_policy:\n  afd_max_af_ratio: 4\n  prefill_latency_correction: 1.10\n  decode_tp_candidates: null\n", nil},
		{
			base + "  database_mode: SOL\n  fmha_quant_mode: fp8\n  max_decode_worker: 3\n  agg_cp_candidates: [1, 2]\n  worker_config: {comm_quant_mode: fp8}\n",
			[]string{"a: accepted without effect: worker_config.comm_quant_mode, agg_cp_candidates, database_mode, fmha_quant_mode, max_decode_worker"},
		},
		{
			both + "  profiles: []\n  decode_system_name: a100_sxm\n  prefill_gemm_quant_mode: fp8\n  prefill_moe_quant_mode: fp8\n",
			[]string{
				"QWEN3_32B on h200_sxm means weights in fp8_block, KV cache in fp8, as AIConfigurator chose them",
				"a: the KV cache is in bf16 for both roles, since a100_sxm has no arithmetic in fp8",
				"QWEN3_32B on a100_sxm means weights in bf16, KV cache in bf16, as AIConfigurator chose them",
			},
		},
		{base + "  enable_wide_ep: true\n", []string{"a: Qwen/Qwen3-32B has no experts: wide expert parallelism has no effect"}},
		{base + "  ttft: 5\n  request_latency: 50\n", []string{"a: request_latency applies in addition to ttft and tpot; omit those to use it alone"}},
		{
			both + "  profiles: [fp8]\n  decode_latency_correction_scale: 2\n",
			[]string{"a: decode_latency_correction 2 is applied as a factor 0.5 on throughput; predicted latencies do not change"},
		},
	} {
		_, notes := read(t, c.text)
		if d := cmp.Diff(c.want, notes); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, d)
		}
	}
}

// TestDrafts: rates of the tool hold if the tokens before were kept; ours do not.
func TestDrafts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		more string
		n    int
		want []float64
	}{
		{"", 1, []float64{0.85}},
		{"  config: {nextn: 0}\n", 0, nil},
		{"  config: {nextn: 2, nextn_accept_rates: [0.5, 0.5, 0, 0, 0]}\n", 2, []float64{0.5, 0.25}},
		{"  nextn: 2\n", 2, []float64{0.85, 0}},
		{"  nextn: 2\n  nextn_accepted: 1.5\n", 2, []float64{0.75, 0.75}},
		{"  nextn: 1\n  nextn_accepted: 0\n", 1, []float64{0}},
	} {
		e, _ := read(t, strings.Replace(both, "QWEN3_32B", "DEEPSEEK_V3", 1)+c.more)
		if d := cmp.Diff(c.want, e.AcceptanceRates); e.MTP != c.n || d != "" {
			t.Errorf("%s: %d (-want +got):\n%s", c.more, e.MTP, d)
		}
	}
	if e, _ := read(t, strings.Replace(both, "QWEN3_32B", "KIMI_K2", 1)); e.MTP != 0 {
		t.Errorf("KIMI_K2 drafts %d tokens without modules for it", e.MTP)
	}
}

// TestOldNames: every name of the old generation is understood.
func TestOldNames(t *testing.T) {
	t.Parallel()
	names := 0
	for _, entry := range model.IDs() {
		if model.NamedBy(entry.ID) == "" {
			continue
		}
		names++
		e, _ := read(t, strings.Replace(both, "QWEN3_32B", entry.ID, 1))
		if own := strings.HasPrefix(entry.ID, "GPT_OSS"); own != (e.Workers.Formats == deployment.Formats{}) {
			t.Errorf("%s: %+v", entry.ID, e.Workers.Formats)
		}
	}
	if names != 24 {
		t.Errorf("%d names", names)
	}
}

// FuzzRead: no file makes reading fail otherwise than with problems, and what is read is
// read again as it was written.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(base + "  nextn: 1\n  nextn_accepted: 0.3\n"))
	f.Add([]byte(both + "  config: {replica_config: {num_gpu_per_replica: }}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		es, _, err := nvidia.Read(data, "f")
		if err != nil {
			if _, ok := errors.AsType[*strictyaml.Problem](err); !ok {
				t.Errorf("%v is no problem with a line", err)
			}
			return
		}
		for _, e := range es {
			roundTrip(t, e)
		}
	})
}

// TestDocument: the example of the document is read.
func TestDocument(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	es, notes, err := nvidia.Read([]byte(text), "experiments.md")
	if err != nil || len(es) != 2 || len(notes) > 0 || es[1].Decode.Scale != 0.92 || es[1].Replica.MaxDevices != 0 {
		t.Errorf("got %+v, %q, %v", es, notes, err)
	}
}
