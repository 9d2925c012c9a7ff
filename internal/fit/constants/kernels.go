package constants

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Kernels are the measured kernels of one device.
type Kernels struct {
	Device  *device.Profile
	Samples []table.Sample
}

// KernelErrors is how far a form lies from measured kernels of one format: with
// the constants shipped, and with fitted ones.
type KernelErrors struct {
	Generation, Form, Format string
	Rows                     int
	Shipped, Fitted          measured.Errors
}

// forms are the forms of products, of experts and of exchanges by format, those of other formats under "".
//
//nolint:gochecknoglobals // a constant table
var forms = map[string]map[string]string{
	table.FormProduct: {"fp8": "gemm.fp8", "fp8_block": "gemm.block", "nvfp4": "gemm.fp4", "": "gemm.wide"},
	table.FormExperts: {
		"fp8": "experts.fp8", "fp8_block": "experts.block", "nvfp4": "experts.fp4", "w4a8_mxfp4_mxfp8": "experts.w4a8",
		"w4a16_mxfp4": "experts.w4a16", "int4_wo": "experts.w4a16", "int8_wo": "experts.w4a16", "": "experts.wide",
	},
	table.FormPrefill: {"": "prefill"},
	table.FormComm:    {"all_reduce": "comm.reduce", "all_to_all": "comm.exchange", "": "comm.ring"},
}

// formOf is the form that prices a sample, and whether the form is fitted to it.
// The others are formats a form serves beside those it was made for.
func formOf(s *table.Sample) (form string, fitted bool) {
	form = cmp.Or(forms[s.Form][s.Format], forms[s.Form][""], s.Form)
	switch s.Form {
	case table.FormProduct:
		return form, form != "gemm.wide" || s.Format == "bfloat16"
	case table.FormExperts:
		return form, s.Format != "int8_wo"
	case table.FormPrefill:
		return form, s.Format == "bfloat16, cache bfloat16"
	}
	return form, true
}

// smallest is the least width of a weight matrix fitted: no layer of a model
// worth serving has narrower ones, while a third of the measured grid does.
const smallest = 256

// usual leaves out shapes no model has.
func usual(s *table.Sample) bool {
	o := &s.Ops[0]
	return s.Form != table.FormProduct && s.Form != table.FormExperts || o.Cols >= smallest && o.Depth >= smallest
}

// FitKernels fits the constants of the operator forms, by generation, to
// measured kernels: robust least squares on the logarithm of time, every device
// of a generation with equal weight. With a selection, what it chooses is taken;
// without one, every form, starting from the shipped constants.
func FitKernels(ctx context.Context, sets []Kernels, selection map[string]Choice) (map[string]calibrated.Constants, []KernelErrors, error) {
	byGeneration := map[string][]Kernels{}
	for _, s := range sets {
		g := s.Device.Generation
		byGeneration[g] = append(byGeneration[g], s)
	}
	constants := map[string]calibrated.Constants{}
	var errs []KernelErrors
	for _, g := range slices.Sorted(maps.Keys(byGeneration)) {
		shipped, ok := calibrated.Nearest(g)
		if !ok {
			continue
		}
		fitted := shipped
		choice, chosen := selection[g]
		if chosen {
			fitted = choice.Start
		}
		f := kernelFit{sets: byGeneration[g], constants: &fitted}
		for _, form := range fitted.Forms() {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			f.fit(ctx, form)
		}
		if chosen {
			fitted = choice.Take(fitted)
		}
		constants[g] = fitted
		errs = append(errs, compare(g, f.sets, &shipped, &fitted)...)
	}
	for g, choice := range selection { // of a generation without kernels nothing is fitted
		if _, ok := constants[g]; !ok {
			constants[g] = choice.Start
		}
	}
	return constants, errs, ctx.Err() // a fit may have ended early
}

// kernelFit fits the forms of one generation.
type kernelFit struct {
	sets      []Kernels
	constants *calibrated.Constants
}

const (
	// most is how many samples of a device a form is fitted to: every so many-th
	// of more, which moves no constant by a percent.
	most = 4000
	// kernelScale is the error beyond which a measurement counts less than its
	// square.
	kernelScale = 0.15
	// kernelWidth is how far constants are believed to lie from those shipped, in
	// logarithms: hardly any belief, but one parameter that nothing measures stays.
	kernelWidth = 1.5
	kernelSteps = 25
)

// fit moves the parameters of one form, in logarithms.
func (f *kernelFit) fit(ctx context.Context, form calibrated.FittedForm) {
	samples := f.choose(form.Name)
	if len(samples) == 0 {
		return
	}
	p := form.Parameters
	prior := make([]float64, len(p))
	for i := range p {
		prior[i] = math.Log(math.Min(p[i].High, math.Max(p[i].Low, *p[i].Value)))
	}
	set := func(z []float64) {
		for i := range p {
			*p[i].Value = math.Exp(math.Min(math.Log(p[i].High), math.Max(math.Log(p[i].Low), z[i])))
		}
	}
	d := descent{
		prior: prior, width: slices.Repeat([]float64{kernelWidth}, len(p)), scale: kernelScale, steps: kernelSteps,
		weight: func(i int) float64 { return samples[i].weight },
		residuals: func(z []float64) []float64 {
			set(z)
			return f.residuals(samples)
		},
	}
	set(d.minimize(ctx))
}

// kernelSample is a sample to fit, with its device and weight.
type kernelSample struct {
	set    int
	sample *table.Sample
	weight float64
}

// choose takes a form's samples, as many of each device and format.
func (f *kernelFit) choose(form string) []kernelSample {
	var out []kernelSample
	for i := range f.sets {
		byFormat := map[string][]*table.Sample{}
		for k := range f.sets[i].Samples {
			s := &f.sets[i].Samples[k]
			if name, fitted := formOf(s); name == form && fitted && usual(s) {
				byFormat[s.Format] = append(byFormat[s.Format], s)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byFormat)) {
			all := byFormat[name]
			every := (len(all) + most - 1) / most
			for k := 0; k < len(all); k += every {
				out = append(out, kernelSample{set: i, sample: all[k], weight: float64(every) * most / float64(len(all)) / float64(len(f.sets))})
			}
		}
	}
	return out
}

// residuals are the logarithms of predicted over measured times.
func (f *kernelFit) residuals(samples []kernelSample) []float64 {
	models := make([]*calibrated.Model, len(f.sets))
	for i := range f.sets {
		models[i] = calibrated.With(f.sets[i].Device, f.constants)
	}
	out := make([]float64, len(samples))
	for i := range samples {
		out[i] = math.Log(ratio(models[samples[i].set], samples[i].sample))
	}
	return out
}

// ratio is predicted over measured time.
func ratio(m *calibrated.Model, s *table.Sample) float64 {
	var t float64
	for i := range s.Ops {
		t += float64(m.Cost(&s.Ops[i]).Total)
	}
	return t / float64(s.Seconds)
}

// compare sums up the errors of two sets of constants by form and format, over
// all samples.
func compare(generation string, sets []Kernels, shipped, fitted *calibrated.Constants) []KernelErrors {
	type key struct{ form, format string }
	was, is := map[key][]float64{}, map[key][]float64{}
	for i := range sets {
		a, b := calibrated.With(sets[i].Device, shipped), calibrated.With(sets[i].Device, fitted)
		for k := range sets[i].Samples {
			s := &sets[i].Samples[k]
			if !usual(s) {
				continue
			}
			form, _ := formOf(s)
			at := key{form, s.Format}
			was[at] = append(was[at], ratio(a, s))
			is[at] = append(is[at], ratio(b, s))
		}
	}
	var out []KernelErrors
	for at, errs := range was {
		out = append(out, KernelErrors{generation, at.form, at.format, len(errs), measured.SummarizeRatios(errs), measured.SummarizeRatios(is[at])})
	}
	slices.SortFunc(out, func(a, b KernelErrors) int {
		return cmp.Or(cmp.Compare(a.Form, b.Form), cmp.Compare(a.Format, b.Format))
	})
	return out
}
