package step

import (
	"plimsoll/internal/cost"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
)

// hidden is what a second stream saves, each run of layers by itself.
func hidden(items []op.Item, costs []cost.Estimate, times *Times, inLayer streams) units.Seconds {
	var saved units.Seconds
	for start := 0; start < len(items); {
		end := start
		for end < len(items) && items[end].Run == items[start].Run {
			end++
		}
		saved += inLayer(items[start:end], costs[start:end], times)
		start = end
	}
	return saved
}

// streams finds what a second stream saves in one run of equal layers, and takes it
// off the times of its parts.
type streams func(items []op.Item, costs []cost.Estimate, times *Times) units.Seconds

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

// byTokens is TensorCast's way. Operators wait for one another across streams by
// tokens, which only some take. A collective waits for the main line, and that for a
// collective of which a token was taken. Behind any other all operators join its
// stream, up to the next one that feeds a collective: that runs as soon as the main
// line is free, which is too early.
func byTokens(items []op.Item, costs []cost.Estimate, times *Times) units.Seconds {
	var line, exchange, serial, early units.Seconds // ends of both streams
	loose := false
	for i := range items {
		it := &items[i]
		time := costs[i].Total * units.Seconds(it.Count/it.Layers)
		serial += time
		switch {
		case it.Op.Kind == op.Collective && !it.Continues:
			exchange = max(exchange, line) + time
			if loose = it.Loose; !loose {
				line = max(line, exchange)
			}
		case loose && feeds(items, i):
			line += time
			early += time
			loose = false
		case loose:
			exchange += time
		default:
			line += time
		}
	}
	saved := (serial - max(line, exchange)) * units.Seconds(items[0].Layers)
	if early > 0 {
		shorten(items, costs, times, saved/early)
	}
	return saved
}

// shorten takes a share of the operators that feed collectives off their parts.
func shorten(items []op.Item, costs []cost.Estimate, times *Times, share units.Seconds) {
	loose := false
	for i := range items {
		it := &items[i]
		switch {
		case it.Op.Kind == op.Collective && !it.Continues:
			loose = it.Loose
		case loose && feeds(items, i):
			times[part(it)] -= share * costs[i].Total * units.Seconds(it.Count/it.Layers)
			loose = false
		}
	}
}

// feeds reports whether the collective behind an operator takes its result.
func feeds(items []op.Item, i int) bool {
	return i+1 < len(items) && items[i+1].Op.Kind == op.Collective && !items[i+1].Continues && items[i].Op.Name.Yields()
}
