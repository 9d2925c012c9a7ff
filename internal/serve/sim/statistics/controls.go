package statistics

import (
	"math"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// ControlVariates are queues that see the arrivals of an open loop beside the deployment. Near its capacity a deployment makes requests wait
// long in a few busy stretches, so that the mean of a window depends on how many of them it happens to have. Most of that is chance in
// the arrivals, which a queue with one server shows as well, and its mean wait is known (Pollaczek and Khinchine). What it waited more
// or less than that in the window is taken out of the times, as far as they go with it: external control variates (Lavenberg and Welch,
// "A perspective on the use of control variables to increase the efficiency of Monte Carlo simulations", Management Science 27, 1981).
type ControlVariates struct {
	known [controlQueues]queueFacts
	rate  float64 // of requests
	mean  float64 // tokens of a prompt
	at    units.Seconds
	work  queueWaits   // that each queue has to do, in seconds
	waits []queueWaits // of requests, by their place
}

// queues is how many there are: one is about as busy as the deployment.
const controlQueues = 12

// queueWaits are those of a request in the queues.
type queueWaits [controlQueues]float32

// queueFacts is what is known of a queue.
type queueFacts struct {
	load float64 // share of the time that its server is busy
	wait float64 // mean
	// deviation is the standard error of the mean wait of a window, times the square root of its requests: that of a reflected
	// Brownian motion (Whitt, "Planning queueing simulations", Management Science 35, 1989).
	deviation float64
}

// NewControlVariates makes the queues of Poisson arrivals at a rate of requests per second, whose prompts have a mean length in tokens and a
// mean square of it, with so many places for requests.
func NewControlVariates(rate, mean, square float64, places int) *ControlVariates {
	varied := square / (mean * mean)
	out, ok := spareControls.Get().(*ControlVariates)
	if !ok || cap(out.waits) < places {
		out = &ControlVariates{waits: make([]queueWaits, places)}
	}
	*out = ControlVariates{rate: rate, mean: mean, waits: out.waits[:places]}
	idle := 0.5
	for i := range out.known {
		k := &out.known[i]
		k.load = 1 - idle
		k.wait = k.load * k.load / rate / idle / 2 * varied
		k.deviation = k.wait * k.load / idle * math.Sqrt(2*varied)
		out.work[i] = float32(k.wait) // not empty, which takes long to wear off
		idle *= 0.7
	}
	return out
}

// spareControls are those of simulations that have ended.
//
//nolint:gochecknoglobals // memory alone
var spareControls sync.Pool

// Take has the queues take a request with a prompt of so many tokens, which has a place among those under way.
func (c *ControlVariates) Take(place, input int, now units.Seconds) {
	gap := float32(now - c.at)
	c.at = now
	part := float64(input) / c.mean / c.rate
	for i := range c.work {
		wait := max(0, c.work[i]-gap)
		c.waits[place][i] = wait
		c.work[i] = wait + float32(part*c.known[i].load)
	}
}

// arrivalEffect is what the times of a window have in common with one of the queues.
type arrivalEffect struct {
	values    int                  // of which there are waits; 0 for no queue
	groups    [shortGroups]float64 // mean waits of the groups, less the mean of all groups
	squares   float64              // sum of theirs
	longer    float64              // the mean wait, less the one that is known
	deviation float64              // of the mean wait
}

// chooseControl finds the queue that leaves the least error of the mean TTFT, or none.
func (t *Tally) chooseControl(c *ControlVariates) {
	t.control = arrivalEffect{}
	n := len(t.ttft)
	if c == nil || n < 2*shortGroups {
		return
	}
	times := groupsOf(t.ttft, func(v units.Seconds) float64 { return float64(v) })
	_, least := t.errorOf(times, n)
	var sums [shortGroups][controlQueues]float64
	var all [controlQueues]float64
	size := n / shortGroups
	first := n - size*shortGroups
	for i := range t.waits {
		for k, w := range t.waits[i] {
			all[k] += float64(w)
		}
		if i >= first {
			group := &sums[(i-first)/size]
			for k, w := range t.waits[i] {
				group[k] += float64(w)
			}
		}
	}
	var best arrivalEffect
	for k := range controlQueues {
		known := &c.known[k]
		t.control = arrivalEffect{values: n, longer: all[k]/float64(n) - known.wait, deviation: known.deviation / math.Sqrt(float64(n))}
		x := &t.control
		mean := 0.0
		for i := range x.groups {
			x.groups[i] = sums[i][k] / float64(size)
			mean += x.groups[i] / shortGroups
		}
		for i := range x.groups {
			x.groups[i] -= mean
			x.squares += x.groups[i] * x.groups[i]
		}
		if _, e := t.errorOf(times, n); x.squares > 0 && e < least {
			best, least = *x, e
		}
	}
	t.control = best
}

// follows is how far times near capacity do not follow a queue, as a part of the error of its mean wait: a window without a busy stretch
// does not show what they do in one. Chosen so that errors are about right on the loads of internal/evidence/NOTEBOOK.md.
const follows = 0.2

// remove takes out of the means of groups what they have in common with the queue. It returns by how much that makes the mean of all
// higher, and the error that it leaves.
func (c *arrivalEffect) remove(groups *[shortGroups]float64) (by, e, more float64) {
	slope := 0.0
	for i := range groups {
		slope += groups[i] * c.groups[i] / c.squares
	}
	for i := range groups {
		groups[i] -= slope * c.groups[i]
	}
	// The slope has an error of its own.
	more = math.Sqrt((1 + shortGroups*c.longer*c.longer/c.squares) * (shortGroups - 1) / (shortGroups - 2))
	return slope * c.longer, follows * slope * c.deviation, more
}
