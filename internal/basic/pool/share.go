package pool

import "context"

// Share bounds how many goroutines compute at a time, over all work that it is shared by: the goroutine that [Share.Do] calls, and the
// pieces of every [Each] below it. A goroutine that waits for pieces does not count.
type Share struct{ slots chan struct{} }

// NewShare makes a share for so many goroutines.
func NewShare(n int) *Share { return &Share{make(chan struct{}, max(1, n))} }

// shareKey is the key of a share in a context.
type shareKey struct{}

// Do calls do within the share, with the context that says so.
func (s *Share) Do(ctx context.Context, do func(context.Context)) {
	s.enter()
	defer s.leave()
	do(context.WithValue(ctx, shareKey{}, s))
}

// shareOf is the share that work belongs to, nil if it is bounded by nothing.
func shareOf(ctx context.Context) *Share {
	s, _ := ctx.Value(shareKey{}).(*Share)
	return s
}

func (s *Share) enter() {
	if s != nil {
		s.slots <- struct{}{}
	}
}

func (s *Share) leave() {
	if s != nil {
		<-s.slots
	}
}
