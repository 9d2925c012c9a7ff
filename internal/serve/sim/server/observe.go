package server

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// What others see of a replica.

// Assigned is the requests that were sent here and have not left.
func (r *Replica) Assigned() int { return r.load.requests }

// PendingPromptTokens is the tokens of their prompts that are not computed, where a router counts them.
func (r *Replica) PendingPromptTokens() int { return r.load.pendingPromptTokens }

// Queued is the requests that no scheduler has admitted.
func (r *Replica) Queued() int { return r.inbox.incoming.n + r.scheduler.waiting.n }

// Running is the requests that are computed.
func (r *Replica) Running() int { return r.scheduler.running.n }

// KV is the KV store.
func (r *Replica) KV() KVStore { return r.scheduler.kv }

// Engine is the settings.
func (r *Replica) Engine() *Engine { return r.scheduler.engine }

// Fits reports whether a request would fit if it were alone.
func (r *Replica) Fits(q *Request) bool {
	x := &r.scheduler
	return x.kv.Blocks(x.mostTokens(q)) <= x.kv.Total()
}

// Remembered is the tokens of a prompt that the prefix cache has.
func (r *Replica) Remembered(q *Request) int {
	return r.scheduler.kv.Find(q).tokens
}

// Frame is what the replica does now.
func (r *Replica) Frame() statistics.Frame {
	s := &r.scheduler
	f := statistics.Frame{Queued: r.Queued(), Moving: s.sending, KVUse: float64(s.kv.Held()) / float64(s.kv.Total())}
	f.Prefill = s.running.inState(prefilling)
	f.Decode = s.running.n - f.Prefill
	return f
}

// SetMeter has a meter see the steps from now on; nil is none.
func (r *Replica) SetMeter(m Meter) { r.device.meter = m }

// Restart has all counters begin again, but for how full steps were.
func (r *Replica) Restart() {
	r.usage.restart(r.scheduler.clock.Now, r.scheduler.kv.Held())
	r.scheduler.preemptions = 0
	r.scheduler.kv.Restart()
}

// AddUse adds how the replica, one of so many in its pool, was used over a time.
func (r *Replica) AddUse(u *statistics.PoolUse, replicas int, over units.Seconds) {
	n, total := float64(replicas), float64(r.scheduler.kv.Total())
	if over > 0 {
		u.Busy += float64(r.usage.busy/over) / n
		u.KVMean += r.usage.blockTime / float64(over) / total / n
	}
	u.KVPeak = max(u.KVPeak, float64(r.usage.peak)/total)
	u.Steps += r.usage.steps
	u.PrefillSteps += r.usage.prefillSteps
	u.Preemptions += r.scheduler.preemptions
	u.MaxStepTokens, u.Limited = max(u.MaxStepTokens, r.usage.maxTokens), u.Limited || r.usage.limited
	u.Evictions += r.scheduler.kv.Evicted()
	u.Loading, u.Spared = u.Loading+r.usage.loading, u.Spared+r.usage.spared
}
