package results

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// guidellm reads a report of guidellm (its schema of 0.3 to 0.7): a run for each benchmark, of its successful requests. What it
// calls time per output token counts the first one too; its inter-token latency is our TPOT.
func (o object) guidellm(all []any) ([]Run, error) {
	if len(all) == 0 {
		return nil, &UnknownError{"a guidellm report without benchmarks"}
	}
	model := o.backendModel()
	var out []Run
	for i, x := range all {
		b, ok := x.(map[string]any)
		if !ok {
			return nil, unknown()
		}
		run, err := object(b).guidellmRun()
		if err != nil {
			return nil, fmt.Errorf("benchmark %d: %w", i+1, err)
		}
		if run.Model == "" {
			run.Model = model
		}
		out = append(out, run)
	}
	return out, nil
}

// backendModel is the model that a report or a benchmark names, "" if none.
func (o object) backendModel() string {
	for _, part := range []object{o.sub("config"), o.sub("args"), o} {
		for _, from := range []object{part.sub("backend"), part.sub("benchmark_args"), part, part.sub("backend_kwargs"), part.sub("worker")} {
			if name := from.text("model", "backend_model"); name != "" {
				return name
			}
		}
	}
	return ""
}

// guidellmRun reads one benchmark.
func (o object) guidellmRun() (Run, error) {
	metrics := o.sub("metrics")
	if len(metrics) == 0 {
		return Run{}, unknown()
	}
	var wrong error
	of := func(key string) object { return metrics.sub(key).sub("successful") }
	value := func(key, stat string) float64 {
		m := of(key)
		x := m.number(stat)
		if err := m.wrong(); err != nil && wrong == nil {
			wrong = fmt.Errorf("%s: %w", key, err)
		}
		return x
	}
	times := func(key string) Times {
		return Times{units.Seconds(value(key, "mean") / 1e3), units.Seconds(value(key, "median") / 1e3)}
	}
	totals := metrics.sub("request_totals")
	r := Run{
		Format: GuideLLM, Model: o.backendModel(), TTFT: times("time_to_first_token_ms"), TPOT: times("inter_token_latency_ms"),
		OutputRate: value("output_tokens_per_second", "mean"), TotalRate: value("tokens_per_second", "mean"),
		Input: value("prompt_token_count", "mean"), Output: value("output_token_count", "mean"),
		Requests: totals.count("successful"), Failed: totals.count("errored"),
	}
	r.strategy(o)
	for _, part := range []object{o, totals} {
		if err := part.wrong(); err != nil && wrong == nil {
			wrong = err
		}
	}
	return r, wrong
}

// strategy reads the load: so many streams, a rate, or as much as fits.
func (r *Run) strategy(o object) {
	s := o.sub("config").sub("strategy")
	if len(s) == 0 {
		s = o.sub("args").sub("strategy")
	}
	switch s.text("type_", "kind") {
	case "synchronous":
		r.Concurrency = 1
	case "concurrent":
		r.Concurrency = s.count("streams")
	case "throughput":
		r.Concurrency = s.count("max_concurrency", "streams")
	case "constant", "poisson", "async":
		r.Rate = s.number("rate")
	}
	if r.Concurrency == 0 && r.Rate == 0 { // those in flight on average
		r.Concurrency = o.sub("metrics").sub("request_concurrency").sub("successful").count("mean")
	}
	if err := s.wrong(); err != nil {
		o.fault("%w", err)
	}
}
