package plan

import (
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Day is what a fleet needs over a day whose load changes, and a schedule that follows the load.
type Day struct {
	Devices []int // that each part of the day needs
	// ColdStart is the time from the start of a replica to its first request.
	ColdStart units.Seconds
	// Shifts are the schedule: replicas start so early that they serve when their part of the day begins.
	Shifts []Shift
	// Hours are device-hours in a day of the schedule, Constant of the fleet for the peak, Mean the devices of the
	// schedule on average.
	Hours, Constant, Mean float64
	// PerMonth is the cost in US dollars of the schedule, SavedPerMonth and SavedPerDay what it saves against the fleet
	// for the peak; 0 where no price is known.
	PerMonth, SavedPerMonth, SavedPerDay float64
}

// Shift is a stretch of the day with the same replicas, which serve or start.
type Shift struct {
	From, To units.Seconds // of the day
	Replicas int
	Devices  int
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

// coldStart is the time to start a replica, in whole seconds: the engine's own, and that to read the weights of the devices
// of a node from its disk.
func (p *planning) coldStart(c *Contender, node int) units.Seconds {
	if x := p.r.ColdStart; x != nil {
		return units.Seconds(math.Ceil(*x))
	}
	devices := 1
	for i := range c.Deployment.Pools {
		if pool := &c.Deployment.Pools[i]; pool.Role != deployment.Prefill {
			devices = max(devices, min(pool.Layout.Devices, node))
		}
	}
	read := float64(c.MemoryBudget.Weights) * float64(devices) / diskRate
	return units.Seconds(math.Ceil(float64(engineStart) + read))
}

// day is the replicas that each part of a day needs, by what a copy carries, and their schedule.
func (p *planning) day(c *Contender) (*Day, error) {
	if p.r.Daily == nil || !c.Meets {
		return nil, nil
	}
	d, err := p.world.Device(c.Experiment.System, p.r.DeviceFile)
	if err != nil {
		return nil, err
	}
	each, needed, margin := c.Used/c.Copies, c.Copies-c.Spare, p.r.margin()
	carries := c.Capacity.RequestRate / float64(needed)
	out := &Day{ColdStart: p.coldStart(c, d.Node), Constant: float64(c.Devices()) * float64(day/hour)}
	var copies []int
	for _, rate := range p.r.Daily {
		n := margin.Needed(rate, carries, needed) + c.Spare
		copies, out.Devices = append(copies, n), append(out.Devices, n*each)
	}
	out.Shifts = shifts(copies, out.ColdStart)
	for i := range out.Shifts {
		s := &out.Shifts[i]
		s.Devices = s.Replicas * each
		out.Hours += float64(s.Devices) * float64((s.To-s.From)/hour)
	}
	out.Mean = out.Hours / float64(day/hour)
	if c.Cost.USDPerHour > 0 {
		out.PerMonth = c.Cost.Month(c.Devices(), out.Mean)
		out.SavedPerMonth = c.Cost.PerMonth - out.PerMonth
		out.SavedPerDay = out.SavedPerMonth / money.HoursPerMonth * float64(day/hour)
	}
	return out, nil
}

// shifts is the schedule for the replicas that equal parts of a day need, one day like the other. A replica is on where one
// is needed then, or within the time that it takes to start, which is at most a day: that is the fewest that serve in time.
func shifts(need []int, start units.Seconds) []Shift {
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
	var out []Shift
	for i, from := range edges[:len(edges)-1] {
		s := Shift{From: at(from), To: at(edges[i+1])}
		for k := from / part; k <= (from+ahead)/part; k++ {
			s.Replicas = max(s.Replicas, need[k%n])
		}
		if last := len(out) - 1; last >= 0 && out[last].Replicas == s.Replicas {
			out[last].To = s.To
			continue
		}
		out = append(out, s)
	}
	return out
}
