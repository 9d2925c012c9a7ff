package sim

// recency is a set of entries in the order of their last use: a list through
// arrays, closed at index 0. Content i is at index i+1.
type recency struct {
	older, newer []int32
	n            int
}

// reach makes room for an index.
func (l *recency) reach(i int32) {
	for int(i) >= len(l.older) {
		l.older, l.newer = append(l.older, 0), append(l.newer, 0)
	}
}

// link adds an entry as the newest.
func (l *recency) link(i int32) {
	newest := l.older[0]
	l.newer[newest], l.older[i] = i, newest
	l.newer[i], l.older[0] = 0, i
	l.n++
}

func (l *recency) unlink(i int32) {
	l.newer[l.older[i]], l.older[l.newer[i]] = l.newer[i], l.older[i]
	l.n--
}

// run takes out the first of some contents and those that follow it as long as each is the next older entry, as they were added
// together; it returns how many.
func (l *recency) run(contents []uint32) int {
	first := int32(contents[0]) + 1
	last, n := first, 1
	for ; n < len(contents) && l.older[last] == int32(contents[n])+1; n++ {
		last = l.older[last]
	}
	after, before := l.newer[first], l.older[last]
	l.newer[before], l.older[after] = after, before
	l.n -= n
	return n
}

// oldest is the entry used longest ago; there must be one.
func (l *recency) oldest() int32 { return l.newer[0] }
