package sim

// What others see of a replica.

// queued is the requests that no scheduler has admitted.
func (r *replica) queued() int { return r.inbox.incoming.n + r.scheduler.waiting.n }

// remembered is the tokens of a prompt that the prefix cache has.
func (r *replica) remembered(q *request) int {
	return r.scheduler.kv.Find(q).tokens
}

// frame is what the replica does now.
func (r *replica) frame() frame {
	s := &r.scheduler
	f := frame{waiting: r.queued(), moving: s.sending, kv: float64(s.kv.Held()) / float64(s.kv.Total())}
	f.prefill = s.running.inState(prefilling)
	f.decode = s.running.n - f.prefill
	return f
}
