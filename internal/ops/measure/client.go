package measure

import (
	"math"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// Client is a load generator.
type Client string

// The load generators: vllm bench serve, sglang.bench_serving, trtllm-bench, which runs the engine itself, and AIPerf.
const (
	VLLMBench   Client = "vllm"
	SGLangBench Client = "sglang"
	TRTLLMBench Client = "trtllm"
	AIPerf      Client = "aiperf"
)

// Clients lists them.
func Clients() []Client { return []Client{VLLMBench, SGLangBench, TRTLLMBench, AIPerf} }

// clientOf is the load generator that comes with an engine, "" if none is known to work with it.
func clientOf(engine string) Client {
	switch engine {
	case launch.VLLM:
		return VLLMBench
	case launch.SGLang:
		return SGLangBench
	case launch.TRTLLM:
		return TRTLLMBench
	}
	return ""
}

// result is where the load generator writes, below the folder of the deployment.
func (run *Run) result() string {
	end := ".json"
	if run.Client == SGLangBench {
		end = ".jsonl"
	}
	return run.ID + end
}

// bench is the command line of a run. Prompts are random words, so that none is found in a cache but their common prefix, and
// as many requests as run at a time come first, to warm the server up.
func (run *Run) bench(model, tokenizer string) launch.Command {
	n := strconv.Itoa
	url := launch.Expansion("$URL")
	own := run.Input - run.Prefix
	switch run.Client {
	case VLLMBench:
		// Lengths are uniform around the stated ones, up to this share of them on either side.
		mean := (1 + run.LengthLow) / 2
		out := append(launch.Literals("vllm", "bench", "serve", "--backend", "vllm", "--model", model, "--tokenizer", tokenizer, "--base-url"), url)
		return out.Add("--dataset-name", "random", "--random-input-len", n(tokens(float64(own)*mean)), "--random-output-len", n(tokens(float64(run.Output)*mean)),
			"--random-range-ratio", number((1-run.LengthLow)/(1+run.LengthLow)), "--random-prefix-len", n(run.Prefix), "--ignore-eos",
			"--max-concurrency", n(run.Concurrency), "--num-prompts", n(run.Requests), "--num-warmups", n(run.Concurrency), "--seed", n(run.seed()),
			"--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,95,99",
			"--save-result", "--result-dir", run.Folder, "--result-filename", "c"+n(run.Concurrency)+".json")
	case SGLangBench:
		out := append(launch.Literals("python3", "-m", "sglang.bench_serving", "--backend", "sglang-oai", "--model", model, "--tokenizer", tokenizer, "--base-url"), url)
		if run.Prefix > 0 { // one group of prompts that begin alike
			return out.Add("--dataset-name", "generated-shared-prefix", "--gsp-num-groups", "1", "--gsp-prompts-per-group", n(run.Requests),
				"--gsp-system-prompt-len", n(run.Prefix), "--gsp-question-len", n(own), "--gsp-output-len", n(run.Output),
				"--max-concurrency", n(run.Concurrency), "--num-prompts", n(run.Requests), "--warmup-requests", n(run.Concurrency), "--seed", n(run.seed()), "--output-file", run.result())
		}
		// Its random lengths are from this share of the stated ones to all.
		return out.Add("--dataset-name", "random-ids", "--random-input-len", n(run.Input), "--random-output-len", n(run.Output),
			"--random-range-ratio", number(run.LengthLow), "--max-concurrency", n(run.Concurrency), "--num-prompts", n(run.Requests),
			"--warmup-requests", n(run.Concurrency), "--seed", n(run.seed()), "--output-file", run.result())
	case TRTLLMBench:
		l := &run.Deployment.Pools[0].Layout
		out := launch.Literals("trtllm-bench", "--model", model, "--model_path", tokenizer, "throughput", "--backend", "pytorch", "--dataset", run.ID+".dataset",
			"--num_requests", n(run.Requests), "--concurrency", n(run.Concurrency), "--warmup", n(run.Concurrency), "--streaming",
			"--tp", n(max(1, l.TP)), "--pp", n(max(1, l.PP)), "--ep", n(max(1, l.EP)), "--report_json", run.result())
		return out.Add("--extra_llm_api_options", run.Folder+"/agg_config.yaml")
	case AIPerf:
	}
	out := append(launch.Literals("aiperf", "profile", "--model", model, "--tokenizer", tokenizer, "--url"), url)
	mean, sd := (1+run.LengthLow)/2, (1-run.LengthLow)/math.Sqrt(12) // of uniform lengths
	out = out.Add("--endpoint-type", "completions", "--streaming", "--synthetic-input-tokens-mean", n(tokens(float64(own)*mean)),
		"--synthetic-input-tokens-stddev", n(tokens(float64(own)*sd)), "--output-tokens-mean", n(tokens(float64(run.Output)*mean)),
		"--output-tokens-stddev", n(tokens(float64(run.Output)*sd)), "--extra-inputs", "ignore_eos:true", "--concurrency", n(run.Concurrency),
		"--request-count", n(run.Requests), "--warmup-request-count", n(run.Concurrency), "--random-seed", n(run.seed()),
		"--output-artifact-dir", run.ID)
	if run.Prefix > 0 {
		out = out.Add("--prompt-prefix-length", n(run.Prefix), "--prompt-prefix-pool-size", "1")
	}
	return out
}

func tokens(x float64) int { return max(0, int(math.Round(x))) }

func number(x float64) string { return strconv.FormatFloat(math.Round(1e4*x)/1e4, 'g', -1, 64) }

// seed makes the prompts of a run differ from those of other runs on the same server, which its prefix cache holds.
func (run *Run) seed() int { return 1 + run.Concurrency }
