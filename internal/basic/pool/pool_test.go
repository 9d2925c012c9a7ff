package pool_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
)

// TestEach: every index has its turn once, and no more workers run than were asked for.
func TestEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, workers := rapid.IntRange(0, 50).Draw(t, "n"), rapid.IntRange(-1, 8).Draw(t, "workers")
		turns := make([]int, n)
		var mu sync.Mutex
		running, most := 0, 0
		err := pool.Each(t.Context(), n, workers, func(i int) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			turns[i]++
			mu.Lock()
			running--
			mu.Unlock()
		})
		if err != nil {
			t.Fatal(err)
		}
		if limit := max(1, workers); most > limit {
			t.Fatalf("%d ran together, want at most %d", most, limit)
		}
		for i, got := range turns {
			if got != 1 {
				t.Fatalf("index %d had %d turns", i, got)
			}
		}
	})
}

// TestEachCancelled: nothing starts after the context is done, and the caller is told.
func TestEachCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	started := 0
	err := pool.Each(ctx, 1000, 1, func(i int) {
		started++
		if i == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || started != 3 {
		t.Errorf("%d started, error %v; want 3 and %v", started, err, context.Canceled)
	}
	if err := pool.Each(ctx, 0, 1, nil); err != nil {
		t.Errorf("no work was left undone, but: %v", err)
	}
}

// TestEachFinished: cancelling during the last piece leaves nothing undone.
func TestEachFinished(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := pool.Each(ctx, 1, 4, func(int) { cancel() }); err != nil {
		t.Error(err)
	}
}
