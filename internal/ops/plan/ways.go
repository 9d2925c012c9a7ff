package plan

import (
	"cmp"
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
)

// way is one thing to change, in steps that grow: the first step that meets the limits is taken, otherwise the first that runs.
type way []Change

// ways builds the changes of a request, everything else as in a system, engine and mode.
type ways struct {
	r    *Request
	base experiment.Experiment
	all  []way
}

// add adds a way of one step.
func (w *ways) add(what string, edit func(*Request)) { w.all = append(w.all, way{w.step(what, edit)}) }

// step is a request with one thing changed.
func (w *ways) step(what string, edit func(*Request)) Change {
	r := *w.r
	r.Workloads, r.NoChanges = slices.Clone(r.Workloads), true
	r.Systems, r.Engines, r.Modes = []string{w.base.System}, []string{InRelease(w.base.Engine.Name, w.base.Engine.Version)}, []experiment.ServingMode{w.base.Mode}
	if r.DeviceFile != "" {
		r.Systems = nil
	}
	edit(&r)
	return Change{What: what, Request: r}
}

// The growth of what may be changed where nothing fits or meets the limits: steps that are doubled.
const (
	mostGrowth  = 64 // of the devices where nothing fits
	someGrowth  = 8  // of the devices or of a limit where the limits are not met
	mostRunning = 3  // steps of a way that run without meeting the limits
	mostSystems = 4  // other systems that are tried
)

// fitting are the ways out where the model does not fit: more devices, narrower formats, devices with more memory.
func (p *planning) fitting() []way {
	w := &ways{r: p.r}
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
	w.devices(mostGrowth)
	w.narrower(own)
	more := p.systems(own, func(d *device.Profile) bool { return d.Memory > own.Memory }, func(d *device.Profile) float64 { return float64(d.Memory) })
	w.systems(own, more)
	return w.all
}

// meeting are ways to limits that are not met, beside the usual changes.
func (p *planning) meeting(best *Found, w *ways) {
	if n := best.Nearest.Finite(); n.Any() {
		raised := raise(p.r.Limits, n)
		w.all = append([]way{{w.step("limits of "+limitsInWords(raised), func(r *Request) { r.Limits = raised })}}, w.all...)
	}
	l := p.r.Limits.Finite()
	w.limit("TTFT", l.TTFT, func(r *Request) *units.Seconds { return &r.Limits.TTFT })
	w.limit("TPOT", l.TPOT, func(r *Request) *units.Seconds { return &r.Limits.TPOT })
	w.limit("request latency", l.Latency, func(r *Request) *units.Seconds { return &r.Limits.Latency })
	w.devices(someGrowth)
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
func (w *ways) limit(name string, is units.Seconds, of func(*Request) *units.Seconds) {
	if is <= 0 {
		return
	}
	var out way
	for times := 2.0; times <= someGrowth; times *= 2 {
		out = append(out, w.step(fmt.Sprintf("%s limit %g ms instead of %g ms", name, times*is.TypedMs(), is.TypedMs()), func(r *Request) { *of(r) *= units.Seconds(times) }))
	}
	w.all = append(w.all, out)
}

// devices is more of them, where their number is given.
func (w *ways) devices(growth int) {
	if w.r.Devices == 0 {
		return
	}
	var out way
	n := 1
	for n <= w.r.Devices {
		n *= 2
	}
	for ; n <= min(growth*w.r.Devices, experiment.MaxDevices); n *= 2 {
		out = append(out, w.step(fmt.Sprintf("%s instead of %s", units.Counted(n, "GPU"), units.Thousands(w.r.Devices)), func(r *Request) { r.Devices = n }))
	}
	if out != nil {
		w.all = append(w.all, out)
	}
}

// narrower are formats with fewer bytes that the device has.
func (w *ways) narrower(own *device.Profile) {
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
func (w *ways) systems(own *device.Profile, all []*device.Profile) {
	for _, same := range []bool{true, false} {
		var out way
		for _, d := range all {
			if (d.Vendor == own.Vendor) != same || len(out) == mostSystems {
				continue
			}
			out = append(out, w.step(d.Name+" instead of "+own.Name, func(r *Request) {
				r.Systems, r.DeviceFile = []string{d.Name}, ""
				if engines := engine.RunsOn(d); !slices.Contains(engines, engine.Port(w.base.Engine.Name, d.Vendor)) {
					r.Engines = engines[:1]
				}
			}))
		}
		if out != nil {
			w.all = append(w.all, out)
		}
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
func (p *planning) systems(own *device.Profile, better func(*device.Profile) bool, by func(*device.Profile) float64) []*device.Profile {
	var out []*device.Profile
	for _, name := range device.Names() {
		d, err := p.world.Device(name, "")
		if err == nil && d.Name != own.Name && d.Price.USDPerHour > 0 && launch.Engines(d.Vendor) != nil && better(d) && !slices.Contains(p.r.Systems, d.Name) {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b *device.Profile) int { return cmp.Compare(by(a), by(b)) })
	return out
}
