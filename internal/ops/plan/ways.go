package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/ways"
)

// way is one thing to change, in steps that grow: the first step that meets the limits is taken, otherwise the first that runs.
type way []Change

// changing builds the changes of a request, everything else as in a system, engine and mode.
type changing struct {
	r    *Request
	base experiment.Experiment
	all  []way
}

// add adds a way of one step.
func (w *changing) add(what string, edit func(*Request)) {
	w.all = append(w.all, way{w.step(what, edit)})
}

// step is a request with one thing changed.
func (w *changing) step(what string, edit func(*Request)) Change {
	r := *w.r
	r.Workloads, r.NoChanges = slices.Clone(r.Workloads), true
	r.Systems, r.Engines, r.Modes = []string{w.base.System}, []string{InRelease(w.base.Engine.Name, w.base.Engine.Version)}, []experiment.ServingMode{w.base.Mode}
	if r.DeviceFile != "" {
		r.Systems = nil
	}
	edit(&r)
	return Change{What: what, Request: r}
}

// fitting are the ways out where the model does not fit: more devices, narrower formats, devices with more memory.
func (p *planning) fitting() []way {
	w := &changing{r: p.r}
	own, err := p.roomiest()
	if err != nil {
		return nil
	}
	all, err := experiments(p.world, p.r)
	if err != nil {
		return nil
	}
	for _, e := range all {
		if e.System == own.Name || p.r.DeviceFile != "" {
			w.base = e
			break
		}
	}
	w.devices(ways.MostGrowth)
	w.narrower(own)
	more := p.systems(own, func(d *device.Profile) bool { return d.Memory > own.Memory }, func(d *device.Profile) float64 { return float64(d.Memory) })
	w.systems(own, more)
	return w.all
}

// meeting are ways to limits that are not met, beside the usual changes.
func (p *planning) meeting(best *Found, w *changing) {
	if n := best.Nearest.Finite(); n.Any() {
		raised := raise(p.r.Limits, n)
		w.all = append([]way{{w.step("limits of "+limitsInWords(raised), func(r *Request) { r.Limits = raised })}}, w.all...)
	}
	l := p.r.Limits.Finite()
	w.limit("TTFT", l.TTFT, func(r *Request) *units.Seconds { return &r.Limits.TTFT })
	w.limit("TPOT", l.TPOT, func(r *Request) *units.Seconds { return &r.Limits.TPOT })
	w.limit("request latency", l.Latency, func(r *Request) *units.Seconds { return &r.Limits.Latency })
	w.devices(ways.SomeGrowth)
	own, err := p.world.Device(best.Experiment.System, p.r.DeviceFile)
	if err != nil {
		return
	}
	w.narrower(own)
	w.systems(own, p.systems(own, func(d *device.Profile) bool { return d.Bandwidth > own.Bandwidth }, func(d *device.Profile) float64 { return float64(d.Bandwidth) }))
}

// raise is the limits, those that are below the nearest that can be met raised to two digits above them.
func raise(asked, nearest workload.Limits) workload.Limits {
	up := func(limit *units.Seconds, to units.Seconds) {
		if *limit > 0 && to > *limit {
			ms, _ := strconv.ParseFloat(strconv.FormatFloat(to.Ms()*1.05, 'g', 2, 64), 64) // 1.05 makes up for half a digit
			*limit = units.Seconds(ms) * units.Millisecond
		}
	}
	up(&asked.TTFT, nearest.TTFT)
	up(&asked.TPOT, nearest.TPOT)
	up(&asked.Latency, nearest.Latency)
	return asked
}

// limit is one limit raised while the others stay.
func (w *changing) limit(name string, is units.Seconds, of func(*Request) *units.Seconds) {
	if is <= 0 {
		return
	}
	var out way
	for times := 2.0; times <= ways.SomeGrowth; times *= 2 {
		out = append(out, w.step(fmt.Sprintf("%s limit %g ms instead of %g ms", name, times*is.TypedMs(), is.TypedMs()), func(r *Request) { *of(r) *= units.Seconds(times) }))
	}
	w.all = append(w.all, out)
}

// devices is more of them, where their number is given.
func (w *changing) devices(growth int) {
	if w.r.Devices == 0 {
		return
	}
	var out way
	for _, n := range ways.Devices(w.r.Devices, growth, experiment.MaxDevices) {
		out = append(out, w.step(fmt.Sprintf("%s instead of %s", units.Counted(n, "GPU"), units.Thousands(w.r.Devices)), func(r *Request) { r.Devices = n }))
	}
	if out != nil {
		w.all = append(w.all, out)
	}
}

// narrower are formats with fewer bytes that the device has.
func (w *changing) narrower(own *device.Profile) {
	f := &w.r.Formats
	if f.Checkpoint == "" {
		for _, name := range []string{"fp8", "fp4", "int4"} {
			if name == "fp8" && own.Matrix[dtype.FP8] == 0 {
				continue
			}
			w.add(strings.ToUpper(name)+" weights", func(r *Request) { r.Formats.Checkpoint = name })
		}
	}
	if f.KV == "" && own.Matrix[dtype.FP8] > 0 {
		w.add("FP8 cache", func(r *Request) { r.Formats.KV = "fp8" })
	}
}

// systems is the first of other systems, with their engine.
func (w *changing) systems(own *device.Profile, all [][]*device.Profile) {
	for _, some := range all {
		var out way
		for _, d := range some {
			out = append(out, w.step(d.Name+" instead of "+own.Name, func(r *Request) {
				r.Systems, r.DeviceFile = []string{d.Name}, ""
				if engines := engine.RunsOn(d); len(engines) > 0 && !slices.Contains(engines, engine.Port(w.base.Engine.Name, d.Vendor)) {
					r.Engines = engines[:1]
				}
			}))
		}
		w.all = append(w.all, out)
	}
}

// roomiest is the requested system with the most memory.
func (p *planning) roomiest() (*device.Profile, error) {
	if p.r.DeviceFile != "" {
		return p.world.Device("", p.r.DeviceFile)
	}
	var out *device.Profile
	for _, name := range p.r.Systems {
		d, err := p.world.Device(name, "")
		if err != nil {
			return nil, err
		}
		if out == nil || d.Memory > out.Memory {
			out = d
		}
	}
	return out, nil
}

// systems are those with a price and an engine that are better than one, the nearest to it first.
func (p *planning) systems(own *device.Profile, better func(*device.Profile) bool, by func(*device.Profile) float64) [][]*device.Profile {
	return ways.Systems(p.world, own, func(d *device.Profile) bool {
		return d.Price.USDPerHour > 0 && launch.Engines(d.Vendor) != nil && better(d) && !slices.Contains(p.r.Systems, d.Name)
	}, by)
}
