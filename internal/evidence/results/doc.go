// Package results reads the output of load generators: `vllm bench serve`, SGLang's bench_serving,
// AIPerf and genai-perf, guidellm, trtllm-bench, InferenceX and this program's own simulate.
//
// In: the bytes of a file. Out: the runs in it, each with the times, rates, lengths and load that the file states,
// and zero for the others. It does not know what was predicted. Start at [Read].
package results
