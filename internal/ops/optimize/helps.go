package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/ways"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Help is the smallest step of one kind with which a model fits that otherwise does not, and the best deployment of the changed search.
type Help struct {
	What       string  `json:"what"`
	Command    string  `json:"command,omitempty"` // command line of the changed search
	Label      string  `json:"parallel"`
	Batch      int     `json:"batch_size"`
	Throughput float64 `json:"tokens_per_second,omitempty"`
	// Feasible are the nearest limits, if the model fits but misses those of the request.
	Feasible *session.Limits `json:"nearest_limits,omitempty"`

	Request Request `json:"-"`
}

// errNoRoom is a changed search in which the model does not fit either.
var errNoRoom = errors.New("the model does not fit")

// outOfMemory says that nothing was found for lack of memory.
func (t *task) outOfMemory() bool {
	return len(t.Rows) == 0 && t.out.Nearest == nil && slices.ContainsFunc(t.Results, func(r search.Result) bool { return r.Binds == search.NoMemory })
}

// helps are what would help where nothing fits, each in its smallest step.
func (t *task) helps(ctx context.Context) ([]Help, error) {
	if !t.outOfMemory() {
		return nil, nil
	}
	var out []Help
	for _, way := range t.ways() {
		h, err := ways.Take(way, func(h *Help) (bool, error) { return t.try(ctx, h) })
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			out = append(out, *h)
		}
	}
	return out, nil
}

// ways are those out of a lack of memory: all sizes of TP where some are asked for, the usual reserve, more devices, narrower formats, devices with more memory.
func (t *task) ways() [][]Help {
	var out [][]Help
	add := func(steps ...Help) {
		if len(steps) > 0 {
			out = append(out, steps)
		}
	}
	if len(t.r.Space.TP) > 0 {
		add(t.with("all TP sizes", func(r *Request) { r.Space.TP = []int{} }))
	}
	if x := t.r.ReservedGiB; x != nil {
		usual := t.with("", func(r *Request) { r.ReservedGiB = nil })
		if n := (&optimization{r: &usual.Request, named: t.named}).reserved(t.device); n < *x {
			usual.What = fmt.Sprintf("%.4g GiB reserved instead of %.4g", n, *x)
			add(usual)
		}
	}
	add(t.moreDevices()...)
	add(t.narrower()...)
	if kv := t.problem.Spec.Quant.KV; kv < dtype.FP8 {
		if t.device.FollowsAscend() {
			add(t.with("an INT8 KV cache", func(r *Request) { r.Formats.Attention = dtype.AttentionInt8 }))
		} else if t.device.Matrix[dtype.FP8] > 0 {
			add(t.with("an FP8 KV cache", func(r *Request) { r.Formats.Attention = dtype.AttentionFP8 }))
		}
	}
	for _, some := range ways.Systems(t.world, t.device, t.roomier, func(d *device.Profile) float64 { return float64(d.Memory) }) {
		var steps []Help
		for _, d := range some {
			steps = append(steps, t.with(d.Name+" instead of "+t.device.Name, func(r *Request) { r.Devices, r.DeviceFile = []string{d.Name}, "" }))
		}
		add(steps...)
	}
	return out
}

// with is a search on the device with one thing changed.
func (t *task) with(what string, edit func(*Request)) Help {
	r := *t.r
	if r.Devices = []string{t.device.Name}; r.DeviceFile != "" && !slices.Contains(t.r.Devices, t.device.Name) {
		r.Devices = nil
	}
	r.Explain, r.Traces = false, false
	edit(&r)
	return Help{What: what, Request: r}
}

// moreDevices are more of them for the phase.
func (t *task) moreDevices() []Help {
	of, sizes, field := "", "", func(r *Request) *int { return &r.NumDevices }
	switch {
	case t.r.PDRatio && t.mode == search.PrefillOnly:
		of, field = " per prefill instance", func(r *Request) *int { return &r.PrefillDevices }
	case t.r.PDRatio:
		of, field = " per decode instance", func(r *Request) *int { return &r.DecodeDevices }
	}
	if len(t.r.Space.TP) > 0 { // the same sizes on more devices only make more replicas
		sizes = ", all TP sizes"
	}
	var out []Help
	for _, n := range ways.Devices(t.devices, ways.MostGrowth, t.device.Ranks()) {
		out = append(out, t.with(fmt.Sprintf("%d devices%s instead of %d%s", n, of, t.devices, sizes), func(r *Request) {
			if *field(r) = n; sizes != "" {
				r.Space.TP = []int{}
			}
		}))
	}
	return out
}

// narrower are quantization actions with fewer bits than the weights have.
func (t *task) narrower() []Help {
	q := &t.problem.Spec.Quant
	actions := []dtype.Action{dtype.W8A8Dynamic, dtype.W4A8Dynamic}
	if !t.device.FollowsAscend() {
		actions = []dtype.Action{dtype.FP8Action, dtype.MXFP4Action}
	}
	var out []Help
	for _, a := range actions {
		f := a.Scheme(q.Base, t.r.Formats.MXFP4Group).Weight
		if f.Width() < max(q.Dense.Weight.Width(), q.Experts.Weight.Width()) && (f != dtype.FP8 || t.device.Matrix[dtype.FP8] > 0) {
			out = append(out, t.with(string(a)+" linear layers", func(r *Request) { r.Formats.Linear = a }))
		}
	}
	return out
}

// roomier says that a device of the same kind has more memory: of Ascend's, or of the same vendor with an engine.
func (t *task) roomier(d *device.Profile) bool {
	alike := d.Vendor == t.device.Vendor && launch.Engines(d.Vendor) != nil && d.Price.USDPerHour > 0
	if t.device.FollowsAscend() {
		alike = d.Vendor == device.Ascend
	}
	return alike && d.Memory > t.device.Memory
}

// try searches the changed request for the phase, and reports whether the limits are met.
func (t *task) try(ctx context.Context, h *Help) (meets bool, err error) {
	o, devices, err := begin(t.world.Quiet(), &h.Request)
	if err != nil {
		return false, err
	}
	for _, p := range h.Request.phases() {
		if p.mode != t.mode {
			continue
		}
		x, err := o.task(devices[0], p)
		if err == nil {
			err = x.find(ctx)
		}
		if err != nil {
			return false, err
		}
		return h.take(x)
	}
	return false, errNoRoom
}

// take is the best of a search, or what comes nearest to the limits.
func (h *Help) take(x *task) (meets bool, err error) {
	if len(x.Rows) > 0 {
		best := x.Rows[0]
		h.Label, h.Batch, h.Throughput = best.Label, best.Best.Batch, best.Best.Throughput
		return true, nil
	}
	n := x.nearest()
	if n == nil {
		return false, errNoRoom
	}
	h.Label, h.Batch, h.Feasible = n.Label, n.Batch, n.feasible(x.limits)
	return false, nil
}
