package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// shift is a stretch of the day with the same replicas, which serve or start.
type shift struct {
	from, to units.Seconds // of the day
	replicas int
}

const (
	day  = 24 * 3600 * units.Seconds(1)
	hour = 3600 * units.Seconds(1)

	// engineStart is the time that an engine needs beside reading weights, to import, compile, profile and capture graphs:
	// vLLM 0.24 on an H200 took 73 s for Llama-3.1-8B, 93 s for Qwen3-32B and 145 s for Llama-3.1-70B.
	engineStart = 100 * units.Seconds(1)
	// diskRate is that at which a node reads weights, in bytes per second. An assumption: network volumes of clouds read
	// about a gigabyte per second, local disks several.
	diskRate = 1e9
)

// checkColdStart reports a wrong time to start a replica.
func (r *Request) checkColdStart() error {
	const name field.Name = "cold_start"
	switch x := r.ColdStart; {
	case x == nil:
		return nil
	case r.Daily == nil:
		return field.Errorf("%s needs %s", name, field.Name("daily"))
	case !(*x >= 0 && *x <= float64(day)):
		return field.Errorf("%s must be between 0 and %g seconds, got %g", name, float64(day), *x)
	}
	return nil
}

// ColdStart is the time to start a replica, in whole seconds: the engine's own, and that to read the weights of the devices
// of a node from its disk.
func (c *Found) ColdStart(node int) units.Seconds {
	devices := 1
	for i := range c.Deployment.Pools {
		if pool := &c.Deployment.Pools[i]; pool.Role != deployment.Prefill {
			devices = max(devices, min(pool.Layout.Devices, node))
		}
	}
	read := float64(c.Run.Memory.Weights) * float64(devices) / diskRate
	return units.Seconds(math.Ceil(float64(engineStart) + read))
}

// day is the replicas that each part of a day needs, by the capacity of a copy, and their schedule.
func (p *planning) day(c *Found, d *device.Profile) *Day {
	each, needed, margin := c.Used/c.Copies, c.Copies-c.Spare, p.r.margin()
	carries := c.Capacity.RequestRate / c.Turns / float64(needed)
	start := c.ColdStart(d.Node)
	if x := p.r.ColdStart; x != nil {
		start = units.Seconds(math.Ceil(*x))
	}
	out := &Day{Rates: p.r.Daily, ColdStart: float64(start)}
	var copies []int
	for _, rate := range p.r.Daily {
		n := margin.Needed(rate, carries, needed) + c.Spare
		copies, out.GPUs = append(copies, n), append(out.GPUs, n*each)
	}
	for _, s := range shifts(copies, start) {
		out.Schedule = append(out.Schedule, Shift{clock(s.from), clock(s.to), s.replicas, s.replicas * each})
		out.Hours += float64(s.replicas*each) * float64((s.to-s.from)/hour)
	}
	out.SavedHours = float64(c.Devices())*float64(day/hour) - out.Hours
	out.Mean = out.Hours / float64(day/hour)
	return out
}

// scaled adds the schedule of a day to a plan for rates over a day, with what it saves.
func (p *planning) scaled(out *Response) {
	best := &out.Contenders[0]
	d := best.Found.Day
	if d == nil {
		return
	}
	out.Day = d
	if c := best.Cost; c != nil {
		saved := c.PerMonth - *c.Scaled
		d.SavedPerMonth, d.SavedPerDay = &saved, new(saved/money.HoursPerMonth*float64(day/hour))
	}
}

// clock is a time of day: "05:57:14".
func clock(s units.Seconds) string {
	n := int(math.Round(float64(s)))
	return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
}

// shifts is the schedule for the replicas that equal parts of a day need, one day like the other. A replica is on where one
// is needed then, or within the time that it takes to start, which is at most a day: that is the fewest that serve in time.
func shifts(need []int, start units.Seconds) []shift {
	// Whole ticks, of which a second has as many as there are parts: a part then has as many as a day has seconds.
	n, part := len(need), int(day)
	ahead := int(start) * n
	var edges []int
	for i := range need {
		edges = append(edges, i*part, (i*part-ahead+n*part)%(n*part))
	}
	slices.Sort(edges)
	edges = append(slices.Compact(edges), n*part)
	at := func(tick int) units.Seconds { return units.Seconds(tick) / units.Seconds(n) }
	var out []shift
	for i, from := range edges[:len(edges)-1] {
		s := shift{from: at(from), to: at(edges[i+1])}
		for k := from / part; k <= (from+ahead)/part; k++ {
			s.replicas = max(s.replicas, need[k%n])
		}
		if last := len(out) - 1; last >= 0 && out[last].replicas == s.replicas {
			out[last].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}
