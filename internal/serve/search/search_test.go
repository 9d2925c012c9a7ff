package search_test

import (
	"context"
	"errors"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// run searches to the end.
func run(t testing.TB, e search.Evaluator, candidates []search.Candidate, workers int, progress func(int)) []search.Result {
	t.Helper()
	results, err := search.Run(t.Context(), e, candidates, workers, progress)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestRunCancelled: a search ends when it is no longer wanted.
func TestRunCancelled(t *testing.T) {
	t.Parallel()
	p := mixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	candidates := search.Space{TP: []int{}, EP: []int{}}.Resolve(16).Enumerate(16, true)
	_, err := search.Run(ctx, &p, candidates, 1, func(int) {
		seen++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("want the search cancelled after one of %d, got %v after %d", len(candidates), err, seen)
	}
}
