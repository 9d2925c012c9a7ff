package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/results"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// expected is the simulation of a run. Values stated by the run override the expected ones.
func (f *finder) expected(run *results.Run, s *started) (simulate.Request, error) {
	r := f.r.Expected
	if s != nil {
		if err := s.over(&r.Deployment); err != nil {
			return r, err
		}
	}
	var stated []string
	for _, x := range run.Settings {
		stated = append(stated, fmt.Sprintf("%s=%g", x.Key, x.Value))
	}
	r.Deployment.Engine.Settings = slices.Concat(stated, r.Deployment.Engine.Settings)
	if run.Concurrency > 0 || run.Rate > 0 {
		r.Concurrency, r.Rate, r.Trace, r.Requests = 0, 0, "", run.Requests
	}
	if run.Rate == 0 && run.Concurrency > 0 {
		r.Process, r.Variation = traffic.Poisson, 0
	}
	if run.Input > 0 && run.Output > 0 && len(r.Workloads) < 2 && r.InputLengths == nil && r.OutputLengths == nil {
		r.Input, r.Output, r.Workloads = 0, 0, nil
	}
	err := check.AsOf(run, &r)
	r.Requests = min(r.Requests, measured.MaxRequests)
	return r, err
}

// over replaces a deployment by the launched one; only names are kept.
func (s *started) over(d *deployment.Deployment) error {
	if s.err != nil {
		return fmt.Errorf("reading the launch files: %w", s.err)
	}
	given := *d
	*d = s.found.Deployment
	if given.Engine.Name != "" && given.Engine.Name != d.Engine.Name {
		return field.Errorf("%s is %s, but %s starts %s", field.Name("engine"), given.Engine.Name, strings.Join(s.files, ", "), d.Engine.Name)
	}
	d.Pools = slices.Clone(d.Pools)
	for i := range d.Pools {
		d.Pools[i].Replicas = max(1, d.Pools[i].Replicas) * max(1, s.found.Copies)
	}
	d.Model, d.System, d.AsFamily = cmp.Or(given.Model, d.Model), cmp.Or(given.System, d.System), cmp.Or(given.AsFamily, d.AsFamily)
	d.Engine.Version = cmp.Or(given.Engine.Version, d.Engine.Version)
	return nil
}

// usable reports why a run cannot be fitted.
func usable(run *results.Run, r *simulate.Request) error {
	d := &r.Deployment
	lengths := r.Workloads != nil || r.InputLengths != nil || r.Trace != "" || min(r.Input, r.Output) > 0
	switch {
	case max(run.TPOT.Mean, run.TPOT.Median, run.TTFT.Mean, run.TTFT.Median) <= 0:
		return errors.New("the result states neither TTFT nor TPOT")
	case run.Failed > 0:
		return fmt.Errorf("%d of %d requests failed", run.Failed, run.Failed+run.Requests)
	case d.Model == "":
		return field.Errorf("the model is unknown: give %s", field.Name("model"))
	case d.System == "" && r.DeviceFile == "":
		return field.Errorf("the device is unknown: give %s", field.Name("device"))
	case d.Engine.Name == "":
		return field.Errorf("the engine is unknown: give %s", field.Name("engine"))
	case !lengths:
		return field.Errorf("the result does not state lengths: give %s and %s", field.Name("input_length"), field.Name("output_length"))
	}
	return nil
}

// rowOf is the row of a run; its deployment is added later.
func rowOf(run *results.Run, r *simulate.Request, name string) *measured.Row {
	out := &measured.Row{
		ID: name, Source: string(run.Format), Version: r.Deployment.Engine.Version, Precision: r.Deployment.Formats.Checkpoint,
		Input: r.Input, Output: r.Output, LengthLow: r.LengthLow, Concurrency: r.Concurrency, Requests: r.Requests,
		KV: r.Deployment.Formats.KV, Acceptance: -1,
	}
	times := func(t results.Times) (units.Seconds, bool) {
		if t.Mean > 0 {
			return t.Mean, false
		}
		return t.Median, t.Median > 0
	}
	out.TTFT, out.TTFTMedian = times(run.TTFT)
	out.TPOT, out.TPOTMedian = times(run.TPOT)
	if out.Concurrency == 0 { // on average, by Little's law
		out.Concurrency = max(1, int(math.Round(r.Rate*float64(out.TTFT+units.Seconds(run.Output)*out.TPOT))))
	}
	return out
}

// Rows are the results as rows, and those that the columns cannot describe.
func (f *FoundResults) Rows() (rows []measured.Row, without []UnusedResult) {
	for i := range f.Used {
		u := &f.Used[i]
		row, err := u.row()
		if err != nil {
			without = append(without, UnusedResult{u.File, err})
			continue
		}
		rows = append(rows, row)
	}
	return rows, without
}

// row is a result as a row.
func (u *UsedResult) row() (measured.Row, error) {
	row, r := *u.Row, &u.Asked
	d := &r.Deployment
	pool := &d.Pools[0]
	only := d.Formats
	only.Checkpoint, only.KV = "", ""
	switch {
	case d.Disaggregated():
		return row, errors.New("prefill and decode workers have different settings")
	case r.Concurrency == 0 || r.Workloads != nil || r.InputLengths != nil || r.OutputLengths != nil:
		return row, errors.New("the load is not a concurrency with fixed lengths")
	case pool.Replicas > 1 || !measured.Cut(&pool.Layout):
		return row, errors.New("no columns for its replicas or layout")
	case r.DeviceFile != "" || only != (deployment.Formats{}) || pool.System != "" || pool.Formats != (deployment.Formats{}):
		return row, errors.New("no columns for its device file or number formats")
	}
	row.Drafted, row.Drafter = pool.MTP, pool.Drafter
	if u.Run.TotalRate > 0 {
		row.PerGPU = u.Run.TotalRate / float64(row.GPUs)
	}
	for _, s := range slices.Concat(d.Engine.Settings, pool.Settings) {
		key, value, _ := strings.Cut(s, "=")
		if err := row.Set(key, value); err != nil {
			return row, err
		}
	}
	return row, nil
}
