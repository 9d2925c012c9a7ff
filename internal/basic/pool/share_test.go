package pool_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
)

// TestConcurrentShare: whatever several callers ask for, and pieces ask for in turn, no more goroutines compute at a time than the share
// has; all pieces are done, also where some panic, and so is work outside of the share.
func TestConcurrentShare(t *testing.T) {
	for _, most := range []int{1, 2, 3} {
		share := pool.NewShare(most)
		var running, done atomic.Int64
		var mu sync.Mutex
		var highest int64
		compute := func() {
			n := running.Add(1)
			mu.Lock()
			highest = max(highest, n)
			mu.Unlock()
			done.Add(1)
			running.Add(-1)
		}
		search := func(ctx context.Context) {
			compute()
			for range 3 {
				if err := pool.Each(ctx, 4, 4, func(i int) {
					compute()
					if err := pool.Each(ctx, 5, 2, func(int) { compute() }); err != nil {
						t.Error(err)
					}
					compute()
					if i == 3 {
						panic("once")
					}
				}); err == nil {
					t.Error("no panic")
				}
				compute()
			}
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() { share.Do(t.Context(), search) })
		}
		all.Wait()
		const each = 1 + 3*(4*(1+5+1)+1)
		if n := done.Load(); n != 6*each {
			t.Errorf("%d computed, want %d", n, 6*each)
		}
		if n := int(highest); n > most {
			t.Errorf("%d computed at a time, want at most %d", n, most)
		}
		search(t.Context())
	}
}
