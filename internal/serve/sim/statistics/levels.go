package statistics

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Levels is the number of requests in flight over time: sent and not yet answered.
type Levels struct {
	Mean               float64
	P50, P90, P95, P99 int
	Max                int
}

// shift adds requests whose answers are on their way to the client.
func (l *Levels) shift(by float64) {
	l.Mean += by
	for _, x := range []*int{&l.P50, &l.P90, &l.P95, &l.P99, &l.Max} {
		*x += int(math.Round(by))
	}
}

// atMost bounds the numbers by those of a closed loop, whose clients have one request each.
func (l *Levels) atMost(clients int) {
	l.Mean = min(l.Mean, float64(clients))
	for _, x := range []*int{&l.P50, &l.P90, &l.P95, &l.P99, &l.Max} {
		*x = min(*x, clients)
	}
}

// InFlight follows the number of requests in flight.
type InFlight struct {
	n     int
	since units.Seconds
	area  units.Seconds   // the time that all requests together were in flight
	at    []units.Seconds // time with each number of them
}

// Change counts a request that comes or goes.
func (f *InFlight) Change(now units.Seconds, by int) {
	f.pass(now)
	f.n += by
}

// pass counts the time until now.
func (f *InFlight) pass(now units.Seconds) {
	for f.n >= len(f.at) {
		f.at = append(f.at, 0)
	}
	f.at[f.n] += now - f.since
	f.area += units.Seconds(f.n) * (now - f.since)
	f.since = now
}

// restart forgets the past.
func (f *InFlight) restart(now units.Seconds) {
	clear(f.at)
	f.since, f.area = now, 0
}

// Levels sums up until now.
func (f *InFlight) Levels(now units.Seconds) Levels {
	f.pass(now)
	out, total := Levels{}, units.Seconds(0)
	for n, t := range f.at {
		if total += t; t > 0 {
			out.Max = n
		}
	}
	if total == 0 {
		return out
	}
	out.Mean = float64(f.area / total)
	passed := units.Seconds(0)
	for n, t := range f.at {
		for _, x := range []struct {
			share units.Seconds
			out   *int
		}{{0.50, &out.P50}, {0.90, &out.P90}, {0.95, &out.P95}, {0.99, &out.P99}} {
			if passed < x.share*total && passed+t >= x.share*total {
				*x.out = n
			}
		}
		passed += t
	}
	return out
}
