package results_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/results"
)

// The files here are made up after the public documentation and source of each program.
const (
	vllmFile = `{"date":"20260102-030405","backend":"vllm","model_id":"Qwen/Qwen3-32B","num_prompts":40,"request_rate":"inf","max_concurrency":4,
"duration":20.5,"completed":40,"total_input_tokens":40000,"total_output_tokens":8000,"output_throughput":390,"total_token_throughput":2341,
"mean_ttft_ms":120,"median_ttft_ms":100,"p99_ttft_ms":300,"mean_tpot_ms":9.5,"median_tpot_ms":9.4,"p99_tpot_ms":11,"ttfts":[0.3,0.1]}`
	sglangFile = `{"backend":"sglang","dataset_name":"random","request_rate":4.0,"max_concurrency":null,"random_input_len":1024,"duration":10.0,
"completed":40,"total_input_tokens":20000,"total_output_tokens":4000,"output_throughput":400.0,"mean_ttft_ms":80.0,"median_ttft_ms":70.0,"mean_tpot_ms":8.0}
{"backend":"sglang","random_input_len":1024,"request_rate":Infinity,"completed":10,"mean_ttft_ms":90.0}`
	aiperfFile = `{"time_to_first_token":{"unit":"ms","avg":150.5,"p50":140,"p99":300},"inter_token_latency":{"unit":"ms","avg":12.5,"p50":12},
"output_token_throughput":{"unit":"tokens/sec","avg":640},"request_throughput":{"unit":"requests/sec","avg":2.5},"input_sequence_length":{"unit":"tokens","avg":1000},
"output_sequence_length":{"unit":"tokens","avg":256},"request_count":{"unit":"requests","avg":80},"benchmark_duration":{"unit":"sec","avg":32},
"input_config":{"endpoint":{"model_names":["Qwen/Qwen3-8B"]},"loadgen":{"concurrency":8}}}`
	aiperfPhases = `{"schema_version":"1.5","time_to_first_token":{"unit":"ms","avg":150.5,"p50":140,"count":80},"inter_token_latency":{"unit":"ms","avg":12.5,"p50":12},
"output_token_throughput":{"unit":"tokens/sec","avg":640},"request_count":{"unit":"requests","avg":80},
"input_config":{"models":{"strategy":"round_robin","items":[{"name":"Qwen/Qwen3-8B"}]},"endpoint":{"streaming":true},
"phases":[{"name":"warmup","kind":"warmup","type":"concurrency","concurrency":2},{"name":"profiling","kind":"profiling",LOAD}]}}`
	recordsFile = `{"metadata":{"session_num":0,"request_start_ns":1000000000,"request_end_ns":2000000000,"benchmark_phase":"profiling"},"metrics":{"input_sequence_length":{"value":1000,"unit":"tokens"},
"output_sequence_length":{"value":100,"unit":"tokens"},"time_to_first_token":{"value":50,"unit":"ms"},"inter_token_latency":{"value":8,"unit":"ms"}},"error":null}
{"metadata":{"benchmark_phase":"warmup","request_start_ns":1,"request_end_ns":2},"metrics":{"input_sequence_length":{"value":9},"output_sequence_length":{"value":9},"time_to_first_token":{"value":900}},"error":null}
{"metadata":{"benchmark_phase":"profiling","was_cancelled":true},"metrics":{"error_isl":{"value":550,"unit":"tokens"}},"error":{"code":499,"type":"RequestCancellationError"}}
{"metadata":{"request_start_ns":1500000000,"request_end_ns":3000000000,"benchmark_phase":"profiling"},"metrics":{"input_sequence_length":{"value":500},
"output_sequence_length":{"value":1},"time_to_first_token":{"value":30}},"error":null}`
	servedFile = `{"tag":"a NaN \" Infinity","backend":"sglang","dataset_name":"random","request_rate":Infinity,"max_concurrency":8,"random_input_len":1024,"random_range_ratio":1.0,
"server_info":{"model_path":"Qwen/Qwen3-30B-A3B","tp_size":8,"dp_size":4,"ep_size":8,"pp_size":1,"enable_dp_attention":true,"mem_fraction_static":0.84,"max_running_requests":null,
"chunked_prefill_size":1024,"version":"0.5.9"},"completed":40,"total_input_tokens":40960,"total_output_tokens":4000,"output_throughput":400.0,"mean_ttft_ms":80.0,"mean_tpot_ms":NaN,"median_tpot_ms":8.0,"std_tpot_ms":-Infinity}`
	genaiFile = `Metric,avg,min,max,p99,p95,p90,p75,p50,p25
Time To First Token (ms),"1,150.50",90,400,300,280,250,200,140,120
Inter Token Latency (ms),12.50,11,14,13.9,13.5,13,12.8,12,11.9
Output Sequence Length (tokens),256,200,300,299,290,280,270,255,240
Input Sequence Length (tokens),1000,900,1100,1090,1080,1070,1050,1000,990

Metric,Value
Output Token Throughput (per sec),640
Request Throughput (per sec),2.5
`
	trtllmFile = `{"engine":{"model":"openai/gpt-oss-120b","version":"1.2.0","backend":"Pytorch"},"machine":{"name":"NVIDIA H200"},"world_info":{"tp_size":2,"ep_size":-1,"world_size":2,"max_batch_size":64,"max_num_tokens":8192,"kv_cache_percentage":0.9},
"request_info":{"num_requests":128,"avg_num_concurrent_requests":31.7,"avg_input_length":1024.0,"avg_output_length":512.0},
"performance":{"total_latency_ms":9000.0,"request_throughput_req_s":14.2,"system_output_throughput_tok_s":7281.0,"system_total_throughput_tok_s":21843.0},
"streaming_metrics":{"avg_ttft_ms":210.0,"avg_tpot_ms":4.1,"ttft_percentiles":{"p50":190.0,"p99":500.0},"tpot_percentiles":{"p50":4.0}}}`
	inferencexFile = `[{"hw":"h200","tp":8,"conc":16,"model":"deepseek-ai/DeepSeek-R1-0528","framework":"sglang","precision":"fp8","isl":1024,"osl":1024,
"tput_per_gpu":100.5,"output_tput_per_gpu":50.25,"mean_ttft":0.35,"median_ttft":0.3,"mean_tpot":0.0125,"median_tpot":0.0124}]`
	requestsFile = `i,arrival_s,isl,osl,ttft_ms,tpot_ms
0,0.0,1000,100,50,8
1,0.5,500,1,30,0
2,1.0,600,199,40,10
`
	guidellmFile = `{"metadata":{"version":2,"guidellm_version":"0.7.3"},"config":{"backend":{"kind":"openai_http","model":"Qwen/Qwen3-8B"}},"benchmarks":[
{"type_":"generative_benchmark","config":{"strategy":{"type_":"concurrent","streams":16},"backend":{"model":"Qwen/Qwen3-8B"}},"duration":30.5,
"metrics":{"request_totals":{"successful":64,"errored":1,"incomplete":2,"total":67},"request_concurrency":{"successful":{"mean":15.8}},
"prompt_token_count":{"successful":{"mean":1000}},"output_token_count":{"successful":{"mean":256}},
"time_to_first_token_ms":{"successful":{"mean":90,"median":80,"percentiles":{"p50":80,"p99":200}}},
"time_per_output_token_ms":{"successful":{"mean":9}},"inter_token_latency_ms":{"successful":{"mean":8.5,"median":8.4,"percentiles":{"p99":9.9}}},
"output_tokens_per_second":{"successful":{"mean":1700}},"tokens_per_second":{"successful":{"mean":8300}}}},
{"args":{"strategy":{"type_":"constant","rate":2.5}},"metrics":{"request_totals":{"successful":50},"time_to_first_token_ms":{"successful":{"mean":70}}}}]}`
	simulateFile = `{"request":{"concurrency":4},"model":"Qwen/Qwen3-8B","device":"h200_sxm","engine":"vllm","kv_tokens":100000,"finished":40,"duration_s":10,
"ttft_ms":{"mean":50,"p50":45,"p99":90},"tpot_ms":{"mean":6,"p50":6,"p99":7},"requests_per_s":4,"input_tokens_per_s":4000,"output_tokens_per_s":{"value":800,"low":700,"high":900}}`
)

func ms(x float64) units.Seconds { return units.Seconds(x / 1e3) }

// TestRead: every format, field by field.
func TestRead(t *testing.T) {
	t.Parallel()
	want := map[string]results.Run{
		vllmFile: {
			Format: results.VLLM, Model: "Qwen/Qwen3-32B", Engine: "vllm", Requests: 40, Concurrency: 4, Input: 1000, Output: 200,
			TTFT: results.Times{Mean: ms(120), Median: ms(100)}, TPOT: results.Times{Mean: ms(9.5), Median: ms(9.4)},
			OutputRate: 390, TotalRate: 2341, TTFTs: []units.Seconds{0.3, 0.1},
		},
		requestsFile: {
			Format: results.Requests, Requests: 3, Input: 700, Output: 100, TTFT: results.Times{Mean: ms(40)}, TPOT: results.Times{Mean: ms(9)},
			TTFTs: []units.Seconds{ms(50), ms(30), ms(40)}, TPOTs: []units.Seconds{ms(8), ms(10)},
		},
		aiperfFile: {
			Format: results.AIPerf, Model: "Qwen/Qwen3-8B", Requests: 80, Concurrency: 8, Input: 1000, Output: 256,
			TTFT: results.Times{Mean: ms(150.5), Median: ms(140)}, TPOT: results.Times{Mean: ms(12.5), Median: ms(12)},
			OutputRate: 640, TotalRate: 640 + 2500,
		},
		strings.ReplaceAll(aiperfPhases, "LOAD", `"type":"concurrency","concurrency":8`): {
			Format: results.AIPerf, Model: "Qwen/Qwen3-8B", Requests: 80, Concurrency: 8,
			TTFT: results.Times{Mean: ms(150.5), Median: ms(140)}, TPOT: results.Times{Mean: ms(12.5), Median: ms(12)}, OutputRate: 640,
		},
		strings.ReplaceAll(aiperfPhases, "LOAD", `"type":"poisson","rate":2.5,"concurrency":100`): { // a bound
			Format: results.AIPerf, Model: "Qwen/Qwen3-8B", Requests: 80, Rate: 2.5,
			TTFT: results.Times{Mean: ms(150.5), Median: ms(140)}, TPOT: results.Times{Mean: ms(12.5), Median: ms(12)}, OutputRate: 640,
		},
		recordsFile: {
			Format: results.Records, Requests: 2, Failed: 1, Input: 750, Output: 50.5, TTFT: results.Times{Mean: ms(40)}, TPOT: results.Times{Mean: ms(8)},
			TTFTs: []units.Seconds{ms(50), ms(30)}, TPOTs: []units.Seconds{ms(8)}, OutputRate: 50.5, TotalRate: 800.5,
		},
		servedFile: {
			Format: results.SGLang, Model: "Qwen/Qwen3-30B-A3B", Engine: "sglang", Version: "0.5.9", Requests: 40, Concurrency: 8, Input: 1024, Output: 100, LengthLow: 1,
			TTFT: results.Times{Mean: ms(80)}, TPOT: results.Times{Median: ms(8)}, OutputRate: 400, GPUs: 8, TP: 2, DP: 4, EP: 8,
			Settings: []results.Setting{{Key: "token_budget", Value: 4096}, {Key: "memory_share", Value: 0.84}},
		},
		strings.ReplaceAll(strings.ReplaceAll(trtllmFile, `"kv_cache_percentage":0.9`, `"kv_cache_percentage":90.0`), `"ep_size":-1`, `"ep_size":2`): {
			Format: results.TRTLLM, Model: "openai/gpt-oss-120b", Engine: "trtllm", Version: "1.2.0", System: "NVIDIA H200", Requests: 128, Concurrency: 32, Input: 1024, Output: 512,
			TTFT: results.Times{Mean: ms(210), Median: ms(190)}, TPOT: results.Times{Mean: ms(4.1), Median: ms(4)},
			OutputRate: 7281, TotalRate: 21843, GPUs: 2, TP: 2, DP: 1, EP: 2,
			Settings: []results.Setting{{Key: "max_sequences", Value: 64}, {Key: "token_budget", Value: 8192}, {Key: "memory_share", Value: 0.9}},
		},
		genaiFile: {
			Format: results.AIPerf, Input: 1000, Output: 256,
			TTFT: results.Times{Mean: ms(1150.5), Median: ms(140)}, TPOT: results.Times{Mean: ms(12.5), Median: ms(12)},
			OutputRate: 640, TotalRate: 640 + 2500,
		},
		trtllmFile: {
			Format: results.TRTLLM, Model: "openai/gpt-oss-120b", Engine: "trtllm", Version: "1.2.0", System: "NVIDIA H200", Requests: 128, Concurrency: 32, Input: 1024, Output: 512,
			TTFT: results.Times{Mean: ms(210), Median: ms(190)}, TPOT: results.Times{Mean: ms(4.1), Median: ms(4)},
			OutputRate: 7281, TotalRate: 21843, GPUs: 2, TP: 2, DP: 1, EP: 1,
			Settings: []results.Setting{{Key: "max_sequences", Value: 64}, {Key: "token_budget", Value: 8192}, {Key: "memory_share", Value: 0.9}},
		},
		inferencexFile: {
			Format: results.InferenceX, Model: "deepseek-ai/DeepSeek-R1-0528", Engine: "sglang", System: "h200", Concurrency: 16, Input: 921.6, Output: 921.6, LengthLow: 0.8,
			TTFT: results.Times{Mean: ms(350), Median: ms(300)}, TPOT: results.Times{Mean: ms(12.5), Median: ms(12.4)}, OutputRate: 402, TotalRate: 804, GPUs: 8, TP: 8, DP: 1,
		},
		simulateFile: {
			Format: results.Simulate, Model: "Qwen/Qwen3-8B", Engine: "vllm", System: "h200_sxm", Requests: 40, Concurrency: 4, Input: 1000, Output: 200,
			TTFT: results.Times{Mean: ms(50), Median: ms(45)}, TPOT: results.Times{Mean: ms(6), Median: ms(6)}, OutputRate: 800, TotalRate: 4800,
		},
	}
	nearly := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a+b) })
	seconds := cmp.Comparer(func(a, b units.Seconds) bool { return math.Abs(float64(a-b)) <= 1e-9 })
	empty := cmp.Transformer("empty", func(s []units.Seconds) []float64 {
		out := []float64{}
		for _, x := range s {
			out = append(out, float64(x))
		}
		return out
	})
	for file, run := range want {
		got, err := results.Read([]byte(file), "r")
		if err != nil {
			t.Error(err)
			continue
		}
		if d := cmp.Diff([]results.Run{run}, got, nearly, seconds, empty); d != "" {
			t.Errorf("%s (-want +got):\n%s", run.Format, d)
		}
	}
}

// TestLines: SGLang appends a line for every run; a rate is an open loop.
func TestLines(t *testing.T) {
	t.Parallel()
	got, err := results.Read([]byte(sglangFile), "r.jsonl")
	if err != nil || len(got) != 2 || got[0].Format != results.SGLang || got[0].Rate != 4 || got[0].Concurrency != 0 || got[0].Input != 500 ||
		got[1].Concurrency != 10 || got[1].TTFT.Mean != ms(90) {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestRefuses: what is no result is refused with what is accepted.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                                     "r: the file is empty",
		"hello":                                "r: not the result of a known load generator",
		"{":                                    "r: not JSON: unexpected EOF",
		`{"metadata":{"a":1},"error":{"b":1}}`: "r: none of 1 request succeeded",
		`{"metadata":{"a":1},"metrics":{"request_latency":{"value":1}}}`: "r: none of 1 request has a time to first token: run with streaming",
		"[]":                                   "r: not the result of a known load generator",
		"[1]":                                  "r: not the result of a known load generator",
		`{"a":1}`:                              "r: not the result of a known load generator",
		`{"mean_ttft_ms":-1}`:                  "r: mean_ttft_ms must not be negative, got -1",
		`{"completed":2,"mean_ttft_ms":0}`:     "r: a result of vllm bench serve without TTFT, TPOT or throughput",
		`{"completed":1e300,"mean_ttft_ms":1}`: "r: completed must be at most 1e+15, got 1e+300",
		"Metric,avg\nTime To First Token (ms),-3\n": "r: Time To First Token (ms) must not be negative, got -3",
		"a,b\n1,2\n": "r: not the result of a known load generator",
	} {
		_, err := results.Read([]byte(file), "r")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", file, want, err)
		}
	}
	_, err := results.Read([]byte("{}"), "r")
	if unknown := (*results.UnknownError)(nil); !errors.As(err, &unknown) || !strings.HasPrefix(unknown.Hint(), "accepted are the JSON of vllm bench serve") {
		t.Errorf("got %v", err)
	}
}

// FuzzRead: no file makes it fail but by an error, and what is read is finite.
func FuzzRead(f *testing.F) {
	for _, file := range []string{vllmFile, sglangFile, aiperfFile, genaiFile, trtllmFile, inferencexFile, guidellmFile, requestsFile, simulateFile, recordsFile, servedFile, aiperfPhases, `{"records":{"time_to_first_token":{"avg":1}}}`} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := results.Read(data, "fuzz")
		if err != nil {
			return
		}
		for _, r := range runs {
			for _, x := range []float64{float64(r.TTFT.Mean), float64(r.TPOT.Mean), r.Input, r.Output, r.OutputRate, r.TotalRate, r.Rate} {
				if !(x >= 0) || math.IsInf(x, 0) {
					t.Fatalf("%g in %+v", x, r)
				}
			}
		}
	})
}

// TestServing: requests that failed, and lengths that are drawn, are known where a client says so.
func TestServing(t *testing.T) {
	t.Parallel()
	got, err := results.Parse([]byte(`{"backend":"sglang","dataset_name":"random","random_input_len":1024,"random_range_ratio":0.5,"max_concurrency":4,"completed":9,"num_prompts":10,"mean_ttft_ms":90}
{"backend":"sglang","dataset_name":"random","random_input_len":1024,"random_range_ratio":0,"max_concurrency":4,"completed":9,"mean_ttft_ms":90}
{"backend":"vllm","max_concurrency":4,"completed":9,"failed":2,"mean_ttft_ms":90}`))
	if err != nil || len(got) != 3 {
		t.Fatal(err, len(got))
	}
	if got[0].LengthLow != 0.5 || got[0].Failed != 1 || !(got[1].LengthLow > 0 && got[1].LengthLow < 0.01) || got[1].Failed != 0 || got[2].Failed != 2 {
		t.Errorf("%+v", got)
	}
}

// TestGuideLLM: a report has a run for each benchmark.
func TestGuideLLM(t *testing.T) {
	t.Parallel()
	got, err := results.Parse([]byte(guidellmFile))
	if err != nil {
		t.Fatal(err)
	}
	want := []results.Run{
		{
			Format: results.GuideLLM, Model: "Qwen/Qwen3-8B", Requests: 64, Failed: 1, Concurrency: 16, Input: 1000, Output: 256,
			TTFT: results.Times{Mean: ms(90), Median: ms(80)}, TPOT: results.Times{Mean: ms(8.5), Median: ms(8.4)}, OutputRate: 1700, TotalRate: 8300,
		},
		{Format: results.GuideLLM, Model: "Qwen/Qwen3-8B", Requests: 50, Rate: 2.5, TTFT: results.Times{Mean: ms(70)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{`{"benchmarks":[]}`, `{"benchmarks":[1]}`, `{"benchmarks":[{"metrics":{}}]}`, `{"benchmarks":[{"metrics":{"time_to_first_token_ms":{"successful":{"mean":-1}}}}]}`} {
		if _, err := results.Parse([]byte(wrong)); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
}
