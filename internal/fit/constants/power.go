package constants

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// PowerFit is constants of power fitted to measured rows, and their errors.
type PowerFit struct {
	power.Fitted
	// Systems are the errors by system, the last of all rows.
	Systems []PowerErrors
	// Numbers is how many were fitted, Rows to how many rows.
	Numbers, Rows int
	// Left are the generations with too few rows, which are not fitted.
	Left []string
}

// PowerErrors is how far predictions lie from measured rows of a system.
type PowerErrors struct {
	System string
	// Fitted are errors of the fitted rows, Configurations of rows whose configuration
	// was held out, Cells of rows whose cell was held out.
	Fitted, Configurations, Cells PowerError
}

// PowerError is the error of joules per output token, and that of power alone: at the
// measured throughput.
type PowerError struct{ Joules, Watts measured.Errors }

const (
	// powerScale is the error beyond which a row counts less than its square.
	powerScale = 0.1
	// powerSteps bounds the steps of a fit.
	powerSteps = 60
	// factorWidth is how far the factor of a kind of kernels is believed to lie from one, in
	// logarithms. From 0.15 to 0.6 it changes no error by more than 0.01.
	factorWidth = 0.15
	// powerFolds is in how many parts configurations are held out.
	powerFolds = 5
	// FewestPowerRows is the least that a generation is fitted to.
	FewestPowerRows = 10
)

// powerStart is where fits start, and how far constants are believed to lie from it,
// in logarithms. Idle, memory and compute are those of an H200 as nvidia-smi shows its
// power: 121 W with nothing to do but a context (130 W under small kernels one after the
// other), 552 W at 4.24 TB/s of a copy and 332 W at half of that, 536 W at 384 Tflop/s of
// a bf16 product (PyTorch 2.11). Active and link are guesses, believed little.
func powerStart() (start power.Constants, width [5]float64) {
	return power.Constants{Idle: 0.17, Active: 0.1, Memory: 100, Compute: 1.1, Link: 1000}, [5]float64{0.2, 0.7, 0.4, 0.3, 1}
}

// FitPower fits the constants of power, by generation, and the factors of kinds of kernels, by
// robust regularized least squares on the logarithm of measured power. Everything is
// evaluated at the measured throughput, so that errors of time do not enter.
func FitPower(ctx context.Context, rows []measured.Metered) *PowerFit {
	out := &PowerFit{Fitted: power.Fitted{Generations: map[string]power.Constants{}, Factors: map[string]float64{}}}
	byGeneration := map[string][]*measured.Metered{}
	for i := range rows {
		g := rows[i].Device.Generation
		byGeneration[g] = append(byGeneration[g], &rows[i])
	}
	var all []heldOut
	for _, g := range slices.Sorted(maps.Keys(byGeneration)) {
		of := byGeneration[g]
		if len(of) < FewestPowerRows {
			out.Left = append(out.Left, g)
			continue
		}
		c, factors := fitGeneration(ctx, of)
		out.Generations[g] = c
		maps.Copy(out.Factors, factors)
		out.Numbers += len(c.Values()) + len(factors)
		out.Rows += len(of)
		all = append(all, holdOut(ctx, of, c, factors)...)
	}
	out.sumUp(all)
	return out
}

// fitGeneration fits one generation.
func fitGeneration(ctx context.Context, rows []*measured.Metered) (power.Constants, map[string]float64) {
	var kinds []string
	at := make([]int, len(rows))
	for i, r := range rows {
		if at[i] = slices.Index(kinds, r.Kind); at[i] < 0 {
			at[i] = len(kinds)
			kinds = append(kinds, r.Kind)
		}
	}
	start, widths := powerStart()
	var c power.Constants
	n := len(widths)
	set := func(z []float64) {
		for i, v := range c.Values() {
			*v = math.Exp(z[i])
		}
	}
	d := descent{
		scale: powerScale, steps: powerSteps, width: slices.Concat(widths[:], slices.Repeat([]float64{factorWidth}, len(kinds))),
		weight: func(int) float64 { return 1 },
		residuals: func(z []float64) []float64 {
			set(z)
			out := make([]float64, len(rows))
			for i, r := range rows {
				out[i] = math.Log(watts(r, &c, math.Exp(z[n+at[i]]), r.Pace()) / r.Watts())
			}
			return out
		},
	}
	for _, v := range start.Values() {
		d.prior = append(d.prior, math.Log(*v))
	}
	d.prior = append(d.prior, make([]float64, len(kinds))...)
	z := d.minimize(ctx)
	set(z)
	factors := map[string]float64{}
	for i, name := range kinds {
		factors[name] = math.Exp(z[n+i])
	}
	return c, factors
}

// watts is the predicted mean power of a device of a row that works so many times as
// fast as predicted.
func watts(r *measured.Metered, c *power.Constants, factor, pace float64) float64 {
	m := power.With(r.Device, c).Scaled(factor)
	var total, devices float64
	for i := range r.Used {
		u := &r.Used[i]
		loads := u.Loads
		for k := range loads.Decode.Activity {
			loads.Decode.Activity[k] *= pace
			loads.Prefill.Activity[k] *= pace
		}
		total += float64(m.Mean(&loads, u.Busy)) * float64(u.Devices)
		devices += float64(u.Devices)
	}
	return total / devices
}

// heldOut is a row and predicted over measured values by each kind of fit.
type heldOut struct {
	row                         *measured.Metered
	fitted, configuration, cell [2]float64 // joules, watts
}

// ratios are predicted over measured joules per output token and watts.
func ratios(r *measured.Metered, c *power.Constants, factor float64) [2]float64 {
	joules := watts(r, c, factor, 1) / r.Watts() * r.Pace()
	return [2]float64{joules, watts(r, c, factor, r.Pace()) / r.Watts()}
}

// holdOut predicts the rows of a generation by the fit, by fits without their
// configuration, and by fits without their cell.
func holdOut(ctx context.Context, rows []*measured.Metered, c power.Constants, factors map[string]float64) []heldOut {
	out := make([]heldOut, len(rows))
	for i, r := range rows {
		out[i] = heldOut{row: r, fitted: ratios(r, &c, factors[r.Kind])}
	}
	without := func(held func(*measured.Metered) bool, put func(h *heldOut, x [2]float64)) {
		rest := slices.DeleteFunc(slices.Clone(rows), held)
		if len(rest) == 0 || len(rest) == len(rows) {
			return
		}
		c, factors := fitGeneration(ctx, rest)
		for i, r := range rows {
			if held(r) {
				put(&out[i], ratios(r, &c, cmp.Or(factors[r.Kind], 1)))
			}
		}
	}
	for k := range powerFolds {
		without(func(r *measured.Metered) bool { return calibrate.Fold(r.Row, powerFolds) == k },
			func(h *heldOut, x [2]float64) { h.configuration = x })
	}
	cells := map[string]bool{}
	for _, r := range rows {
		cells[r.Row.Cell()] = true
	}
	for cell := range cells {
		without(func(r *measured.Metered) bool { return r.Row.Cell() == cell }, func(h *heldOut, x [2]float64) { h.cell = x })
	}
	return out
}

// sumUp reports the errors and keeps the spread of those of held-out rows.
func (f *PowerFit) sumUp(all []heldOut) {
	systems := map[string][]heldOut{}
	for _, h := range all {
		systems[h.row.Device.Name] = append(systems[h.row.Device.Name], h)
	}
	for _, name := range slices.Sorted(maps.Keys(systems)) {
		f.Systems = append(f.Systems, powerErrors(name, systems[name]))
	}
	f.Systems = append(f.Systems, powerErrors("all", all))
	spread := func(of func(*heldOut) float64) [2]float64 {
		var logs []float64
		for i := range all {
			if x := of(&all[i]); x > 0 {
				logs = append(logs, -math.Log(x))
			}
		}
		if len(logs) == 0 {
			return [2]float64{}
		}
		q := quantile.Of(logs, 0.1, 0.9)
		return [2]float64{q[0], q[1]}
	}
	f.Known = spread(func(h *heldOut) float64 { return h.configuration[0] })
	f.Unseen = spread(func(h *heldOut) float64 { return h.cell[0] })
}

// powerErrors sums up rows.
func powerErrors(system string, rows []heldOut) PowerErrors {
	of := func(pick func(*heldOut) [2]float64) PowerError {
		var joules, watts []float64
		for i := range rows {
			if x := pick(&rows[i]); x[0] > 0 {
				joules, watts = append(joules, x[0]), append(watts, x[1])
			}
		}
		return PowerError{measured.SummarizeRatios(joules), measured.SummarizeRatios(watts)}
	}
	return PowerErrors{
		System: system,
		Fitted: of(func(h *heldOut) [2]float64 { return h.fitted }), Configurations: of(func(h *heldOut) [2]float64 { return h.configuration }),
		Cells: of(func(h *heldOut) [2]float64 { return h.cell }),
	}
}
