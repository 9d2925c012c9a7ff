package sim

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// What others see of a replica.

// assigned is the requests that were sent here and have not left.
func (r *replica) assigned() int { return r.load.requests }

// pendingPromptTokens is the tokens of their prompts that are not computed, where a router counts them.
func (r *replica) pendingPromptTokens() int { return r.load.pendingPromptTokens }

// queued is the requests that no scheduler has admitted.
func (r *replica) queued() int { return r.inbox.incoming.n + r.scheduler.waiting.n }

// running is the requests that are computed.
func (r *replica) running() int { return r.scheduler.running.n }

// kv is the KV store.
func (r *replica) kv() KVStore { return r.scheduler.kv }

// engine is the settings.
func (r *replica) engine() *Engine { return r.scheduler.engine }

// fits reports whether a request would fit if it were alone.
func (r *replica) fits(q *request) bool {
	x := &r.scheduler
	return x.kv.Blocks(x.mostTokens(q)) <= x.kv.Total()
}

// remembered is the tokens of a prompt that the prefix cache has.
func (r *replica) remembered(q *request) int {
	return r.scheduler.kv.Find(q).tokens
}

// Frame is what the replica does now.
func (r *replica) Frame() statistics.Frame {
	s := &r.scheduler
	f := statistics.Frame{Queued: r.queued(), Moving: s.sending, KVUse: float64(s.kv.Held()) / float64(s.kv.Total())}
	f.Prefill = s.running.inState(prefilling)
	f.Decode = s.running.n - f.Prefill
	return f
}

// setMeter has a meter see the steps from now on; nil is none.
func (r *replica) setMeter(m Meter) { r.device.meter = m }

// restart has all counters begin again, but for how full steps were.
func (r *replica) restart() {
	r.usage.restart(r.scheduler.clock.now, r.scheduler.kv.Held())
	r.scheduler.preemptions = 0
	r.scheduler.kv.Restart()
}

// addUse adds how the replica, one of so many in its pool, was used over a time.
func (r *replica) addUse(u *statistics.PoolUse, replicas int, over units.Seconds) {
	n, total := float64(replicas), float64(r.scheduler.kv.Total())
	if over > 0 {
		u.Busy += float64(r.usage.busy/over) / n
		u.KVMean += r.usage.blockTime / float64(over) / total / n
	}
	u.KVPeak = max(u.KVPeak, float64(r.usage.peak)/total)
	u.Steps += r.usage.steps
	u.PrefillSteps += r.usage.prefillSteps
	u.Preemptions += r.scheduler.preemptions
	u.Fullest, u.Limited = max(u.Fullest, r.usage.fullest), u.Limited || r.usage.limited
	u.Evictions += r.scheduler.kv.Evicted()
	u.Loading, u.Spared = u.Loading+r.usage.loading, u.Spared+r.usage.spared
}
