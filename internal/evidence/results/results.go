package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Run is one run of a load generator.
type Run struct {
	Format Format
	Model  string
	Engine string
	// Version is the release of the engine.
	Version string
	// System is the hardware in the file's words.
	System string
	// Requests were completed, Concurrency at most in flight, Rate offered per second;
	// zero is unknown or without a limit.
	Requests    int
	Concurrency int
	Rate        float64
	// Failed requests are not among those completed.
	Failed int
	// Input and Output are the mean tokens of a request; lengths are uniform from LengthLow
	// of the longest to it, zero is unknown.
	Input, Output, LengthLow float64
	TTFT, TPOT               Times
	// OutputRate is generated tokens per second, TotalRate with those of prompts.
	OutputRate, TotalRate float64
	// GPUs are the devices of the deployment; TP, DP and EP are how those of its only
	// worker share the model.
	GPUs, TP, DP, EP int
	// TTFTs are those of all requests, in the order they were sent.
	TTFTs []units.Seconds
	// TPOTs are those of all requests with more than one token, if the file has one line per request.
	TPOTs []units.Seconds
	// Settings are the engine settings the file states, by the names of this program.
	Settings []Setting
}

// Setting is an engine setting and its value.
type Setting struct {
	Key   string
	Value float64
}

// Times is how a time is distributed; zero is unknown.
type Times struct{ Mean, Median units.Seconds }

// Format is the program that wrote a file.
type Format string

// The formats.
const (
	VLLM       Format = "vllm bench serve"
	SGLang     Format = "SGLang bench_serving"
	AIPerf     Format = "AIPerf or genai-perf"
	Records    Format = "AIPerf per-request"
	TRTLLM     Format = "trtllm-bench"
	GuideLLM   Format = "guidellm"
	InferenceX Format = "InferenceX"
	Simulate   Format = "plimsoll simulate"
	Requests   Format = "per-request CSV"
)

// accepted says which files can be read.
const accepted = "accepted are the JSON of vllm bench serve --save-result, the JSONL of SGLang's bench_serving --output-file, the JSON or CSV that" +
	" AIPerf and genai-perf export, AIPerf's profile_export.jsonl, the JSON of guidellm, the JSON of trtllm-bench --report_json, a result of InferenceX, plimsoll simulate --json, or a CSV with one" +
	" line per request (isl, osl, ttft_ms, tpot_ms)"

// UnknownError is of files of no known format.
type UnknownError struct{ Why string }

// Error says what is wrong.
func (e *UnknownError) Error() string { return e.Why }

// Hint says what is accepted.
func (e *UnknownError) Hint() string { return accepted }

func unknown() error { return &UnknownError{"not the result of a known load generator"} }

// maxRuns bounds the runs of a file.
const maxRuns = 10_000

// Read reads the runs of a file; the name is for errors.
func Read(data []byte, name string) ([]Run, error) {
	runs, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return runs, nil
}

// Parse reads the runs of a file.
func Parse(data []byte) ([]Run, error) {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	var runs []Run
	var err error
	switch {
	case len(trimmed) == 0:
		return nil, &UnknownError{"the file is empty"}
	case trimmed[0] == '{' || trimmed[0] == '[':
		runs, err = readJSON(trimmed)
	default:
		runs, err = readCSV(trimmed)
	}
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if r := &runs[i]; r.TTFT == (Times{}) && r.TPOT == (Times{}) && r.OutputRate == 0 && r.TotalRate == 0 {
			return nil, fmt.Errorf("a result of %s without TTFT, TPOT or throughput", r.Format)
		}
	}
	return runs, nil
}

// readJSON reads one object, a list of them, or one a line.
func readJSON(data []byte) ([]Run, error) {
	if err := bound.JSON(data, bound.JSONObjects); err != nil {
		return nil, err
	}
	var runs []Run
	var requests records
	d := json.NewDecoder(bytes.NewReader(finite(data)))
	for len(runs) <= maxRuns {
		var value any
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			return requests.join(runs)
		}
		if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		all, ok := value.([]any)
		if !ok {
			all = []any{value}
		}
		for _, v := range all {
			o, ok := v.(map[string]any)
			if !ok {
				return nil, unknown()
			}
			if isRecord(o) {
				err = requests.add(o)
			} else {
				var some []Run
				some, err = readReport(o)
				runs = append(runs, some...)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("more than %d runs", maxRuns)
}

// finite replaces NaN and infinities, which Python writes and JSON does not have, by null: SGLang's client writes the request rate of a run
// without one as Infinity.
func finite(data []byte) []byte {
	var out []byte
	from, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == 'N' || c == 'I' || c == '-'):
			for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(data[i:], []byte(word)) {
					out = append(append(out, data[from:i]...), "null"...)
					from = i + len(word)
					i = from - 1
					break
				}
			}
		}
	}
	if from == 0 {
		return data
	}
	return append(out, data[from:]...)
}

// readReport reads an object of any format: one run, or a report of guidellm, which has several.
func readReport(o object) ([]Run, error) {
	if all, ok := o["benchmarks"].([]any); ok {
		return o.guidellm(all)
	}
	run, err := readObject(o)
	return []Run{run}, err
}

// readObject reads an object of one run.
func readObject(o object) (Run, error) {
	has := func(keys ...string) bool {
		for _, k := range keys {
			if _, ok := o[k]; ok {
				return true
			}
		}
		return false
	}
	switch {
	case has("performance") && has("world_info", "request_info"):
		return o.trtllm(), o.wrong()
	case has("tput_per_gpu", "output_tput_per_gpu"):
		return o.inferenceX(), o.wrong()
	case has("time_to_first_token", "inter_token_latency", "output_token_throughput"):
		return o.aiperf(o), o.wrong()
	case has("records"):
		return o.aiperf(o.sub("records")), o.wrong()
	case has("ttft_ms") && has("request", "kv_tokens"):
		return o.simulate(), o.wrong()
	case has("mean_ttft_ms", "mean_tpot_ms", "output_throughput"):
		if has("random_input_len", "sharegpt_output_len", "mean_e2e_latency_ms", "server_info") {
			return o.serving(SGLang), o.wrong()
		}
		return o.serving(VLLM), o.wrong()
	}
	return Run{}, unknown()
}

// engineOf is the engine that a backend of a load generator stands for, "" if none.
func engineOf(backend string) string {
	word := strings.ToLower(backend)
	for _, e := range [...]struct{ part, name string }{
		{"sglang", "sglang"}, {"trt", "trtllm"}, {"tensorrt", "trtllm"}, {"atom", "atom"}, {"vllm", "vllm"},
	} {
		if strings.Contains(word, e.part) {
			return e.name
		}
	}
	return ""
}
