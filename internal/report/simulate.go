package report

import (
	"fmt"
	"io"

	"plimsoll/internal/table"

	"plimsoll/internal/app"
	"plimsoll/internal/calibration"
	"plimsoll/internal/engine"
	"plimsoll/internal/scatter"
	"plimsoll/internal/sim"
	"plimsoll/internal/termplot"
	"plimsoll/internal/units"
)

// SimulateJSON is a simulated run for programs; times in milliseconds.
type SimulateJSON struct {
	Model    string `json:"model"`
	Device   string `json:"device"`
	Engine   string `json:"engine"`
	Layout   string `json:"layout"`
	Tier     string `json:"tier"`
	KVTokens int    `json:"kv_tokens"`
	// Memory is how the engine divides that of one device.
	Memory BudgetJSON `json:"memory"`

	Requests  int     `json:"requests"`
	Finished  int     `json:"finished"`
	Refused   int     `json:"refused"`
	DurationS float64 `json:"duration_s"`

	TTFT    TimesJSON `json:"ttft_ms"`
	TPOT    TimesJSON `json:"tpot_ms"`
	ITL     TimesJSON `json:"itl_ms"`
	Latency TimesJSON `json:"latency_ms"`

	// Chance is the probability that mean TTFT and TPOT keep the limits, null
	// without limits; Basis says what the intervals come from.
	Chance *float64 `json:"chance_within_limits"`
	Basis  string   `json:"interval_basis"`

	RequestRate float64 `json:"requests_per_s"`
	InputRate   float64 `json:"input_tokens_per_s"`
	OutputRate  float64 `json:"output_tokens_per_s"`
	// OutputInterval is null where requests come at a rate or from a trace: they
	// then decide the throughput.
	OutputInterval *IntervalJSON `json:"output_tokens_per_s_80"`
	GoodRate       float64       `json:"goodput_per_s"`
	GoodShare      float64       `json:"good_share"`

	Busy        float64 `json:"utilization"`
	KVMean      float64 `json:"kv_use_mean"`
	KVPeak      float64 `json:"kv_use_peak"`
	Preemptions int     `json:"preemptions"`
	CachedShare float64 `json:"prefix_cached_share"`

	// Of the replicas for prompts, the same as the others unless there are such.
	PrefillLayout string  `json:"prefill_layout,omitempty"`
	PrefillBusy   float64 `json:"prefill_utilization"`

	Tables *TablesJSON `json:"tables,omitempty"`
	Notes  []string    `json:"notes"`
}

// BudgetJSON is how an engine divides the memory of one device.
type BudgetJSON struct {
	DeviceGiB     float64 `json:"device_gib"`
	Share         float64 `json:"share"`
	ShareOf       string  `json:"share_of"`
	WeightsGiB    float64 `json:"weights_gib"`
	ActivationGiB float64 `json:"activation_gib"`
	WorkspaceGiB  float64 `json:"workspace_gib"`
	KVGiB         float64 `json:"kv_gib"`
	StatesGiB     float64 `json:"states_gib,omitempty"`
	KVPerTokenKiB float64 `json:"kv_per_token_kib"`
}

func budgetJSON(b *engine.Budget) BudgetJSON {
	return BudgetJSON{
		b.Memory.GiB(), b.Share, string(b.ShareOf), b.Weights.GiB(), b.Activation.GiB(), b.Workspace.GiB(),
		b.KV.GiB(), b.States.GiB(), float64(b.PerToken / units.KiB),
	}
}

// TimesJSON is how a time is distributed. Low and High bound the mean with
// 80 % confidence.
type TimesJSON struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
	Low  float64 `json:"low80"`
	High float64 `json:"high80"`
}

func timesJSON(s *sim.Summary, e calibration.Error) TimesJSON {
	lo, hi := e.Times(s.Mean)
	return TimesJSON{s.Mean.Ms(), s.P50.Ms(), s.P90.Ms(), s.P95.Ms(), s.P99.Ms(), s.Max.Ms(), lo.Ms(), hi.Ms()}
}

// NewSimulateJSON converts a response.
func NewSimulateJSON(r *app.SimulateResponse) *SimulateJSON {
	s := r.Result
	use, prompts := pools(s)
	out := &SimulateJSON{
		Model: r.Model.Name(), Device: r.Device.Name, Engine: r.Engine.Name, Layout: r.Layout, Tier: string(r.Tier), KVTokens: r.Memory.Tokens, Memory: budgetJSON(&r.Memory),
		Requests: s.Requests, Finished: s.Finished, Refused: s.Refused, DurationS: float64(s.Duration),
		TTFT: timesJSON(&s.TTFT, r.Expected.TTFT), TPOT: timesJSON(&s.TPOT, r.Expected.TPOT),
		ITL: timesJSON(&s.ITL, r.Expected.TPOT), Latency: timesJSON(&s.Latency, latencyError(r)), Basis: r.Expected.Basis,
		RequestRate: s.RequestRate, InputRate: s.InputRate, OutputRate: s.OutputRate, GoodRate: s.GoodRate, GoodShare: s.GoodShare,
		Busy: use.Busy, KVMean: use.KVMean, KVPeak: use.KVPeak, Preemptions: use.Preemptions, CachedShare: s.CachedShare,
		PrefillLayout: r.PrefillLayout, PrefillBusy: prompts.Busy, Tables: newTablesJSON(r.Tables), Notes: append([]string{}, r.Model.Notes...),
	}
	if r.Request.Concurrency > 0 {
		out.OutputInterval = interval(r.Expected.Throughput, s.OutputRate)
	}
	if r.Limited() {
		within := r.Chance()
		out.Chance = &within
	}
	return out
}

// latencyError is that of whole requests. In a closed loop, of which residuals
// are, throughput is the number in flight over their time.
func latencyError(r *app.SimulateResponse) calibration.Error {
	return r.Expected.Throughput.Inverse()
}

// pools are the replicas that generate, and those that compute prompts: the same
// unless the run was disaggregated.
func pools(s *sim.Result) (generate, prompts *sim.PoolUse) {
	if s.Decode != nil {
		return s.Decode, &s.Workers
	}
	return &s.Workers, &s.Workers
}

// Simulate prints a simulated run for people, with a timeline.
func Simulate(w io.Writer, r *app.SimulateResponse, v OptimizeView) {
	s := r.Result
	fmt.Fprintf(w, "%s on %s under %s, %s", r.Model.Name(), r.Device.Name, r.Engine.Title, r.Layout)
	if n := r.Request.Replicas; n > 1 {
		fmt.Fprintf(w, ", %d replicas", n)
	}
	if n := r.Request.PrefillReplicas; n > 0 {
		fmt.Fprintf(w, ", prompts on %d × %s", n, r.PrefillLayout)
	}
	fmt.Fprintf(w, "\n%d requests in %s", s.Finished, s.Duration)
	if s.Refused > 0 {
		fmt.Fprintf(w, ", %d refused: longer than the cache", s.Refused)
	}
	fmt.Fprint(w, "\n\n")
	t := table.New(2, 3, 4, 5, 6, 7)
	t.AppendHeader(table.Row{"", "mean", "80 %", "p50", "p90", "p95", "p99"})
	add := func(name string, x *sim.Summary, e calibration.Error) {
		t.AppendRow(table.Row{name, x.Mean, plusMinus(e), x.P50, x.P90, x.P95, x.P99})
	}
	add("time to first token", &s.TTFT, r.Expected.TTFT)
	add("time per output token", &s.TPOT, r.Expected.TPOT)
	add("between tokens", &s.ITL, r.Expected.TPOT)
	add("whole request", &s.Latency, latencyError(r))
	fmt.Fprintln(w, t.Render())
	fmt.Fprintf(w, "\nThroughput      %.2f requests/s, %.1f input and %.1f output tokens/s", s.RequestRate, s.InputRate, s.OutputRate)
	if r.Request.Concurrency > 0 {
		fmt.Fprintf(w, " (%s)", plusMinus(r.Expected.Throughput))
	}
	fmt.Fprintln(w)
	if r.Limited() {
		fmt.Fprintf(w, "Goodput         %.2f requests/s, %.1f %% within the limits\n", s.GoodRate, 100*s.GoodShare)
		fmt.Fprintf(w, "Limits          kept by mean TTFT and TPOT with a probability of %s\n", chance(r.Chance()))
	}
	engineUse(w, r)
	fmt.Fprintf(w, "Intervals       of 80 %%, from %s\n", r.Expected.Basis)
	tables(w, r.Tables)
	for _, n := range r.Model.Notes {
		fmt.Fprintf(w, "Note            %s\n", n)
	}
	if r.InStep() {
		fmt.Fprintln(w, "Note            equal lengths keep requests in step, more than real clients do: TTFT is that of whole waves; --length-ratio-low 0.8 draws them as benchmarks do")
	}
	fmt.Fprintf(w, "Basis           a simulation with prices of tier %s, not a measurement\n", r.Tier)
	if v.Plots {
		timeline(w, s, v)
	}
}

// engineUse says how busy and how full the engine was.
func engineUse(w io.Writer, r *app.SimulateResponse) {
	use, prompts := pools(r.Result)
	fmt.Fprintf(w, "Engine          %.0f %% busy; KV cache of %d tokens %.0f %% full on average, %.0f %% at most; %d preemptions\n",
		100*use.Busy, r.Memory.Tokens, 100*use.KVMean, 100*use.KVPeak, use.Preemptions)
	m := &r.Memory
	fmt.Fprintf(w, "Memory          %s a device, share %g (of %s): weights %s, activations %s, workspace %s, KV cache %s at %s a token",
		m.Memory, m.Share, m.ShareOf, m.Weights, m.Activation, m.Workspace, m.KV, m.PerToken)
	if m.States > 0 {
		fmt.Fprintf(w, ", states %s", m.States)
	}
	fmt.Fprintln(w)
	if r.Result.Decode != nil {
		fmt.Fprintf(w, "Prefill         %.0f %% busy\n", 100*prompts.Busy)
	}
}

// timeline draws requests waiting and running over time.
func timeline(w io.Writer, s *sim.Result, v OptimizeView) {
	p := termplot.Plot{Width: v.Width, Height: 14, Color: v.Color}
	p.Title, p.XLabel, p.YLabel = "Requests over time", "s", "requests"
	var waiting, running scatter.Series // without names: the legend says what solid points and dots are
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
