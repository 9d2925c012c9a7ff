package server

// decodeQueue are requests whose prompt is computed and that wait, first come first served, until fewer
// than BatchSequences generate in a batch ([Engine.PrefillAhead]).
type decodeQueue struct {
	queue

	tokens int // in the cache
	left   int // to generate
}

// add puts a request at the end.
func (d *decodeQueue) add(q *Request) {
	d.push(q)
	d.count(q, 1)
}

// next takes out the first.
func (d *decodeQueue) next() *Request {
	q := d.pop()
	d.count(q, -1)
	return q
}

// cancel takes out one that is preempted. The request admitted last need not be the
// last here: one whose cache came over a link waits at once, a prompt only when it is computed.
func (d *decodeQueue) cancel(q *Request) {
	d.remove(q)
	d.count(q, -1)
}

func (d *decodeQueue) count(q *Request, sign int) {
	d.tokens += sign * q.context
	d.left += sign * (q.Output - q.generated)
}
