package measure

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/results"
	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// OutcomeSchema names the format of an [Outcome].
const OutcomeSchema = "plimsoll/measured/1"

// Outcome is what runs say about a decision.
type Outcome struct {
	Schema string `json:"schema"`
	Folder string `json:"folder"`
	// Sentence is the result in plain words.
	Sentence string `json:"sentence"`
	// Changed says that another deployment is the best; Best are the best before and after.
	Changed bool        `json:"changed"`
	Best    [2]string   `json:"best"`
	Runs    []Compared  `json:"runs"`
	Missing []string    `json:"missing"` // runs without a usable result, each with the reason
	Options []OptionNow `json:"options"` // the best first
	// Wrong is the chance of a wrong choice before and after.
	Wrong [2]float64 `json:"wrong_choice"`
	// Fit is what the multipliers of the calibration come from; "" if there is none.
	Fit     string   `json:"fit,omitempty"`
	Notes   []string `json:"notes"`
	Caution string   `json:"caution"`

	// Overlay is the calibration with the user's own runs; nil if nothing could be fitted.
	Overlay *calibration.Overlay `json:"-"`
}

// Compared is a run with its result.
type Compared struct {
	ID      string         `json:"id"`
	File    string         `json:"file"`
	Option  string         `json:"option"`
	Figures []check.Figure `json:"figures"`
	// Refitted are the same with the calibration from these runs.
	Refitted []check.Figure `json:"refitted"`
	Inside   bool           `json:"inside"`
}

// OptionNow is an option before and after.
type OptionNow struct {
	Name   string           `json:"name"`
	Before figures.Estimate `json:"before"`
	After  figures.Estimate `json:"after"`
	// Best are the chances that no option carries more.
	Best [2]float64 `json:"chance_of_best"`
	Runs int        `json:"runs"` // that measured it
}

// fitted is the name under which the calibration from the runs is read.
const fitted = "measure:fit"

// Read compares the results in a folder that [Response.Files] wrote with what was predicted, refits, and decides again.
func Read(ctx context.Context, w *session.Session, folder string) (*Outcome, error) {
	before, err := readRecord(w, folder)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Schema: OutcomeSchema, Folder: folder, Runs: []Compared{}, Missing: []string{}, Options: []OptionNow{}, Notes: []string{}, Caution: session.Caution}
	now, err := consider(ctx, w, before.Request)
	if err != nil {
		return nil, err
	}
	runs, err := out.find(ctx, w, before, folder)
	if err != nil {
		return nil, err
	}
	if len(out.Runs) == 0 && !slices.ContainsFunc(out.Missing, func(m string) bool { return !strings.HasSuffix(m, errNoResult.Error()) }) {
		return nil, session.BadInput(fmt.Errorf("%s has no results: run %s first", folder, ScriptFile))
	}
	if len(out.Runs) == 0 {
		return nil, session.BadInput(fmt.Errorf("%s has no result that can be used: %s", folder, strings.Join(out.Missing, "; ")))
	}
	again, err := out.refit(ctx, w, now, runs, folder)
	if err != nil {
		return nil, err
	}
	out.decide(now, again, runs)
	return session.Finish(ctx, out, nil)
}

// readRecord reads what was to be measured.
func readRecord(w *session.Session, folder string) (*Response, error) {
	data, err := w.Read("from", filepath.Join(folder, RecordFile), bound.Record)
	if err != nil {
		return nil, err
	}
	var out Response
	if err := bound.Decode(data, bound.JSONObjects, &out); err != nil {
		return nil, session.BadInput(fmt.Errorf("%s: %w", filepath.Join(folder, RecordFile), err))
	}
	if out.Schema != Schema {
		return nil, session.BadInput(fmt.Errorf("%s: schema is %q, want %q: write the folder again", filepath.Join(folder, RecordFile), out.Schema, Schema))
	}
	return &out, nil
}

// ran is a run with its result.
type ran struct {
	Run
	file string
	// refitted is ln(measured/predicted) with the calibration from the runs; NaN where it was not measured.
	refitted [quantities]float64
}

// find finds the results of the runs and compares them with what was predicted.
func (o *Outcome) find(ctx context.Context, w *session.Session, x *Response, folder string) ([]ran, error) {
	var out []ran
	for i := range x.Runs {
		run := &x.Runs[i]
		file, err := resultOf(w, folder, run)
		if err == nil {
			var figures []check.Figure
			if figures, err = compare(ctx, w, file, run, x.Request.Plan.Sources); err == nil {
				out = append(out, ran{Run: *run, file: file})
				inside := !slices.ContainsFunc(figures, func(f check.Figure) bool { return !f.Inside })
				o.Runs = append(o.Runs, Compared{ID: run.ID, File: file, Option: run.Option, Figures: figures, Refitted: []check.Figure{}, Inside: inside})
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			o.Missing = append(o.Missing, run.ID+": "+err.Error())
		}
	}
	return out, nil
}

// errNoResult is of a run without a file.
var errNoResult = errors.New("no result: the run was not started, or ended early")

// resultOf finds the file that a load generator wrote for a run: the one that the script names, or one in a folder of that name, as AIPerf has it.
func resultOf(w *session.Session, folder string, run *Run) (string, error) {
	dir := w.Dir(folder)
	for _, end := range []string{".json", ".jsonl", ".csv"} {
		if _, err := fs.Stat(dir, run.ID+end); err == nil {
			return filepath.Join(folder, filepath.FromSlash(run.ID+end)), nil
		}
	}
	entries, err := fs.ReadDir(dir, run.ID)
	if err != nil {
		return "", errNoResult
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, "profile_export") && path.Ext(name) == ".json" {
			return filepath.Join(folder, filepath.FromSlash(run.ID), name), nil
		}
	}
	return "", fmt.Errorf("no result in %s", run.ID)
}

// compare compares the result of a run with its prediction.
func compare(ctx context.Context, w *session.Session, file string, run *Run, s session.Sources) ([]check.Figure, error) {
	runs, err := check.Runs(w, file)
	if err != nil {
		return nil, err
	}
	one, err := the(runs, run)
	if err != nil {
		return nil, err
	}
	return check.Figures(ctx, w.Quiet(), one, run.request(s))
}

// the is the run of a file that is the one asked for.
func the(runs []results.Run, run *Run) (*results.Run, error) {
	at := slices.IndexFunc(runs, func(r results.Run) bool { return r.Concurrency == run.Concurrency })
	if at < 0 && len(runs) == 1 && runs[0].Concurrency == 0 {
		at = 0
	}
	if at < 0 {
		return nil, fmt.Errorf("the result is of %d requests in flight, the run has %d", runs[0].Concurrency, run.Concurrency)
	}
	if n := runs[at].Failed; n > 0 {
		return nil, fmt.Errorf("%s failed", units.Counted(n, "request"))
	}
	return &runs[at], nil
}

// errorsOf are the logarithms of measured to predicted times.
func errorsOf(figures []check.Figure) [quantities]float64 {
	out := [quantities]float64{math.NaN(), math.NaN()}
	for i := range figures {
		switch figures[i].Name {
		case check.FigureTTFT, check.FigureTTFTMedian:
			out[ttft] = math.Log(figures[i].Ratio)
		case check.FigureTPOT, check.FigureTPOTMedian:
			out[tpot] = math.Log(figures[i].Ratio)
		}
	}
	return out
}

// refit fits a calibration to the runs, and considers the decision with it. Without a fit the decision is as before.
func (o *Outcome) refit(ctx context.Context, w *session.Session, now *Response, runs []ran, folder string) (*Response, error) {
	plain := w.Quiet()
	plain.Memo = nil // it knows files by their name, and the calibration under this name changes
	q := now.Request
	for i := range runs {
		engine := runs[i].Deployment.Engine.Name
		if slices.ContainsFunc(runs[:i], func(r ran) bool { return r.Deployment.Engine.Name == engine }) {
			continue
		}
		// Engines are fitted one by one: those of another say nothing about how far a fit to a few runs can be trusted.
		overlay, err := fit(ctx, plain, &q, runs, engine)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			o.Notes = append(o.Notes, fmt.Sprintf("the runs of %s do not change the calibration: %v", engine, err))
			continue
		}
		overlay.Source = "plimsoll measure --from " + folder
		var data bytes.Buffer
		if err := overlay.Write(&data); err != nil {
			return nil, err
		}
		plain = plain.Over(func(name string) ([]byte, bool) { return data.Bytes(), name == fitted })
		o.Overlay, o.Fit, q.Plan.Calibration = overlay, overlay.Source, fitted
	}
	for i := range runs {
		figures, err := compare(ctx, plain, runs[i].file, &runs[i].Run, q.Plan.Sources)
		if err != nil {
			return nil, err
		}
		runs[i].refitted, o.Runs[i].Refitted = errorsOf(figures), figures
	}
	if o.Overlay == nil {
		return now, nil
	}
	return consider(ctx, plain, q)
}

// fit fits a calibration to the runs of an engine, on top of that of the request.
func fit(ctx context.Context, w *session.Session, q *Request, runs []ran, engine string) (*calibration.Overlay, error) {
	r := calibrate.Request{Calibration: q.Plan.Calibration}
	for i := range runs {
		if runs[i].Deployment.Engine.Name == engine {
			expected := runs[i].request(session.Sources{DeviceFile: q.Plan.DeviceFile, PerfData: q.Plan.PerfData})
			r.More = append(r.More, calibrate.ResultsRequest{Folders: []string{runs[i].file}, Expected: expected, Whole: true})
		}
	}
	got, err := calibrate.Run(ctx, w, r)
	if err != nil {
		return nil, err
	}
	if got.Unchanged {
		return nil, errors.New("none of them is predicted better by a fit to the others")
	}
	return got.Overlay, nil
}

// decide compares the decision before with that after. What a refit leaves of the measured errors moves the predictions of the
// measured deployments, and of others as far as errors go together; what remains unknown is the interval after.
func (o *Outcome) decide(before, after *Response, runs []ran) {
	after.sigmas(before)
	d := after.decision
	var at [quantities][]int
	var off [quantities][]float64
	for i := range runs {
		k := after.nearest(runs[i].Option, float64(runs[i].Concurrency)/float64(runs[i].GPUs))
		if k < 0 {
			continue
		}
		for q := range quantities {
			if x := runs[i].refitted[q]; !math.IsNaN(x) && !slices.Contains(at[q], k) {
				at[q], off[q] = append(at[q], k), append(off[q], x)
			}
		}
	}
	posterior := d.given(at, off)
	expected := d.values(&posterior.mean)
	choice, wrong := largest(expected), 0.0
	drawn := make([][]float64, len(posterior.drawn))
	for k := range drawn {
		v := d.values(&posterior.drawn[k])
		if v[choice] < (1-negligible)*v[largest(v)] {
			wrong++
		}
		drawn[k] = v
	}
	carried, best := carriedOf(expected, drawn)
	for i := range after.Options {
		now := OptionNow{Name: after.Options[i].Name, After: carried[i]}
		now.Best[1] = best[i]
		if k := slices.IndexFunc(before.Options, func(p Option) bool { return p.Name == now.Name }); k >= 0 {
			now.Before, now.Best[0] = before.Options[k].Tokens, before.Options[k].Best
		}
		for k := range runs {
			if runs[k].Option == now.Name {
				now.Runs++
			}
		}
		o.Options = append(o.Options, now)
	}
	slices.SortStableFunc(o.Options, func(a, b OptionNow) int { return cmp.Compare(b.After.Value, a.After.Value) })
	o.Best = [2]string{before.Options[0].Name, o.Options[0].Name}
	o.Changed = o.Best[0] != o.Best[1]
	o.Wrong = [2]float64{before.Wrong, wrong / float64(len(posterior.drawn))}
	o.Sentence = o.inWords(before)
}

// inWords is the result in a sentence or two.
func (o *Outcome) inWords(before *Response) string {
	var first string
	was, is := before.Options[0].Tokens, o.Options[0].After
	switch {
	case o.Changed:
		first = fmt.Sprintf("Your decision changed: %s instead of %s.", o.Best[1], o.Best[0])
		if k := slices.IndexFunc(o.Options, func(x OptionNow) bool { return x.Name == o.Best[0] }); k >= 0 {
			first = fmt.Sprintf("Your decision changed: %s carries %.0f output tokens/s per GPU within the limits, %s only %.0f.", o.Best[1], is.Value, o.Best[0], o.Options[k].After.Value)
		}
	case len(o.Options) == 1:
		first = fmt.Sprintf("There is only one deployment to choose: %s.", o.Best[1])
	default:
		first = fmt.Sprintf("Your decision did not change: %s.", o.Best[1])
	}
	first += fmt.Sprintf(" It carries %.0f output tokens/s per GPU (%.0f to %.0f); before, the best was expected to carry %.0f (%.0f to %.0f).",
		is.Value, is.Low, is.High, was.Value, was.Low, was.High)
	if len(o.Options) > 1 {
		first += fmt.Sprintf(" The probability of a wrong choice changed from %.0f to %.0f %%.", 100*o.Wrong[0], 100*o.Wrong[1])
	}
	return first
}

// sigmas takes the errors to expect from before the runs: a fit to few of them says nothing about its own errors.
func (x *Response) sigmas(before *Response) {
	points := x.decision.belief.points
	for i := range points {
		if k := before.nearest(x.nameAt(i), points[i].load); k >= 0 {
			points[i].sigma = before.decision.belief.points[k].sigma
		}
	}
	x.decision.belief = newBelief(points)
}

// nameAt is the option of a point.
func (x *Response) nameAt(k int) string {
	for i := range x.decision.options {
		if o := &x.decision.options[i]; k >= o.first && k < o.first+len(o.speeds) {
			return x.Options[i].Name
		}
	}
	return ""
}

// nearest is the point of an option with the nearest load; -1 if the option is gone.
func (x *Response) nearest(option string, load float64) int {
	at, near := -1, math.Inf(1)
	for k := range x.decision.belief.points {
		if d := math.Abs(math.Log(x.decision.belief.points[k].load / load)); x.nameAt(k) == option && d < near {
			at, near = k, d
		}
	}
	return at
}

// known is what is believed of all errors after runs.
type known struct {
	mean  [quantities][]float64
	drawn [][quantities][]float64
}

// given is the belief after errors were measured at some points: their mean, and worlds drawn from it.
func (d *decision) given(at [quantities][]int, off [quantities][]float64) known {
	var out known
	n := len(d.belief.points)
	var weights [quantities][][]float64
	for q := range quantities {
		weights[q] = d.belief.weights(q, at[q])
		out.mean[q] = make([]float64, n)
		for i := range n {
			for j := range at[q] {
				out.mean[q][i] += weights[q][i][j] * off[q][j]
			}
		}
	}
	d.draw()
	// A draw of what is known before becomes one of what is known after if it is moved by what the runs would have said of it.
	for k := range d.drawn {
		w := &d.drawn[k]
		var moved [quantities][]float64
		for q := range quantities {
			moved[q] = make([]float64, n)
			for i := range n {
				moved[q][i] = w.off[q][i]
				for j, y := range at[q] {
					moved[q][i] += weights[q][i][j] * (off[q][j] - w.off[q][y] - w.noise[q][y])
				}
			}
		}
		out.drawn = append(out.drawn, moved)
	}
	return out
}
