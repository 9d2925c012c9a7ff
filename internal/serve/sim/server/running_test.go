package server

import "testing"

// TestLongRunning: the order of admission is kept however many have left meanwhile: the last admitted is preempted first.
func TestLongRunning(t *testing.T) {
	requests := make([]Request, 1000)
	for i := range requests {
		requests[i].ID = i
	}
	l := running{requests: requests}
	for i := range requests {
		l.push(&requests[i])
		if i%3 != 0 {
			l.remove(&requests[i])
		}
		if got, want := l.last().ID, i/3*3; got != want {
			t.Fatalf("after %d: want %d last, got %d", i, want, got)
		}
	}
	if l.n != 334 {
		t.Errorf("%d run", l.n)
	}
}
