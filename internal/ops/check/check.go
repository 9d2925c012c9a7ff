package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/results"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Request is a measured run to compare with its prediction.
type Request struct {
	// File is the output of a load generator.
	File string `json:"file"`
	// Expected is the deployment and load to predict. Unset lengths and load are those of the run.
	Expected simulate.Request `json:"expected"`
}

// Response is the comparison of measured runs with their predictions. Times are in milliseconds.
type Response struct {
	File string       `json:"file"`
	Runs []CheckedRun `json:"runs"`
}

// CheckedRun is a run with its prediction.
type CheckedRun struct {
	Format      results.Format    `json:"format"`
	Request     *simulate.Request `json:"request"` // what was predicted
	Requests    int               `json:"requests"`
	Concurrency int               `json:"concurrency,omitempty"`
	Rate        float64           `json:"rate,omitempty"`
	Input       float64           `json:"mean_isl,omitempty"`
	Output      float64           `json:"mean_osl,omitempty"`
	Inside      bool              `json:"inside"` // all figures lie in their intervals
	Figures     []Figure          `json:"figures"`
	Causes      []Cause           `json:"causes"`
	Basis       string            `json:"basis"` // source of the intervals
	Notes       []string          `json:"notes"`
}

// Figure is a predicted figure and what was measured.
type Figure struct {
	Name      string           `json:"name"`
	Predicted figures.Estimate `json:"predicted"`
	Measured  float64          `json:"measured"`
	Ratio     float64          `json:"measured_over_predicted"`
	Inside    bool             `json:"inside"`
}

// Cause is an assumption that was changed, and the prediction with it.
type Cause struct {
	What string `json:"what"`
	// Stated says that the result itself shows the difference; otherwise it is a guess.
	Stated  bool     `json:"stated"`
	Figures []Figure `json:"figures"`
	// Left is the remaining share of the error; Explains says that it is small.
	Left     float64 `json:"error_left"`
	Explains bool    `json:"explains"`
	Failure  string  `json:"failure,omitempty"` // why it could not be simulated
}

// The names of figures.
const (
	FigureTTFT       = "TTFT"
	FigureTTFTMedian = "median TTFT"
	FigureTPOT       = "TPOT"
	FigureTPOTMedian = "median TPOT"
	FigureOutput     = "output tokens/s"
	FigureTotal      = "tokens/s"
)

// maxChecked bounds the runs of a file that are compared.
const maxChecked = 100

// Run compares the runs of a file with their predictions.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	runs, err := Runs(w, r.File)
	if err != nil {
		return nil, err
	}
	if len(runs) > maxChecked {
		return nil, session.BadInput(fmt.Errorf("%s has %d runs; the maximum is %d", r.File, len(runs), maxChecked))
	}
	out := &Response{File: r.File, Runs: []CheckedRun{}}
	for i := range runs {
		c, err := checkRun(ctx, w, &runs[i], r.Expected)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, *c)
	}
	return session.Finish(ctx, out, nil)
}

// Runs reads the runs of a file.
func Runs(w *session.Session, file string) ([]results.Run, error) {
	data, err := w.ReadFile(file, bound.Result)
	if err != nil {
		return nil, session.BadInput(fmt.Errorf("reading the result: %w", err))
	}
	runs, err := results.Read(data, file)
	return runs, session.BadInput(err)
}

// checkRun compares a run with its prediction, and tests explanations where it is
// outside the interval.
func checkRun(ctx context.Context, w *session.Session, run *results.Run, asked simulate.Request) (*CheckedRun, error) {
	quiet := *w
	quiet.Progress = nil
	out := &CheckedRun{
		Format: run.Format, Requests: run.Requests, Concurrency: run.Concurrency, Rate: run.Rate, Input: run.Input, Output: run.Output, Causes: []Cause{},
	}
	if err := AsOf(run, &asked); err != nil {
		return nil, err
	}
	base, err := simulate.Run(ctx, &quiet, asked)
	if err != nil {
		return nil, err
	}
	out.Request, out.Basis, out.Notes = &base.Request, base.Expected.Basis, append([]string{}, base.Notes...)
	if (run.Input == 0 || run.Output == 0) && asked.Workloads == nil && (asked.Input == 0 || asked.Output == 0) {
		out.Notes = append(out.Notes, fmt.Sprintf("the result does not state lengths: assuming %d and %d tokens", base.Request.Input, base.Request.Output))
	}
	out.Figures = compared(run, &base.Result, base)
	out.Inside = !slices.ContainsFunc(out.Figures, func(f Figure) bool { return !f.Inside })
	if out.Inside {
		return out, nil
	}
	before := distance(out.Figures)
	for _, c := range candidates(run, base) {
		e := Cause{What: c.what, Stated: c.stated, Figures: []Figure{}}
		changed := base.Request
		changed.Deployment.Pools = slices.Clone(changed.Deployment.Pools)
		c.change(&changed)
		w.Tell(session.Progress{Task: "testing: " + c.what})
		switch _, again, err := simulate.Once(ctx, &quiet, &changed); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			e.Failure = err.Error()
		default:
			e.Figures = compared(run, c.result(again), again)
			e.Left = distance(e.Figures) / before
			e.Explains = e.Left <= mostLeft
		}
		out.Causes = append(out.Causes, e)
	}
	slices.SortStableFunc(out.Causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(len(a.Failure), len(b.Failure)), cmp.Compare(a.Left, b.Left))
	})
	return out, nil
}

// mostLeft is the largest share of the error that an explanation may leave.
const mostLeft = 0.5

// AsOf fills unset fields of the request from a run.
func AsOf(run *results.Run, r *simulate.Request) error {
	// trtllm-bench runs the engine itself, others a server that may be any.
	if given := r.Deployment.Engine.Name; run.Format == results.TRTLLM && given != "" && given != run.Engine {
		return session.BadInput(field.Errorf("results of %s are of %s, but %s is %s", run.Format, run.Engine, field.Name("engine"), given))
	}
	asDeployed(run, r)
	r.Protocol = simulate.Benchmark // that of the measurement
	if r.Concurrency == 0 && r.Rate == 0 && r.Trace == "" {
		if r.Concurrency, r.Rate = run.Concurrency, run.Rate; r.Concurrency == 0 && r.Rate == 0 {
			return session.BadInput(field.Errorf("the result does not state its load: give %s or %s", field.Name("concurrency"), field.Name("rate")))
		}
		r.Requests = cmp.Or(r.Requests, run.Requests)
	}
	if r.Workloads == nil && r.InputLengths == nil && r.OutputLengths == nil && (r.Input == 0 || r.Output == 0) {
		r.LengthLow = cmp.Or(r.LengthLow, run.LengthLow, 1)
		longest := 2 / (1 + r.LengthLow) // over the mean
		r.Input, r.Output = cmp.Or(r.Input, tokens(run.Input*longest)), cmp.Or(r.Output, tokens(run.Output*longest))
	}
	return nil
}

// asDeployed fills unset names and the layout from a run.
func asDeployed(run *results.Run, r *simulate.Request) {
	d := &r.Deployment
	d.Model, d.Engine.Name = cmp.Or(d.Model, run.Model), cmp.Or(d.Engine.Name, run.Engine)
	if d.Engine.Version == "" && d.Engine.Name == run.Engine {
		if _, err := engine.LookupVersion(run.Engine, run.Version); err == nil { // not that of a build from source
			d.Engine.Version = run.Version
		}
	}
	if d.System == "" && r.DeviceFile == "" && run.System != "" {
		if p, err := device.Lookup(run.System); err == nil {
			d.System = p.Name
		}
	}
	if len(d.Pools) == 0 {
		d.Pools = []deployment.Pool{{}}
	}
	l := d.Pools[0].Layout
	if run.TP == 0 || len(d.Pools) > 1 || l.Devices > 1 || max(l.TP, l.DP, l.PP, l.EP, l.MoETP) > 1 || l.TP > 0 {
		return
	}
	d.Pools = slices.Clone(d.Pools)
	d.Pools[0].Layout = parallel.Layout{TP: run.TP, DP: run.DP, EP: run.EP}
}

// tokens is a mean number of them, in whole ones.
func tokens(mean float64) int { return int(math.Round(min(mean, session.MaxTokens))) }

// compared are the figures that both sides have: means, or medians if only those were measured.
func compared(run *results.Run, s *statistics.Result, r *simulate.Response) []Figure {
	out, e := []Figure{}, &r.Means
	add := func(name string, predicted, is float64, by calibration.Error, unit float64) {
		if predicted > 0 && is > 0 {
			x := by.Of(predicted)
			out = append(out, Figure{name, x.Times(unit), unit * is, is / predicted, is >= x.Low && is <= x.High})
		}
	}
	const ms = 1e3
	times := func(mean, median string, predicted *statistics.Summary, is *results.Times, by, half calibration.Error) {
		if is.Mean > 0 {
			add(mean, float64(predicted.Mean), float64(is.Mean), by, ms)
			return
		}
		add(median, float64(predicted.P50), float64(is.Median), half, ms)
	}
	median := r.At(50)
	times(FigureTTFT, FigureTTFTMedian, &s.TTFT, &run.TTFT, e.TTFT, median.TTFT)
	times(FigureTPOT, FigureTPOTMedian, &s.TPOT, &run.TPOT, e.TPOT, median.TPOT)
	if run.Format == results.Requests || run.Format == results.Records {
		percentiles(FigureTTFT, &s.TTFT, run.TTFTs, func(name string, p, predicted, is float64) { add(name, predicted, is, r.At(p).TTFT, ms) })
		percentiles(FigureTPOT, &s.TPOT, run.TPOTs, func(name string, p, predicted, is float64) { add(name, predicted, is, r.At(p).TPOT, ms) })
	}
	if run.OutputRate > 0 {
		add(FigureOutput, s.OutputRate, run.OutputRate, e.Throughput, 1)
	} else {
		add(FigureTotal, s.InputRate+s.OutputRate, run.TotalRate, e.Throughput, 1)
	}
	return out
}

// Figures compares a run with the prediction of a request, which is complete but for what the run states.
func Figures(ctx context.Context, w *session.Session, run *results.Run, asked simulate.Request) ([]Figure, error) {
	if err := AsOf(run, &asked); err != nil {
		return nil, err
	}
	_, r, err := simulate.Once(ctx, w, &asked)
	if err != nil {
		return nil, err
	}
	return compared(run, &r.Result, r), nil
}

// percentiles compares those of single requests.
func percentiles(name string, predicted *statistics.Summary, all []units.Seconds, add func(name string, p, predicted, is float64)) {
	if len(all) == 0 {
		return
	}
	is := quantile.Of(slices.Clone(all), 0.5, 0.95, 0.99)
	for i, p := range []float64{50, 95, 99} {
		add(fmt.Sprintf("%s p%g", name, p), p, float64(predicted.Percentile(p)), float64(is[i]))
	}
}

// distance is how far measurements lie from predictions: the mean of |ln(measured /
// predicted)|.
func distance(all []Figure) float64 {
	sum := 0.0
	for i := range all {
		sum += math.Abs(math.Log(all[i].Ratio))
	}
	return sum / float64(max(1, len(all)))
}

// afterFirst is the result without the first requests, those in flight at the start.
func afterFirst(r *simulate.Response) *statistics.Result {
	n := r.Request.Concurrency
	all := r.Result.Records
	if n == 0 || len(all) <= n {
		return &r.Result
	}
	out := r.Result
	var sum units.Seconds
	for i := range all[n:] {
		sum += all[n+i].TTFT
	}
	out.TTFT.Mean = sum / units.Seconds(len(all)-n)
	return &out
}
