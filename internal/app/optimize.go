package app

import (
	"slices"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/rank"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
)

// OptimizeResponse is the answer to an OptimizeRequest.
type OptimizeResponse struct {
	Request *OptimizeRequest
	Model   *model.Model
	Devices []DeviceResult
	// Tables are the measured kernels used, nil without any.
	Tables *TableUse

	prices *prices
}

// DeviceResult is the search on one device.
type DeviceResult struct {
	Device *device.Profile
	// Passes are the phases searched: one aggregated, or prefill, decode or both.
	Passes []Pass
	// Ratio is the matching of prefill and decode, where asked for.
	Ratio *Ratio
}

// Pass is one search.
type Pass struct {
	Mode       search.Mode
	NumDevices int
	Limits     search.Limits
	Problem    *search.Problem
	// Pricing is how operators were priced where no table covers them, Tier how
	// well their prices are known.
	Pricing Pricing
	Tier    device.Tier
	// Measured is the share of the best row's step that measured kernels priced.
	Measured float64
	// Results are all candidates in the order of enumeration, Rows the feasible
	// ones, best first.
	Results []search.Result
	Rows    []*search.Result
	// Nearest is set when no row keeps the limits.
	Nearest *rank.Nearest
	// Artefacts are the policy entries that shaped the best row.
	Artefacts []Effect
	Notes     []string

	// Device and Overlay are what the errors to expect depend on besides.
	Device  *device.Profile
	Overlay *calibrate.Overlay
}

// Phase names a mode as programs read it.
func Phase(m search.Mode) string { return [...]string{"aggregated", "prefill", "decode"}[m] }

// Ratio is how prefill and decode instances are matched.
type Ratio struct {
	Pairs []rank.Pair
	// Instances of the best pair inside the device budget, zero when not one of
	// each fits.
	Instances serving.Instances
}

// Optimize finds the deployments that carry the most load within the limits.
func (w *World) Optimize(r *OptimizeRequest) (*OptimizeResponse, error) {
	m, err := w.Model(r.Model)
	if err != nil {
		return nil, err
	}
	if err := r.check(m); err != nil {
		return nil, badInput(err)
	}
	devices, err := w.devices(r)
	if err != nil {
		return nil, err
	}
	o, err := w.overlay(r.Calibration, false)
	if err != nil {
		return nil, err
	}
	prices, err := w.prices(r.PerfData)
	if err != nil {
		return nil, err
	}
	out := &OptimizeResponse{Request: r, Model: m, prices: prices}
	for _, d := range devices {
		res, err := r.onDevice(m, d, prices, o)
		if err != nil {
			return nil, badInput(err)
		}
		out.Devices = append(out.Devices, *res)
	}
	out.Tables, err = prices.used()
	return out, err
}

// onDevice runs the mode's passes on one device.
func (r *OptimizeRequest) onDevice(m *model.Model, d *device.Profile, prices *prices, o *calibrate.Overlay) (*DeviceResult, error) {
	out := &DeviceResult{Device: d}
	run := func(mode search.Mode, devices int, l search.Limits) (*Pass, error) {
		p, err := r.pass(m, d, prices, mode, devices, l)
		if err == nil {
			p.Overlay = o
			out.Passes = append(out.Passes, *p)
		}
		return p, err
	}
	if r.PDRatio {
		p, err := run(search.PrefillOnly, r.PrefillDevices, limits(r.TTFTLimit, 0))
		if err != nil {
			return nil, err
		}
		dec, err := run(search.DecodeOnly, r.DecodeDevices, limits(0, r.TPOTLimit))
		if err != nil {
			return nil, err
		}
		out.Ratio = r.match(p, dec)
		return out, nil
	}
	if !r.Disagg {
		_, err := run(search.Aggregated, r.NumDevices, limits(r.TTFTLimit, r.TPOTLimit))
		return out, err
	}
	if r.TTFTLimit > 0 {
		if _, err := run(search.PrefillOnly, r.NumDevices, limits(r.TTFTLimit, 0)); err != nil {
			return nil, err
		}
	}
	if r.TPOTLimit > 0 {
		if _, err := run(search.DecodeOnly, r.NumDevices, limits(0, r.TPOTLimit)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// match pairs the phases and divides the device budget.
func (r *OptimizeRequest) match(p, d *Pass) *Ratio {
	out := &Ratio{Pairs: rank.Pairs(p.Rows, d.Rows, r.Output)}
	if len(out.Pairs) > 0 && r.NumDevices >= r.PrefillDevices+r.DecodeDevices {
		out.Instances = serving.Split(out.Pairs[0].Ratio, r.NumDevices, r.PrefillDevices, r.DecodeDevices)
	}
	return out
}

// pass searches one mode on one device.
func (r *OptimizeRequest) pass(
	m *model.Model, d *device.Profile, prices *prices, mode search.Mode, devices int, l search.Limits,
) (*Pass, error) {
	how, err := r.on(d)
	if err != nil {
		return nil, err
	}
	p := r.problem(m, d, &how, mode, l)
	if p.Coster, err = prices.coster(d, how.pricing, &how.policy); err != nil {
		return nil, err
	}
	space := r.Space
	if mode == search.PrefillOnly {
		space.DCP = nil // context parallelism is for decode
	}
	resolved := space.Resolve(devices)
	resolved.MTP = unique(resolved.MTP)
	candidates := resolved.Enumerate(devices, m.HasExperts())
	if len(candidates) == 0 {
		return nil, errNoCombination(space, devices)
	}
	var progress func(int)
	if r.Progress != nil {
		progress = func(done int) { r.Progress(d.Name, mode, done, len(candidates)) }
	}
	out := &Pass{Mode: mode, NumDevices: devices, Limits: l, Problem: p, Pricing: how.pricing, Device: d}
	out.Results = p.Run(candidates, r.Jobs, progress)
	out.Tier = prices.tier(d, how.pricing)
	out.Rows = rank.Best(out.Results)
	if len(out.Rows) == 0 {
		out.Nearest = rank.Near(out.Results, l)
		return out, nil
	}
	shaped(out, out.Rows[0])
	return out, nil
}

// problem sets up a search.
func (r *OptimizeRequest) problem(m *model.Model, d *device.Profile, how *modelling, mode search.Mode, l search.Limits) *search.Problem {
	actions := graph.Actions{
		Linear: r.LinearAction, NonExpert: r.NonExpertAction, Attention: r.AttentionAction, MXFP4Group: r.MXFP4Group,
	}
	defaultActions(&actions, d)
	p := &search.Problem{
		Mode: mode,
		Spec: graph.Spec{
			Model: m, Policy: how.policy, Quant: graph.Resolve(m, how.policy, actions), Compile: how.compile,
			EmbeddingTP: r.EmbeddingTP, SharedExpertTP: r.SharedExpertTP,
			SequenceParallel: r.SequenceParallel, MatMulAllReduce: r.MatMulAllReduce, DispatchCombine: r.DispatchCombine,
			Draft:  r.Draft.graph(),
			Vision: how.policy.LoadsVision(m, r.ImageHeight > 0),
		},
		Memory: d.Memory, Reserved: units.Bytes(r.ReservedGiB) * units.GiB,
		Load: serving.Load{
			Input: r.Input, Distribution: r.Distribution, Output: r.Output, HitRate: r.PrefixHitRate,
			Budget: r.Budget, Accounting: r.Accounting, ServingCost: r.ServingCost,
		},
		AutoBudget: r.Budget == 0,
		Rates:      r.AcceptanceRates,
		Limits:     l,
		Range:      search.DefaultRange(),
		Tight:      r.PDRatio,
	}
	if r.Draft.Method != "" {
		p.Block, p.Accepted = r.Draft.Block, r.Draft.Accepted
		p.Suffix = r.Draft.label()
	}
	if n := len(r.BatchRange); n > 0 {
		p.Range = search.Range{Min: 1, Max: r.BatchRange[n-1], Given: true}
		if n == 2 {
			p.Range.Min = r.BatchRange[0]
		}
	}
	if r.ImageHeight > 0 {
		p.Images = graph.Images{
			Count: max(1, r.ImageBatch), Patches: m.Vision.Patches(r.ImageHeight, r.ImageWidth),
			Tokens: m.Vision.Tokens(r.ImageHeight, r.ImageWidth),
		}
	}
	return p
}

// unique drops repetitions and keeps the order.
func unique(all []int) []int {
	var out []int
	for _, n := range all {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
