package formulas

// cohort is requests in decode with the same number of tokens to go.
type cohort struct{ n, left int }

// queue is requests in decode. Its cohorts count their tokens to go from the age of
// the queue, so that a token for all of them is one addition.
type queue struct {
	ring  []cohort // a power of two long; left is too large by the age
	front int
	size  int
	total int // requests
	age   int
	// mixed says that tokens to go need not fall from front to back.
	mixed bool
}

// at is the i-th cohort from the front.
func (q *queue) at(i int) *cohort { return &q.ring[(q.front+i)&(len(q.ring)-1)] }

// grow makes room for another cohort.
func (q *queue) grow() {
	if q.size < len(q.ring) {
		return
	}
	wider := make([]cohort, max(16, 2*len(q.ring)))
	for i := range q.size {
		wider[i] = *q.at(i)
	}
	q.ring, q.front = wider, 0
}

// push adds a cohort at the front, as the next to be served, or at the back.
func (q *queue) push(c cohort, front bool) {
	if c.n == 0 {
		return
	}
	q.total += c.n
	c.left += q.age
	end := func() *cohort {
		if front {
			return q.at(0)
		}
		return q.at(q.size - 1)
	}
	if q.size > 0 && end().left == c.left {
		end().n += c.n
		return
	}
	q.grow()
	if front {
		q.front = (q.front - 1) & (len(q.ring) - 1)
	}
	q.size++
	*end() = c
}

// take removes up to n requests from the first cohort.
func (q *queue) take(n int) cohort {
	c := q.at(0)
	out := cohort{min(n, c.n), c.left - q.age}
	c.n -= out.n
	q.total -= out.n
	if c.n == 0 {
		q.front = (q.front + 1) & (len(q.ring) - 1)
		q.size--
	}
	return out
}

// shortest is the fewest tokens any request has to go.
func (q *queue) shortest() int {
	least := q.at(q.size - 1).left
	if q.mixed {
		for i := range q.size {
			least = min(least, q.at(i).left)
		}
	}
	return least - q.age
}

// all gives every request a number of tokens, no more than the shortest has to go.
// It returns how many end; the others keep their order.
func (q *queue) all(tokens int) (ended int) {
	q.age += tokens
	if q.mixed {
		return q.sweep()
	}
	for q.size > 0 && q.at(q.size-1).left == q.age {
		ended += q.at(q.size - 1).n
		q.size--
	}
	q.total -= ended
	return ended
}

// sweep removes the requests that have ended, wherever they are.
func (q *queue) sweep() (ended int) {
	kept := 0
	q.mixed = false
	for i := range q.size {
		c := *q.at(i)
		if c.left == q.age {
			ended += c.n
			continue
		}
		if kept > 0 && q.at(kept-1).left < c.left {
			q.mixed = true
		}
		*q.at(kept) = c
		kept++
	}
	q.size = kept
	q.total -= ended
	return ended
}

// some gives the first n requests a token each and puts them at the back. It
// returns how many end.
func (q *queue) some(n int) (ended int) {
	q.mixed = true
	for n > 0 {
		c := q.take(n)
		n -= c.n
		if c.left--; c.left > 0 {
			q.push(c, false)
		} else {
			ended += c.n
		}
	}
	return ended
}
