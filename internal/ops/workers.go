package ops

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// layouts lists the layouts of workers that a space asks for on a device. Lists that
// are not given have the sizes that engines run: powers of two within the devices that
// share the fastest links, and for experts twice as many.
func (x *experiment) layouts(s *WorkerSpace, d *device.Profile) []parallel.Layout {
	experts := x.stage.Model.HasExperts()
	widest := min(d.Domain(), x.e.Devices)
	most := widest
	if experts {
		most = min(max(2*d.Domain(), 1), x.e.Devices)
	}
	sizes := given(s.Devices, powers(most))
	var out []parallel.Layout
	for _, n := range sizes {
		if n > x.e.Devices {
			continue
		}
		for _, tp := range given(s.TP, powers(min(n, widest))) {
			for _, pp := range given(s.PP, []int{1}) {
				if tp*pp > n || n%(tp*pp) != 0 {
					continue
				}
				l := parallel.Layout{Devices: n, TP: tp, PP: pp, DP: n / (tp * pp), MoEDP: 1, DCP: 1}
				if s.DP != nil && !slices.Contains(s.DP, l.DP) || !experts && l.DP > 1 {
					continue
				}
				out = append(out, x.expertLayouts(s, l, experts)...)
			}
		}
	}
	return out
}

// expertLayouts are the ways to spread the experts of a layout: whole over all devices
// of a stage, or in slices; with lists, all of their products.
func (x *experiment) expertLayouts(s *WorkerSpace, l parallel.Layout, experts bool) []parallel.Layout {
	if !experts {
		l.EP, l.MoETP = 1, 1
		return []parallel.Layout{l}
	}
	n := l.TP * l.DP
	var out []parallel.Layout
	for _, ep := range given(s.EP, []int{1, n}) {
		if ep > n || n%ep != 0 {
			continue
		}
		l.EP, l.MoETP = ep, n/ep
		if s.MoETP != nil && !slices.Contains(s.MoETP, l.MoETP) || slices.Contains(out, l) {
			continue
		}
		out = append(out, l)
	}
	return out
}

// given is a list, or its default.
func given[T any](list, otherwise []T) []T {
	if list != nil {
		return list
	}
	return otherwise
}

// powers are the powers of two up to a number.
func powers(most int) []int {
	var out []int
	for n := 1; n <= most; n *= 2 {
		out = append(out, n)
	}
	return out
}

// workers finds the layouts that run, and prepares their bounds.
func (x *experiment) workers(s *search.Units) error {
	e := x.e
	space := &e.Workers
	if e.Mode == Disaggregated {
		space = &e.Decode
		x.prefill = x.layouts(&e.Workers, x.stage.Device)
	}
	other := x.stage.Device
	if e.DecodeSystem != "" {
		other = x.stage.Systems[e.DecodeSystem]
	}
	x.decode = x.layouts(space, other)
	x.prefill, x.decode = x.fitting(x.prefill, e.Workers.MaxBatch, true), x.fitting(x.decode, space.MaxBatch, false)
	if len(x.decode) == 0 || e.Mode == Disaggregated && len(x.prefill) == 0 {
		return badInput(x.nothingRuns())
	}
	for i := range x.prefill {
		c, err := x.bounds(i, 0)
		if err != nil {
			return err
		}
		s.Prefill = append(s.Prefill, search.Worker{Layout: x.prefill[i], Pool: c.Workers, MaxBatch: e.Workers.MaxBatch})
	}
	for i := range x.decode {
		c, err := x.bounds(0, i)
		if err != nil {
			return err
		}
		w := search.Worker{Layout: x.decode[i], Pool: c.Workers, MaxBatch: space.MaxBatch}
		if c.Decode != nil {
			w.Pool = *c.Decode
			if i == 0 || c.Link.Carries(e.Input) < s.Link.Carries(e.Input) {
				s.Link = c.Link // the fastest: what it takes is a bound
			}
		}
		s.Decode = append(s.Decode, w)
	}
	return nil
}

// bounds is a simulation of one copy of a unit of two workers, for the times of its
// steps.
func (x *experiment) bounds(prefill, decode int) (sim.Config, error) {
	d := x.deployment(search.Unit{Prefill: prefill, Decode: decode, X: 1, Y: 1, Copies: 1}, 1, false)
	_, f, err := x.stage.Fleet(&d)
	if err != nil {
		return sim.Config{}, badInput(err)
	}
	return f.Config(nil), nil
}

// nothingRuns is why there is no layout: the reason of the largest.
func (x *experiment) nothingRuns() error {
	if n := len(x.out.Rejected); n > 0 {
		return fmt.Errorf("no layout of %s runs on up to %d devices: %s", x.stage.Model.Name(), x.e.Devices, x.out.Rejected[n-1])
	}
	return fmt.Errorf("no layout of %s has the sizes asked for on up to %d devices", x.stage.Model.Name(), x.e.Devices)
}

// fitting keeps the layouts that are legal and leave room for a cache.
func (x *experiment) fitting(all []parallel.Layout, batch int, prefill bool) []parallel.Layout {
	e := x.e
	return slices.DeleteFunc(all, func(l parallel.Layout) bool {
		d := e.asked()
		p := d.Pools[len(d.Pools)-1]
		if prefill {
			p = d.Pools[0]
		}
		p.Role, p.Layout, p.MTP, p.AcceptanceRates = deployment.Both, l, e.MTP, e.AcceptanceRates
		p.Settings = []string{fmt.Sprintf("max_sequences=%d", batch)}
		d.Pools = []deployment.Pool{p}
		resolved, _, err := x.stage.Fleet(&d)
		if err == nil {
			err = runs(d, resolved, e)
		}
		if err != nil {
			x.out.Rejected = append(x.out.Rejected, l.Label(x.out.Experts)+": "+field.Say(err, parallel.Word))
		}
		return err != nil
	})
}

// runs reports a layout that the engine has no flags for.
func runs(d deployment.Deployment, r *deployment.Resolved, e *Experiment) error {
	p := launch.Plan{Deployment: d, Resolved: r, Input: e.Input, Output: e.Output}
	if _, err := p.Values(); errors.Is(err, launch.ErrLayout) {
		return err
	}
	return nil
}
