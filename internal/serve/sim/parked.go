package sim

// parked are requests whose prompt is computed and that wait, first come first served, until fewer
// than BatchSequences generate in a batch ([Engine.PrefillAhead]).
type parked struct {
	queue
	tokens int // in the cache
	left   int // to generate
}

// full reports whether a request that could generate has to wait.
func (r *replica) full() bool {
	return r.engine.PrefillAhead && (r.decode.n >= r.engine.BatchSequences || r.parked.n > 0)
}

func (r *replica) park(q *request) {
	q.state = ready
	r.parked.push(q)
	r.parked.count(q, 1)
}

// unparkSome lets as many generate as may.
func (r *replica) unparkSome() {
	for r.parked.n > 0 && r.decode.n < r.engine.BatchSequences {
		r.unpark()
	}
}

// unpark lets the first of those that wait generate.
func (r *replica) unpark() {
	q := r.parked.pop()
	r.parked.count(q, -1)
	r.generate(q, q.last)
}

// sendBack takes one of those that wait out again. The request admitted last need not be the
// last here: one whose cache came over a link waits at once, a prompt only when it is computed.
func (r *replica) sendBack(q *request) {
	r.parked.remove(q)
	r.parked.count(q, -1)
}

func (p *parked) count(q *request, sign int) {
	p.tokens += sign * q.context
	p.left += sign * (q.output - q.generated)
}
