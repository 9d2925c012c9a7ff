package report

import (
	"fmt"
	"io"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/draw/termplot"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Simulate prints a simulated run for people, with a timeline.
func Simulate(w io.Writer, r *simulate.Response, v OptimizeView) {
	s := &r.Result
	fmt.Fprintf(w, "%s on %s under %s, %s", r.Model, r.Device, r.Title, r.Layout)
	if n := r.Request.Deployment.Pools[len(r.Request.Deployment.Pools)-1].Replicas; n > 1 {
		fmt.Fprintf(w, ", %d replicas", n)
	}
	if r.PrefillLayout != "" {
		fmt.Fprintf(w, ", prefill on %d × %s", max(1, r.Request.Deployment.Pools[0].Replicas), r.PrefillLayout)
	}
	if x := s.Sampling; x != nil && x.Ended != statistics.Replayed {
		fmt.Fprintf(w, "\nAt your load: %s in %s, after a warm-up of %s", units.Counted(s.Counted, "request"), s.Duration, units.Counted(x.Warmup, "request"))
	} else {
		fmt.Fprintf(w, "\n%s in %s", units.Counted(s.Finished, "request"), s.Duration)
	}
	if s.Refused > 0 {
		fmt.Fprintf(w, ", %d rejected (longer than the KV cache)", s.Refused)
	}
	fmt.Fprint(w, "\n\n")
	fmt.Fprintln(w, latencies(r))
	offered := fmt.Sprintf("%.2f requests/s offered, %.2f served", s.Offered, s.RequestRate)
	if s.Offered == 0 { // every request arrives at the start: a trace of one time, or no more requests than clients
		offered = fmt.Sprintf("all requests at once, %.2f requests/s served", s.RequestRate)
	}
	fmt.Fprintf(w, "\nLoad            %s; %.1f requests in flight on average, %d at p95\n", offered, s.InFlight.Mean, s.InFlight.P95)
	fmt.Fprintf(w, "Throughput      %.2f requests/s, %.1f input and %.1f output tokens/s", s.RequestRate, s.InputRate, s.OutputRate)
	if r.Request.Concurrency > 0 {
		fmt.Fprintf(w, " (%s)", plusMinus(r.Expected.Throughput))
	}
	fmt.Fprintln(w)
	sampling(w, r)
	if r.Request.Limits.Any() {
		fmt.Fprintf(w, "Goodput         %.2f requests/s, %.1f %% within the limits\n", s.GoodRate, 100*s.GoodShare)
		fmt.Fprintf(w, "Limits          met by %s with a probability of %s\n", judgedInWords(r), chance(*r.Judged.Chance))
	}
	if e := r.Energy; e != nil {
		fmt.Fprintf(w, "Energy          %s J per output token (%s), %s W per device on average%s\n",
			units.Figure(e.PerToken.Value), plusMinus(e.Error), units.Figure(float64(e.Watts)), unmeasured(e.Tier))
	}
	engineUse(w, r)
	prefixes(w, s)
	sessions(w, s)
	if g := r.Guide; g != nil {
		fmt.Fprintf(w, "Guide           %s by the formulas of Ascend's guide (throughput-optimizer)\n", guided(g))
	}
	fmt.Fprintf(w, "Intervals       80 %%, from %s\n", r.Expected.Basis)
	tables(w, r.Tables)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "Note            %s\n", n)
	}
	if r.InStep() {
		fmt.Fprintln(w, "Note            requests of equal length run in lockstep, unlike real traffic: TTFT is that of a whole wave; benchmarks draw lengths from 80 to 100 % of the nominal length")
	}
	fmt.Fprintf(w, "Basis           %s\n", operatorTimes(r.Tier))
	if v.Plots {
		timeline(w, s, v)
	}
}

// sampling prints the sampling error of a steady run.
func sampling(w io.Writer, r *simulate.Response) {
	x := r.Result.Sampling
	if x == nil {
		return
	}
	fmt.Fprintf(w, "Sampling error  ±%s TTFT, ±%s TPOT, ±%s latency (standard error, %s)\n", share(x.TTFT), share(x.TPOT), share(x.Latency), r.Judged.Statistic)
}

// judgedInWords is what limits apply to.
func judgedInWords(r *simulate.Response) string {
	switch q := &r.Request; {
	case q.Goodput > 0:
		return fmt.Sprintf("%g %% of the requests", q.At())
	case q.Percentile > 0:
		return r.Judged.Statistic
	}
	return "the means"
}

// share is a sampling error in per cent.
func share(e float64) string {
	if math.IsInf(e, 1) {
		return "?"
	}
	return pc(e)
}

// latencies is the table of times.
func latencies(r *simulate.Response) string {
	s, p := &r.Result, r.Request.At()
	head := []string{"", ">mean", ">80 % interval"}
	if p > 0 { // what was asked for comes first
		head = []string{"", ">" + r.Judged.Statistic, ">80 % interval", ">mean"}
	}
	t := table.New(append(head, ">p50", ">p90", ">p95", ">p99")...)
	add := func(name string, x *statistics.Summary, e calibration.Error) {
		judged := []string{x.Percentile(p).String(), plusMinus(e)}
		if x.Percentile(p) == 0 { // gaps between tokens have the usual percentiles only
			judged = []string{"–", "–"}
		}
		if p > 0 {
			judged = append(judged, x.Mean.String())
		}
		if x.Max == 0 { // requests of one token
			t.Row(name, []string{"–", "–", "–"}[:len(judged)], "–", "–", "–", "–")
			return
		}
		t.Row(name, judged, x.P50, x.P90, x.P95, x.P99)
	}
	add("TTFT", &s.TTFT, r.Expected.TTFT)
	add("TPOT", &s.TPOT, r.Expected.TPOT)
	add("inter-token latency", &s.ITL, r.Expected.TPOT)
	add("request latency", &s.Latency, r.Expected.Latency(p))
	return t.String()
}

// engineUse prints the utilization of the engine and its KV cache.
func engineUse(w io.Writer, r *simulate.Response) {
	use, prompts := r.Pools()
	fmt.Fprintf(w, "Engine          %.0f %% busy; KV cache of %d tokens, %.0f %% used on average, %.0f %% at peak; %d preemptions\n",
		100*use.Busy, r.Memory.Tokens, 100*use.KVMean, 100*use.KVPeak, use.Preemptions)
	m := &r.Memory
	fmt.Fprintf(w, "Memory          %s per device, memory_share %g (of %s): weights %s, activations %s, workspace %s, KV cache %s at %s per token",
		m.Memory, m.Share, m.ShareOf, m.Weights, m.Activation, m.Workspace, m.KV, m.PerToken)
	if m.States > 0 {
		fmt.Fprintf(w, ", recurrent states %s", m.States)
		if m.Sequences > 0 {
			fmt.Fprintf(w, " for %d sequences", m.Sequences)
		}
	}
	fmt.Fprintln(w)
	if r.Result.Decode != nil {
		fmt.Fprintf(w, "Prefill         %.0f %% busy\n", 100*prompts.Busy)
	}
}

// prefixes prints what prompts found in the prefix cache.
func prefixes(w io.Writer, s *statistics.Result) {
	if s.CachedShare == 0 && s.Workers.Evictions == 0 {
		return
	}
	fmt.Fprintf(w, "Prefix cache    %.1f %% of prompt tokens hit; %d blocks evicted\n", 100*s.CachedShare, s.Workers.Evictions)
	if s.HostShare > 0 {
		fmt.Fprintf(w, "Host cache      %.1f %% of prompt tokens hit; %s to load instead of %s to compute\n",
			100*s.HostShare, s.Workers.Loading, s.Workers.Spared)
	}
}

// sessions prints the time of whole sessions.
func sessions(w io.Writer, s *statistics.Result) {
	x := s.Sessions
	if x == nil || x.Count == 0 {
		return
	}
	fmt.Fprintf(w, "Sessions        %d ended, %.3f/s with %.1f turns each; %s from first request to last answer (p95 %s), %s without think time (p95 %s)\n",
		x.Count, x.Rate, x.Turns, x.Latency.Mean, x.Latency.P95, x.Working.Mean, x.Working.P95)
}

// timeline draws requests waiting and running over time.
func timeline(w io.Writer, s *statistics.Result, v OptimizeView) {
	p := termplot.Plot{Width: v.Width, Height: 14, Color: v.Color}
	p.Title, p.XLabel, p.YLabel = "Requests over time", "s", "requests"
	var waiting, running scatter.Series // unnamed: the legend explains solid points and dots
	for _, x := range s.Series {
		at := float64(x.At / units.Seconds(1))
		waiting.Points = append(waiting.Points, scatter.Point{X: at, Y: float64(x.Waiting)})
		running.Points = append(running.Points, scatter.Point{X: at, Y: float64(x.Running), Mark: true})
	}
	p.Series = []scatter.Series{running, waiting}
	p.Marked, p.Unmarked = "running", "waiting"
	fmt.Fprintln(w)
	p.Render(w)
}

// guided is the figures of Ascend's guide.
func guided(g *simulate.Guide) string {
	return fmt.Sprintf("%.1f output tokens/s, TTFT %s ms, TPOT %s ms", g.Throughput, units.Figure(g.TTFT), units.Figure(g.TPOT))
}
