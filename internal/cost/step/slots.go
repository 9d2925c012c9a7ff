package step

import (
	"math/bits"
	"sync/atomic"
)

// slots remembers what was computed for counts. It is safe for concurrent use, and so is
// what it remembers, which must not be changed.
type slots[T any] []atomic.Pointer[slot[T]]

type slot[T any] struct {
	n     int
	value T
}

// tries is how many slots a count may be in; one that finds them taken replaces the first.
const tries = 4

// newSlots makes as many as a power of two.
func newSlots[T any](bits int) slots[T] { return make(slots[T], 1<<bits) }

// get returns what is remembered for a count, or makes it.
func (s slots[T]) get(n int, fill func(n int, to *T)) *T {
	first := spread(uint64(n), len(s))
	for i := range tries {
		at := &s[(first+i)&(len(s)-1)]
		switch e := at.Load(); {
		case e == nil:
			return s.put(at, n, fill)
		case e.n == n:
			return &e.value
		}
	}
	return s.put(&s[first], n, fill)
}

func (s slots[T]) put(at *atomic.Pointer[slot[T]], n int, fill func(n int, to *T)) *T {
	e := &slot[T]{n: n}
	fill(n, &e.value)
	at.Store(e)
	return &e.value
}

// spread is a place among so many, a power of two, far from those of neighbours.
func spread(key uint64, places int) int {
	const golden = 0x9E3779B97F4A7C15 // 2⁶⁴ over the golden ratio
	return int(key * golden >> (64 - bits.TrailingZeros(uint(places))))
}
