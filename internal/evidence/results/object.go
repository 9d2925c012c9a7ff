package results

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// object is a JSON object whose fields may be missing. A field that is there and is no
// finite number, or a negative one, is reported by wrong.
type object map[string]any

// mistakes is the key under which an object keeps the first field that is wrong.
const mistakes = "\x00wrong"

func (o object) fault(format string, a ...any) {
	if _, ok := o[mistakes]; !ok {
		o[mistakes] = fmt.Errorf(format, a...)
	}
}

// wrong is the first field that was wrong.
func (o object) wrong() error {
	if err, ok := o[mistakes].(error); ok {
		return err
	}
	return nil
}

// number reads the first of some fields that has a number. Words like "inf" and null
// are none.
func (o object) number(keys ...string) float64 {
	for _, k := range keys {
		var x float64
		switch v := o[k].(type) {
		case float64:
			x = v
		case string:
			f, err := strconv.ParseFloat(v, 64)
			if err != nil || math.IsInf(f, 0) {
				continue
			}
			x = f
		default:
			continue
		}
		if err := possible(k, x); err != nil {
			o.fault("%w", err)
			return 0
		}
		return x
	}
	return 0
}

// most bounds counts in a file, huge all numbers.
const most, huge = 1e9, 1e15

// possible reports a number that nothing measured can be.
func possible(name string, x float64) error {
	if !(x >= 0) {
		return fmt.Errorf("%s must not be negative, got %g", name, x)
	}
	if x > huge {
		return fmt.Errorf("%s must be at most %g, got %g", name, huge, x)
	}
	return nil
}

func (o object) count(keys ...string) int {
	x := o.number(keys...)
	if x > most {
		o.fault("%s must be at most %g, got %g", keys[0], most, x)
		return 0
	}
	return int(math.Round(x))
}

func (o object) text(keys ...string) string {
	for _, k := range keys {
		if s, ok := o[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// sub is an object inside, empty where there is none.
func (o object) sub(key string) object {
	if m, ok := o[key].(map[string]any); ok {
		return m
	}
	return object{}
}

// seconds reads times in milliseconds.
func (o object) seconds(keys ...string) units.Seconds { return units.Seconds(o.number(keys...) / 1e3) }

// list reads a list of seconds.
func (o object) list(key string) []units.Seconds {
	all, _ := o[key].([]any)
	out := make([]units.Seconds, 0, len(all))
	for _, v := range all {
		if x, ok := v.(float64); ok && x >= 0 {
			out = append(out, units.Seconds(x))
		}
	}
	return out
}

// shortest is the share of the longest length that stands for lengths from one token on.
const shortest = 0.001

// serving reads what the clients of vLLM and SGLang write, which have a common origin.
func (o object) serving(f Format) Run {
	r := Run{
		Format: f, Model: o.text("model_id", "model"), Engine: engineOf(o.text("backend", "endpoint_type")), Requests: o.count("completed", "num_prompts"),
		Concurrency: o.count("max_concurrency"), Rate: o.number("request_rate"),
		TTFT:       Times{o.seconds("mean_ttft_ms"), o.seconds("median_ttft_ms")},
		TPOT:       Times{o.seconds("mean_tpot_ms"), o.seconds("median_tpot_ms")},
		OutputRate: o.number("output_throughput"), TotalRate: o.number("total_token_throughput", "total_throughput"), TTFTs: o.list("ttfts"),
	}
	if r.Requests > 0 {
		r.Input, r.Output = o.number("total_input_tokens")/float64(r.Requests), o.number("total_output_tokens")/float64(r.Requests)
	}
	if f == SGLang {
		o.sub("server_info").served(&r)
	}
	if f == SGLang && strings.HasPrefix(o.text("dataset_name"), "random") {
		if _, ok := o["random_range_ratio"]; ok {
			r.LengthLow = min(1, max(shortest, o.number("random_range_ratio")))
		}
	}
	if asked := o.count("num_prompts"); o.count("completed") > 0 {
		r.Failed = max(o.count("failed"), asked-r.Requests, 0)
	}
	if r.Concurrency == 0 && r.Rate == 0 { // everything at once
		r.Concurrency = r.Requests
	}
	if r.Concurrency > 0 {
		r.Rate = 0
	}
	return r
}

// served reads what a server of SGLang said of itself: its arguments, with the values that it chose.
func (o object) served(r *Run) {
	if len(o) == 0 || r.Engine != "sglang" {
		return
	}
	r.Model, r.Version = cmp.Or(r.Model, o.text("model_path")), o.text("version")
	count := func(key string) int { return int(o.positive(key)) }
	tp, dp := count("tp_size"), max(1, count("dp_size"))
	own, _ := o["enable_dp_attention"].(bool)
	switch {
	case tp == 0 || count("pp_size") > 1:
	case own && tp%dp == 0:
		r.GPUs, r.TP, r.DP, r.EP = tp, tp/dp, dp, max(1, count("ep_size"))
	case dp == 1:
		r.GPUs, r.TP, r.DP, r.EP = tp, tp, 1, max(1, count("ep_size"))
	}
	r.set("max_sequences", o.positive("max_running_requests"))
	budget := o.positive("chunked_prefill_size")
	if own { // the server has divided it by its ranks (server_args.py, _handle_data_parallelism)
		budget *= float64(dp)
	}
	r.set("token_budget", budget)
	r.set("memory_share", o.positive("mem_fraction_static"))
}

// set adds a setting; zero is not stated.
func (r *Run) set(key string, value float64) {
	if value > 0 {
		r.Settings = append(r.Settings, Setting{key, value})
	}
}

// positive reads a number of which a negative one says that there is none.
func (o object) positive(key string) float64 {
	if x, ok := o[key].(float64); ok && x < 0 {
		return 0
	}
	return min(most, o.number(key))
}

// inferenceXLow is the share of the stated lengths from which InferenceX draws those of
// requests.
const inferenceXLow = 0.8

// inferenceX reads a point of InferenceX: times in seconds, rates per device, the longest
// lengths.
func (o object) inferenceX() Run {
	from := o
	if m := o.sub("metrics"); len(m) > 0 {
		from = m
	}
	s := func(keys ...string) units.Seconds { return units.Seconds(from.number(keys...)) }
	r := Run{
		Format: InferenceX, Model: o.text("model", "infmax_model_prefix"), Engine: engineOf(o.text("framework")), System: o.text("hw", "hardware"),
		Concurrency: o.count("conc"), LengthLow: inferenceXLow,
		Input: o.number("isl") * (1 + inferenceXLow) / 2, Output: o.number("osl") * (1 + inferenceXLow) / 2,
		TTFT: Times{s("mean_ttft"), s("median_ttft")}, TPOT: Times{s("mean_tpot"), s("median_tpot")},
		GPUs: o.count("num_prefill_gpu") + o.count("num_decode_gpu"),
	}
	if disagg, _ := o["disagg"].(bool); !disagg && o.count("tp") > 0 {
		r.GPUs, r.TP, r.DP, r.EP = o.count("tp"), o.count("tp"), 1, o.count("ep")
		if fmt.Sprint(o["dp_attention"]) == "true" {
			r.TP, r.DP = 1, r.TP
		}
	}
	gpus := float64(max(1, r.GPUs))
	r.TotalRate, r.OutputRate = from.number("tput_per_gpu")*gpus, from.number("output_tput_per_gpu")*gpus
	if err := from.wrong(); err != nil {
		o.fault("%w", err)
	}
	return r
}

// trtllm reads a report of trtllm-bench.
func (o object) trtllm() Run {
	world, requests, speed, stream := o.sub("world_info"), o.sub("request_info"), o.sub("performance"), o.sub("streaming_metrics")
	times := func(avg, percentiles string) Times {
		p := stream.sub(percentiles)
		return Times{stream.seconds(avg), p.seconds("p50")}
	}
	r := Run{
		Format: TRTLLM, Model: o.sub("engine").text("model"), Engine: "trtllm", Version: o.sub("engine").text("version"), System: o.sub("machine").text("name"), Requests: requests.count("num_requests"),
		Concurrency: requests.count("avg_num_concurrent_requests"),
		Input:       requests.number("avg_input_length"), Output: requests.number("avg_output_length"),
		TTFT: times("avg_ttft_ms", "ttft_percentiles"), TPOT: times("avg_tpot_ms", "tpot_percentiles"),
		OutputRate: speed.number("system_output_throughput_tok_s"), TotalRate: speed.number("system_total_throughput_tok_s"),
		GPUs: world.count("world_size"),
	}
	if tp := world.count("tp_size"); tp == r.GPUs {
		r.TP, r.DP, r.EP = tp, 1, max(1, int(world.positive("ep_size")))
	}
	share := world.number("kv_cache_percentage")
	if share > 1 { // in per cent before 1.0, as a share since
		share /= 100
	}
	r.set("max_sequences", world.number("max_batch_size"))
	r.set("token_budget", world.number("max_num_tokens"))
	r.set("memory_share", share)
	for _, part := range []object{world, requests, speed, stream} {
		if err := part.wrong(); err != nil {
			o.fault("%w", err)
		}
	}
	return r
}

// simulate reads this program's own prediction, as if it were measured.
func (o object) simulate() Run {
	traffic := o.sub("request")
	times := func(key string) Times {
		t := o.sub(key)
		return Times{t.seconds("mean"), t.seconds("p50")}
	}
	output := o.sub("output_tokens_per_s").number("value")
	r := Run{
		Format: Simulate, Model: o.text("model"), Engine: o.text("engine"), System: o.text("device"), Requests: o.count("finished"),
		Concurrency: traffic.count("concurrency"), Rate: traffic.number("rate"),
		TTFT: times("ttft_ms"), TPOT: times("tpot_ms"),
		OutputRate: output, TotalRate: output + o.number("input_tokens_per_s"),
	}
	if rate := o.number("requests_per_s"); rate > 0 {
		r.Input, r.Output = o.number("input_tokens_per_s")/rate, output/rate
	}
	return r
}

// aiperf reads an export of AIPerf or genai-perf; metrics is where they stand.
func (o object) aiperf(metrics object) Run {
	var wrong error
	r := fromMetrics(func(key, stat string) float64 { return metrics.metric(key, stat, &wrong) })
	if wrong != nil {
		o.fault("%w", wrong)
	}
	o.sub("input_config").load(&r)
	return r
}

// metric reads a figure of AIPerf or genai-perf, times in ms, and keeps the first mistake.
func (o object) metric(key, stat string, wrong *error) float64 {
	m := o.sub(key)
	x := m.number(stat)
	if err := m.wrong(); err != nil && *wrong == nil {
		*wrong = fmt.Errorf("%s: %w", key, err)
	}
	latency := key == "time_to_first_token" || key == "inter_token_latency"
	if unit := strings.ToLower(m.text("unit")); latency && (unit == "s" || unit == "sec" || unit == "seconds") {
		return 1e3 * x
	}
	return x
}

// load reads the load and the model from the configuration of an export: AIPerf's since 0.8, which has phases, or that of before and of genai-perf.
func (o object) load(r *Run) {
	load := o.sub("loadgen")
	for _, phase := range o.all("phases") {
		if phase.text("kind", "name") != "warmup" {
			load = phase
		}
	}
	r.Concurrency, r.Rate = load.count("concurrency"), load.number("rate", "request_rate")
	if r.Concurrency == 0 {
		r.Concurrency = o.sub("perf_analyzer").sub("stimulus").count("concurrency")
	}
	switch {
	case load.text("type") == "fixed_schedule": // a trace
		r.Concurrency, r.Rate = 0, 0
	case load.text("type") != "" && r.Rate > 0: // its concurrency is a bound
		r.Concurrency = 0
	case r.Concurrency > 0:
		r.Rate = 0
	}
	for _, model := range o.sub("models").all("items") {
		r.Model = cmp.Or(r.Model, model.text("name"))
	}
	for _, from := range []object{o, o.sub("endpoint")} {
		for _, key := range []string{"model_names", "model"} {
			if all, ok := from[key].([]any); ok && len(all) > 0 && r.Model == "" {
				r.Model, _ = all[0].(string)
			}
		}
	}
}

// all are the objects of a list.
func (o object) all(key string) []object {
	list, _ := o[key].([]any)
	var out []object
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// fromMetrics is a run from AIPerf's metrics: each has an average, and percentiles where
// it is a time; times in milliseconds.
func fromMetrics(value func(key, stat string) float64) Run {
	ms := func(key, stat string) units.Seconds { return units.Seconds(value(key, stat) / 1e3) }
	times := func(key string) Times { return Times{ms(key, "avg"), ms(key, "p50")} }
	r := Run{
		Format: AIPerf, TTFT: times("time_to_first_token"), TPOT: times("inter_token_latency"),
		OutputRate: value("output_token_throughput", "avg"), TotalRate: value("total_token_throughput", "avg"),
		Input: value("input_sequence_length", "avg"), Output: value("output_sequence_length", "avg"),
		Requests: int(min(most, value("request_count", "avg"))), Failed: int(min(most, value("error_request_count", "avg"))),
	}
	if rate := value("request_throughput", "avg"); r.TotalRate == 0 && rate > 0 && r.Input > 0 {
		r.TotalRate = r.OutputRate + rate*r.Input
	}
	return r
}
