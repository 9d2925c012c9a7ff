package operation

import (
	"context"
	"sync/atomic"
)

// lane runs some requests in parallel, and lets others wait.
type lane struct {
	slots   chan struct{}
	most    int64
	waiting atomic.Int64
}

func newLane(parallel, waiting int) *lane {
	return &lane{slots: make(chan struct{}, parallel), most: int64(waiting)}
}

// enter waits for a slot; leave gives it back.
func (l *lane) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-l.slots }
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if l.waiting.Add(1) > l.most {
		l.waiting.Add(-1)
		return nil, ErrBusy
	}
	defer l.waiting.Add(-1)
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Load is how many requests run, and how many wait.
type Load struct{ Running, Waiting int }

func (l *lane) load() Load { return Load{len(l.slots), int(l.waiting.Load())} }
