package pool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
)

// TestConcurrentEach: every index runs once, and no more workers run than allowed.
func TestConcurrentEach(t *testing.T) {
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

// TestConcurrentEachPanics: a panic in a worker is an error, that of the lowest index for any number of workers; every index
// before it runs.
func TestConcurrentEachPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, workers := rapid.IntRange(1, 50).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "workers")
		broken := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, 3, rapid.ID).Draw(t, "broken")
		first, turns := slices.Min(broken), make([]int, n)
		err := pool.Each(t.Context(), n, workers, func(i int) {
			turns[i]++
			if slices.Contains(broken, i) {
				panic(fmt.Sprint("piece ", i, " broke"))
			}
		})
		got, ok := errors.AsType[*pool.PanicError](err)
		if !ok {
			t.Fatalf("error %v, want a panic", err)
		}
		if want := fmt.Sprint("piece ", first, " broke"); got.Value != want || got.Error() != "internal error: "+want {
			t.Fatalf("value %v, error %q; want %q", got.Value, got, want)
		}
		if !bytes.Contains(got.Stack, []byte("pool_test.go")) {
			t.Fatalf("the stack does not show where it broke:\n%s", got.Stack)
		}
		if slices.Contains(turns[:first+1], 0) {
			t.Fatalf("turns %v: not everything before index %d ran", turns, first)
		}
	})
}

// TestConcurrentEachPanicsInside: a panic below several pools keeps its stack, and is found among other failures.
func TestConcurrentEachPanicsInside(t *testing.T) {
	failed := make([]error, 3)
	err := pool.Each(t.Context(), len(failed), 2, func(i int) {
		failed[i] = errors.New("no answer")
		if i == 1 {
			failed[i] = fmt.Errorf("piece: %w", pool.Each(t.Context(), 1, 1, func(int) { panic("deep") }))
		}
	})
	if err != nil {
		t.Error(err)
	}
	bug, ok := errors.AsType[*pool.PanicError](pool.Bug(failed...))
	if !ok || bug.Value != "deep" {
		t.Errorf("bug %v, want deep", bug)
	}
	if err := pool.Bug(nil, errors.New("no answer")); err != nil {
		t.Errorf("a failure is a bug: %v", err)
	}
}

// TestGuardAgain: a panic error that is panicked with stays as it is.
func TestGuardAgain(t *testing.T) {
	inner := pool.Guard(func() { panic("once") })
	if outer := pool.Guard(func() { panic(inner) }); outer != inner { //nolint:errorlint // the same value, not one that wraps it
		t.Errorf("got %v, want %v itself", outer, inner)
	}
	if err := pool.Guard(func() {}); err != nil {
		t.Error(err)
	}
}

// TestConcurrentEachCancelled: nothing starts after the context is done, and the caller learns it.
func TestConcurrentEachCancelled(t *testing.T) {
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

// TestConcurrentEachFinished: cancelling during the last piece leaves nothing undone.
func TestConcurrentEachFinished(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := pool.Each(ctx, 1, 4, func(int) { cancel() }); err != nil {
		t.Error(err)
	}
}

// TestConcurrentAll: the errors of pieces come in their order, whichever ends first; that of the context comes before them.
func TestConcurrentAll(t *testing.T) {
	fails := func(i int) error {
		if i%2 == 0 {
			return nil
		}
		return fmt.Errorf("piece %d", i)
	}
	if err := pool.All(t.Context(), 6, 4, fails); err == nil || err.Error() != "piece 1\npiece 3\npiece 5" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := pool.All(ctx, 6, 4, fails); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
