package server

import "math/bits"

// wheel is requests in the order in which they end, by the order in which they were sent among equals: a circle
// of buckets of the token clock, each with its requests in order. Requests seldom share
// a bucket, so that each comes and goes in a step or two, however many there are.
type wheel struct {
	requests []Request // of the simulation, by identity
	buckets  []bucket  // a power of two
	taken    []uint64  // a bit for each bucket
	shift    uint      // a bucket is so many bits of the clock
	from, to int64     // nothing ends before or after
	first    int32     // the one to end first, from 1; 0 where that is not known
	n        int
}

// bucket is the requests of one, first and last, from 1; 0 is none.
type bucket struct{ first, last int32 }

const (
	fewBuckets  = 1 << 8
	manyBuckets = 1 << 14 // beyond so many, buckets grow wider
)

// slot is the bucket of a time on the clock.
func (w *wheel) slot(at int64) int { return int(at>>w.shift) & (len(w.buckets) - 1) }

// next is the request that ends first; there must be one.
func (w *wheel) next() *Request {
	if w.first == 0 {
		w.first = w.buckets[w.search()].first
		w.from = w.requests[w.first-1].finish
	}
	return &w.requests[w.first-1]
}

// search finds the first bucket with a request, from where the first may be.
func (w *wheel) search() int {
	i := w.slot(w.from)
	word := i >> 6
	rest := w.taken[word] >> (i & 63) << (i & 63)
	for rest == 0 {
		word = (word + 1) & (len(w.taken) - 1)
		rest = w.taken[word]
	}
	return word<<6 + bits.TrailingZeros64(rest)
}

// add adds a request whose end is known.
func (w *wheel) add(q *Request) {
	id := int32(q.ID) + 1
	if w.n == 0 {
		w.from, w.to, w.first = q.finish, q.finish, id
	} else {
		w.from, w.to = min(w.from, q.finish), max(w.to, q.finish)
		if w.first > 0 && q.endsBefore(&w.requests[w.first-1]) {
			w.first = id
		}
	}
	for w.to>>w.shift-w.from>>w.shift >= int64(len(w.buckets)) {
		w.grow()
	}
	w.n++
	w.insert(q, id)
}

// insert puts a request into its bucket, mostly behind all others.
func (w *wheel) insert(q *Request, id int32) {
	i := w.slot(q.finish)
	b := &w.buckets[i]
	w.taken[i>>6] |= 1 << (i & 63)
	before, after := b.last, int32(0)
	for before > 0 && q.endsBefore(&w.requests[before-1]) {
		before, after = w.requests[before-1].sooner, before
	}
	q.sooner, q.later = before, after
	*w.laterOf(before, b) = id
	*w.soonerOf(after, b) = id
}

// remove takes a request out.
func (w *wheel) remove(q *Request) {
	i := w.slot(q.finish)
	b := &w.buckets[i]
	*w.laterOf(q.sooner, b) = q.later
	*w.soonerOf(q.later, b) = q.sooner
	if b.first == 0 {
		w.taken[i>>6] &^= 1 << (i & 63)
	}
	if w.first == int32(q.ID)+1 {
		w.first = 0
	}
	w.n--
}

// laterOf is where what follows a request stands, or a bucket's first.
func (w *wheel) laterOf(id int32, b *bucket) *int32 {
	if id == 0 {
		return &b.first
	}
	return &w.requests[id-1].later
}

// soonerOf is where what precedes a request stands, or a bucket's last.
func (w *wheel) soonerOf(id int32, b *bucket) *int32 {
	if id == 0 {
		return &b.last
	}
	return &w.requests[id-1].sooner
}

// grow makes more buckets, or wider ones.
func (w *wheel) grow() {
	old := w.buckets
	n := max(fewBuckets, 2*len(old))
	if n > manyBuckets {
		n = manyBuckets
		w.shift++
	}
	w.buckets, w.taken = make([]bucket, n), make([]uint64, n/64)
	for _, b := range old {
		for id := b.first; id > 0; {
			q := &w.requests[id-1]
			next := q.later
			w.insert(q, id)
			id = next
		}
	}
}

// endsBefore orders requests by their end, by the order in which they were sent among equals.
func (q *Request) endsBefore(o *Request) bool {
	return q.finish < o.finish || q.finish == o.finish && q.Serial < o.Serial
}
