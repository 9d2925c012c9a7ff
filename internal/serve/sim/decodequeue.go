package sim

// decodeQueue are requests whose prompt is computed and that wait, first come first served, until fewer
// than BatchSequences generate in a batch ([Engine.PrefillAhead]).
type decodeQueue struct {
	queue
	tokens int // in the cache
	left   int // to generate
}

// decodeFull reports whether a request that could generate has to wait.
func (r *replica) decodeFull() bool {
	return r.engine.PrefillAhead && (r.decode.n >= r.engine.BatchSequences || r.decodeQueue.n > 0)
}

func (r *replica) waitForDecode(q *request) {
	q.state = ready
	r.decodeQueue.push(q)
	r.decodeQueue.count(q, 1)
}

// resumeDecode lets as many generate as may.
func (r *replica) resumeDecode() {
	for r.decodeQueue.n > 0 && r.decode.n < r.engine.BatchSequences {
		r.resumeFirst()
	}
}

// resumeFirst lets the first of those that wait generate.
func (r *replica) resumeFirst() {
	q := r.decodeQueue.pop()
	r.decodeQueue.count(q, -1)
	r.generate(q, q.lastToken)
}

// leaveDecodeQueue takes one of those that wait out again. The request admitted last need not be the
// last here: one whose cache came over a link waits at once, a prompt only when it is computed.
func (r *replica) leaveDecodeQueue(q *request) {
	r.decodeQueue.remove(q)
	r.decodeQueue.count(q, -1)
}

func (p *decodeQueue) count(q *request, sign int) {
	p.tokens += sign * q.context
	p.left += sign * (q.output - q.generated)
}
