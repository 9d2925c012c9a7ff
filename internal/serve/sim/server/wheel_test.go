package server

import (
	"testing"

	"pgregory.net/rapid"
)

// TestWheel: whatever joins and leaves, near or far ahead, the wheel names the request
// that ends first.
func TestWheel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := make([]Request, 64)
		for i := range requests {
			requests[i].ID, requests[i].Serial = i, int32(i)
		}
		w := wheel{requests: requests}
		far := rapid.SampledFrom([]int64{1, 40, 3000, 1 << 24}).Draw(t, "far")
		in, clock := map[int]bool{}, int64(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			q := &requests[rapid.IntRange(0, len(requests)-1).Draw(t, "request")]
			if in[q.ID] {
				w.remove(q)
			} else {
				q.finish = clock + rapid.Int64Range(1, far).Draw(t, "end")
				w.add(q)
			}
			in[q.ID] = !in[q.ID]
			var first *Request
			for i := range requests {
				if o := &requests[i]; in[i] && (first == nil || o.endsBefore(first)) {
					first = o
				}
			}
			if first == nil {
				if w.n != 0 {
					t.Fatalf("%d left, want none", w.n)
				}
				continue
			}
			if got := w.next(); got != first {
				t.Fatalf("want request %d, which ends at %d; got %d at %d", first.ID, first.finish, got.ID, got.finish)
			}
			clock = max(clock, first.finish-rapid.Int64Range(1, 3).Draw(t, "before"))
		}
	})
}
