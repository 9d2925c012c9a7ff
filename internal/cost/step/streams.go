package step

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// behindExchanges is what a second stream saves where shared experts run behind the
// exchanges of the routed ones, each run of layers by itself.
func behindExchanges(items []op.Item, costs []cost.Estimate, times *Times) units.Seconds {
	var saved units.Seconds
	for len(items) > 0 {
		n := runLength(items)
		saved += behindExchange(items[:n], costs, times)
		items, costs = items[n:], costs[n:]
	}
	return saved
}

// runLength is the number of operators of the first run of layers.
func runLength(items []op.Item) int {
	n := 1
	for n < len(items) && items[n].Run == items[0].Run {
		n++
	}
	return n
}

// behindExchange lets shared experts, which do not depend on the routed ones, run
// while those exchange tokens. An operator is moved only where it fits whole, so the
// main line is never delayed.
func behindExchange(items []op.Item, costs []cost.Estimate, times *Times) units.Seconds {
	if items[0].Run == 0 {
		return 0
	}
	next := 0 // the next operator of the branch
	var saved units.Seconds
	for i := range items {
		if items[i].Branch != 2 || items[i].Op.Kind != op.Collective {
			continue
		}
		idle := costs[i].Total
		for ; next < len(items); next++ {
			if items[next].Branch != 1 || items[next].Op.Kind == op.Collective {
				continue
			}
			if costs[next].Total > idle {
				break
			}
			idle -= costs[next].Total
			time := costs[next].Total * units.Seconds(items[next].Count)
			saved += time
			times[part(&items[next])] -= time
		}
	}
	return saved
}

// byTokens is what a second stream saves in TensorCast's way. Operators wait for one
// another across streams by tokens, which only some give and take. A collective waits
// for the main line where the operator in front gives one, and the main line for a
// collective of which one was taken. Behind any other all operators join its stream,
// up to the next one that feeds a collective: that runs as soon as the main line is
// free, which is too early.
func byTokens(items []op.Item, costs []cost.Estimate, times *Times) units.Seconds {
	var l lanes
	var saved units.Seconds
	for len(items) > 0 {
		n := runLength(items)
		saved += l.run(items[:n], costs, times)
		items, costs = items[n:], costs[n:]
	}
	return saved
}

// lanes are the two streams up to an operator.
type lanes struct {
	line, exchange units.Seconds // their ends
	later          units.Seconds // of an operator that runs several times, all but the first
	loose          bool          // operators join the collectives' stream
}

func (l *lanes) end() units.Seconds { return max(l.line, l.exchange) }

// run lets a run of equal layers pass and returns what is saved in it. What the first
// layer leaves of the streams decides the start of the second; from then on all are
// alike.
func (l *lanes) run(items []op.Item, costs []cost.Estimate, times *Times) units.Seconds {
	layers, start := units.Seconds(items[0].Layers), l.end()
	serial, early := l.layer(items, costs)
	loose := false
	if layers > 1 {
		was := *l
		loose = l.loose
		_, early = l.layer(items, costs)
		l.line += (layers - 2) * (l.line - was.line)
		l.exchange += (layers - 2) * (l.exchange - was.exchange)
	}
	if early == 0 {
		return 0
	}
	saved := max(0, layers*serial-(l.end()-start))
	shorten(items, costs, times, saved/(layers*early), loose)
	return saved
}

// layer lets one layer pass. It returns the time of all its operators, and of those
// that run too early.
func (l *lanes) layer(items []op.Item, costs []cost.Estimate) (serial, early units.Seconds) {
	for i := range items {
		it := &items[i]
		time := perLayer(it, &costs[i])
		serial += time
		first := firstTime(it, &costs[i])
		if runsEarly(items, i, l.loose) {
			early += first
		}
		switch {
		case exchanges(it):
			if !unawaited(items, i) {
				l.exchange = max(l.exchange, l.line)
			}
			l.exchange += time + l.later
			l.later = 0
			if l.loose = it.Loose; !l.loose {
				l.line = max(l.line, l.exchange)
			}
		case l.loose && feeds(items, i):
			l.line += first
			l.later = time - first
			l.loose = false
		case l.loose:
			l.exchange += time
		default:
			l.line += time
		}
	}
	return serial, early
}

// exchanges reports whether an operator is a collective on the second stream: not part
// of another operator.
func exchanges(it *op.Item) bool {
	return it.Op.Kind == op.Collective && !it.Continues && !it.Beside
}

// unawaited reports whether a collective takes its input straight from an operator with
// several results, which gives no token: the queries of latent attention, gathered
// behind the write of its cache.
func unawaited(items []op.Item, i int) bool {
	return i > 0 && items[i-1].Op.Name == op.LatentCacheWrite
}

// runsEarly reports whether an operator starts before what it needs is there; loose
// says that operators join the collectives' stream.
func runsEarly(items []op.Item, i int, loose bool) bool {
	if exchanges(&items[i]) {
		return unawaited(items, i)
	}
	return loose && feeds(items, i)
}

// perLayer is the time of an operator in one layer of its run.
func perLayer(it *op.Item, c *cost.Estimate) units.Seconds {
	return c.Total * units.Seconds(it.Count/it.Layers)
}

// firstTime is the time of the first run of an operator in one layer of its run: of
// experts one by one, only the first finds operators in the collectives' stream.
func firstTime(it *op.Item, c *cost.Estimate) units.Seconds {
	return c.Total * units.Seconds(min(1, it.Count/it.Layers))
}

// shorten takes a share of the operators that run too early off their parts.
func shorten(items []op.Item, costs []cost.Estimate, times *Times, share units.Seconds, loose bool) {
	for i := range items {
		it := &items[i]
		if runsEarly(items, i, loose) {
			times[part(it)] -= share * firstTime(it, &costs[i]) * units.Seconds(it.Layers)
			loose = false
		}
		if exchanges(it) {
			loose = it.Loose
		}
	}
}

// feeds reports whether the collective behind an operator takes its result, and not
// another view of it, as that behind the head does.
func feeds(items []op.Item, i int) bool {
	if i+1 >= len(items) || !exchanges(&items[i+1]) || !items[i].Op.Name.Yields() {
		return false
	}
	return items[i].Follows != op.Logits && items[i].Follows != op.Requests
}
