package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/results"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// candidate is an assumption of a prediction that may be wrong.
type candidate struct {
	what   string
	stated bool
	change func(*simulate.Request)
	// after, if not nil, makes the result of the simulation.
	after func(*simulate.Response) *statistics.Result
}

// result holds the figures of a simulation.
func (c *candidate) result(r *simulate.Response) *statistics.Result {
	if c.after == nil {
		return &r.Result
	}
	return c.after(r)
}

// candidates are the assumptions to test: first those that the result contradicts, then,
// with those corrected, the ones it does not state.
func candidates(run *results.Run, base *simulate.Response) []candidate {
	stated := statedOtherwise(run, base)
	as := func(r *simulate.Request) {
		for i := range stated {
			stated[i].change(r)
		}
	}
	var all []candidate
	if len(stated) > 1 {
		all = append(all, candidate{"all values stated in the result", true, as, nil})
	}
	all = append(all, stated...)
	for _, g := range guesses(run, base) {
		change := g.change
		g.change = func(r *simulate.Request) {
			as(r)
			change(r)
		}
		all = append(all, g)
	}
	return all
}

// set is a change of an engine setting.
func set(format string, a ...any) func(*simulate.Request) {
	assignment := fmt.Sprintf(format, a...)
	return func(r *simulate.Request) {
		for i := range r.Deployment.Pools {
			p := &r.Deployment.Pools[i]
			p.Settings = slices.Concat(p.Settings, []string{assignment})
		}
	}
}

// differ reports a difference of more than 2 %.
func differ(a, b float64) bool {
	const matters = 0.02
	return a > 0 && b > 0 && math.Abs(math.Log(a/b)) > matters
}

// statedOtherwise are the assumptions that the result contradicts.
func statedOtherwise(run *results.Run, base *simulate.Response) []candidate {
	r, s := &base.Request, &base.Result
	var out []candidate
	add := func(what string, change func(*simulate.Request)) {
		out = append(out, candidate{what, true, change, nil})
	}
	if s.RequestRate > 0 {
		in, answer := s.InputRate/s.RequestRate, s.OutputRate/s.RequestRate
		if differ(run.Input, in) || differ(run.Output, answer) {
			add(fmt.Sprintf("mean lengths: %.0f and %.0f tokens instead of %.0f and %.0f", run.Input, run.Output, in, answer), func(r *simulate.Request) {
				scaleLengths(r, run.Input/in, run.Output/answer)
			})
		}
	}
	if run.Concurrency > 0 && run.Concurrency != r.Concurrency {
		add(fmt.Sprintf("load: %d requests in flight", run.Concurrency), func(r *simulate.Request) {
			r.Concurrency, r.Rate, r.Trace = run.Concurrency, 0, ""
		})
	}
	if run.Rate > 0 && run.Concurrency == 0 && differ(run.Rate, r.Rate) {
		add(fmt.Sprintf("load: %.3g requests per second", run.Rate), func(r *simulate.Request) { r.Rate, r.Concurrency, r.Trace = run.Rate, 0, "" })
	}
	if run.Requests > 0 && run.Requests != s.Requests {
		add(fmt.Sprintf("%d requests instead of %d", run.Requests, s.Requests), func(r *simulate.Request) { r.Requests = run.Requests })
	}
	for _, x := range run.Settings {
		add(fmt.Sprintf("setting %s=%g", x.Key, x.Value), set("%s=%g", x.Key, x.Value))
	}
	return out
}

// scaleLengths changes the mean lengths of requests; a ratio of zero or infinity is
// unknown and changes nothing.
func scaleLengths(r *simulate.Request, input, output float64) {
	scale := func(tokens *int, by float64) {
		if by > 0 && !math.IsInf(by, 0) {
			*tokens = max(1, int(math.Round(by*float64(*tokens))))
		}
	}
	if r.InputLengths != nil {
		r.Input, r.InputLengths = r.InputLengths.MeanEffective(0), nil
	}
	if r.OutputLengths != nil {
		r.Output, r.OutputLengths = r.OutputLengths.MeanEffective(0), nil
	}
	r.Workloads = slices.Clone(r.Workloads)
	for i := range r.Workloads {
		x := &r.Workloads[i]
		scale(&x.Input, input)
		scale(&x.Output, output)
	}
	scale(&r.Input, input)
	scale(&r.Output, output)
}

// guesses are assumptions that the result does not state.
func guesses(run *results.Run, base *simulate.Response) []candidate {
	var out []candidate
	guess := func(what string, change func(*simulate.Request)) {
		out = append(out, candidate{what, false, change, nil})
	}
	batch := max(1, cmp.Or(run.Concurrency, base.Request.Concurrency))
	guess("no CUDA graphs: decode steps are launched kernel by kernel", set("graph.max_batch=0"))
	guess(fmt.Sprintf("CUDA graphs up to a batch of %d", batch), set("graph.max_batch=%d", batch))
	if half := batch / 2; half > 0 {
		guess(fmt.Sprintf("at most %d sequences in a batch (max_sequences)", half), set("max_sequences=%d", half))
	}
	for _, by := range []float64{0.25, 4} {
		if n := int(by * float64(base.Budget)); n > 0 {
			guess(fmt.Sprintf("token budget %d instead of %d", n, base.Budget), set("token_budget=%d", n))
		}
	}
	if m := &base.Memory; m.Share > 0 {
		const less = 0.8
		guess(fmt.Sprintf("smaller KV cache: memory_share %.2g instead of %.2g", less*m.Share, m.Share), set("memory_share=%.3g", less*m.Share))
	}
	if a := base.About; a == nil || a.Class != engine.Dense {
		guess("experts chosen equally often, as with dummy weights", set("even_experts=true"))
	}
	guess("KV cache in bf16", func(r *simulate.Request) { r.Deployment.Formats.KV = "bf16" })
	guess("KV cache in fp8", func(r *simulate.Request) { r.Deployment.Formats.KV = "fp8" })
	if q := &base.Request; q.Workloads == nil && q.Trace == "" && q.InputLengths == nil && q.LengthLow == 1 {
		guess("repeated prompts: 90 % of each in the prefix cache", func(r *simulate.Request) {
			r.Prefix = r.Input * 9 / 10
			set("prefix_caching=true")(r)
		})
	}
	if base.Request.Concurrency > 0 {
		out = append(out, candidate{"warm start: the first wave of requests is not counted", false, func(r *simulate.Request) { r.Records = true }, afterFirst})
	}
	return append(out, coldStart(run, base)...)
}

// coldStart tests whether only a few requests were slow: the measured spread of TTFT around
// the predicted median.
func coldStart(run *results.Run, base *simulate.Response) []candidate {
	if run.TTFT.Mean <= 0 || run.TTFT.Median <= 0 || run.TTFT.Mean/run.TTFT.Median*base.Result.TTFT.P50 <= base.Result.TTFT.Mean {
		return nil
	}
	return []candidate{{
		"cold start: a few slow requests (compiling, loading); the predicted median TTFT with the measured spread", false,
		func(*simulate.Request) {}, func(r *simulate.Response) *statistics.Result {
			out := r.Result
			out.TTFT.Mean = run.TTFT.Mean / run.TTFT.Median * out.TTFT.P50
			return &out
		},
	}}
}
