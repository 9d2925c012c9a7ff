package plan

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestShifts: replicas start before their part of the day and stop after it, also over midnight and over parts that are
// shorter than a start.
func TestShifts(t *testing.T) {
	const h = 3600
	minutes := make([]int, 24*60)
	for i := range minutes {
		minutes[i] = 1
	}
	minutes[600], minutes[602] = 3, 3
	for _, x := range []struct {
		name  string
		need  []int
		start units.Seconds
		want  []shift
	}{
		{"one load", []int{2}, 100, []shift{{0, 24 * h, 2}}},
		{"up and down", []int{1, 3, 3, 2}, 100, []shift{{0, 6*h - 100, 1}, {6*h - 100, 18 * h, 3}, {18 * h, 24 * h, 2}}},
		{"over midnight", []int{4, 1}, 100, []shift{{0, 12 * h, 4}, {12 * h, 24*h - 100, 1}, {24*h - 100, 24 * h, 4}}},
		{"no time to start", []int{4, 1}, 0, []shift{{0, 12 * h, 4}, {12 * h, 24 * h, 1}}},
		{"a whole day to start", []int{4, 1}, 24 * h, []shift{{0, 24 * h, 4}}},
		{"a short pause is not worth a stop", minutes, 90, []shift{{0, 600*60 - 90, 1}, {600*60 - 90, 603 * 60, 3}, {603 * 60, 24 * h, 1}}},
	} {
		if diff := cmp.Diff(x.want, shifts(x.need, x.start), cmp.AllowUnexported(shift{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, diff)
		}
	}
}

// TestShiftsServe: at every moment the replicas that have had the time to start are enough, the schedule covers the day, and
// it never has more than the peak needs.
func TestShiftsServe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		need := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 50).Draw(t, "need")
		start := units.Seconds(rapid.IntRange(0, int(day)).Draw(t, "start"))
		all := shifts(need, start)
		if all[0].from != 0 || all[len(all)-1].to != day {
			t.Fatalf("not a day: %+v", all)
		}
		// on is the fewest replicas of the shifts that a stretch of time touches.
		on := func(from, to float64) int {
			out := math.MaxInt
			for _, s := range all {
				for _, shift := range []float64{-float64(day), 0} {
					if float64(s.from)+shift < to-1e-6 && float64(s.to)+shift > from+1e-6 {
						out = min(out, s.replicas)
					}
				}
			}
			return out
		}
		part := float64(day) / float64(len(need))
		for i, n := range need {
			// Between the start of a replica and the end of the part, at least so many are on.
			if got := on(float64(i)*part-float64(start), float64(i+1)*part); got < n {
				t.Fatalf("part %d needs %d from %g s before, got %d: %+v", i, n, float64(start), got, all)
			}
		}
		for i, s := range all {
			if s.replicas > slices.Max(need) || i > 0 && s.from != all[i-1].to || s.to <= s.from {
				t.Fatalf("shift %d: %+v", i, all)
			}
		}
	})
}

// TestSchedule: the schedule of a day saves against the fleet for the peak, less with a longer start, and the spare replicas
// are always on.
func TestSchedule(t *testing.T) {
	memo := &session.Session{Memo: &session.Memo{}}
	plan := func(edit func(*Request)) *Response {
		r := loadPlan()
		r.Rate, r.Daily = 0, []float64{1, 5, 20, 8}
		edit(&r)
		p, err := Run(t.Context(), memo, r)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	usual := plan(func(*Request) {})
	d, c := usual.Day, &usual.Contenders[0]
	// 65.5 GB of weights at 1 GB/s.
	if d.ColdStart < 160 || d.ColdStart > 170 {
		t.Errorf("cold start %v", d.ColdStart)
	}
	if math.Abs(d.Hours+d.SavedHours-24*float64(c.GPUs)) > 1e-9 || d.SavedHours <= 0 || math.Abs(d.Mean*24-d.Hours) > 1e-9 || slices.Max(d.GPUs) != c.GPUs {
		t.Errorf("%g device-hours, %g saved: %+v", d.Hours, d.SavedHours, d)
	}
	if price := c.Cost.PerGPUHour; math.Abs(*d.SavedPerDay-price*d.SavedHours) > 1e-6 || math.Abs(*d.SavedPerMonth+*c.Cost.Scaled-c.Cost.PerMonth) > 1e-6 {
		t.Errorf("saves $%g per day", *d.SavedPerDay)
	}
	if slow := plan(func(r *Request) { r.ColdStart = new(3600.0) }).Day; slow.Hours <= d.Hours || slow.ColdStart != 3600 {
		t.Errorf("a start of an hour: %g device-hours, before %g", slow.Hours, d.Hours)
	}
	spare := plan(func(r *Request) { r.Spare = 2 })
	for _, s := range spare.Day.Schedule {
		if s.Replicas < 3 {
			t.Errorf("two spare replicas and one that serves: %+v", s)
		}
	}
}

// TestRankedBySchedule: contenders of a load over a day are ranked by the GPU-hours of their schedules.
func TestRankedBySchedule(t *testing.T) {
	r := loadPlan()
	r.Rate, r.Daily, r.Engines = 0, []float64{1, 5, 20, 8}, []string{"vllm", "sglang"}
	p := mustPlan(t, r)
	last := 0.0
	for i := range p.Contenders {
		c := &p.Contenders[i]
		if c.Found.Day.Hours < last || *c.Cost.Scaled >= c.Cost.PerMonth {
			t.Errorf("%s: %g GPU-hours after %g, $%g of $%g", c.Name, c.Found.Day.Hours, last, *c.Cost.Scaled, c.Cost.PerMonth)
		}
		last = c.Found.Day.Hours
	}
	if p.RankedBy != ByHours || p.Day.Hours != p.Contenders[0].Found.Day.Hours || len(p.Contenders) < 2 {
		t.Errorf("ranked by %s", p.RankedBy)
	}
}

// TestColdStartRefused: a time to start needs rates over a day.
func TestColdStartRefused(t *testing.T) {
	for _, x := range []float64{-1, math.NaN(), math.Inf(1)} {
		r := loadPlan()
		r.Rate, r.Daily, r.ColdStart = 0, []float64{1}, &x
		if _, _, err := Check(&session.Session{}, r); err == nil {
			t.Errorf("accepted a start of %g s", x)
		}
	}
	r := loadPlan()
	r.ColdStart = new(1.0)
	if _, _, err := Check(&session.Session{}, r); err == nil {
		t.Error("accepted a start without rates over a day")
	}
}
