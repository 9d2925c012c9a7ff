// Package pool does independent pieces of work on several cores.
//
// In: the number of pieces, how many may run together, and a function that does one. Out: nothing but an error when the
// work was cancelled: each piece keeps its own result, by its index, so that answers do not depend on the number of workers.
// It does not know what the work is. Start at [Each].
package pool

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Each calls do for every index from 0 to before n, at most workers of them at a time (at least one), and returns when all
// have returned. Once ctx is done it starts no more, and the error is that of ctx; it is nil if every index had its turn.
func Each(ctx context.Context, n, workers int, do func(i int)) error {
	var group errgroup.Group
	group.SetLimit(max(1, workers))
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			do(i)
			return nil
		})
	}
	return group.Wait()
}
