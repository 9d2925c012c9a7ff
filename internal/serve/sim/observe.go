package sim

import "github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"

// What others see of a replica.

// queued is the requests that no scheduler has admitted.
func (r *replica) queued() int { return r.inbox.incoming.n + r.scheduler.waiting.n }

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
