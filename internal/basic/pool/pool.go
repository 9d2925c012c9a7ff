// Package pool does independent pieces of work on several cores.
//
// In: the number of pieces, how many may run together, and a function that does one. Out: nothing but an error when the
// work was cancelled or panicked: each piece keeps its own result, by its index, so that answers do not depend on the number
// of workers. It does not know what the work is. Start at [Each]; a [Share] bounds what several do
// together.
package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"
)

// PanicError is a panic, a bug of the program, as an error.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine that panicked, for logs
}

// Error is one line; the stack is not part of it.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Guard calls do. If do panics, the error is a [*PanicError], otherwise nil.
func Guard(do func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *PanicError:
			err = r
		default:
			err = &PanicError{Value: r, Stack: debug.Stack()}
		}
	}()
	do()
	return nil
}

// Bug returns the first of errs that is or wraps a [*PanicError], or nil: callers that collect the failures of pieces return
// it instead of listing it among them.
func Bug(errs ...error) error {
	for _, err := range errs {
		if _, ok := errors.AsType[*PanicError](err); ok {
			return err
		}
	}
	return nil
}

// Each calls do for every index from 0 to before n, on at most workers goroutines (at least one), and returns when all calls
// have returned. Once ctx is done it starts no more, and the error is that of ctx. If do panics, the error is a [*PanicError]:
// that of the lowest index, for any number of workers. The error is nil if every index ran.
func Each(ctx context.Context, n, workers int, do func(i int)) error {
	var (
		group  errgroup.Group
		mu     sync.Mutex
		broken = n // the lowest index that panicked
		bug    error
		share  = shareOf(ctx)
	)
	group.SetLimit(max(1, workers))
	share.leave() // the caller waits
	defer share.enter()
	for i := range n {
		group.Go(func() error {
			mu.Lock()
			skip := i > broken // an index before it still has to run: it may panic too
			mu.Unlock()
			if skip {
				return nil
			}
			share.enter()
			defer share.leave()
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := Guard(func() { do(i) }); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if i < broken {
					broken, bug = i, err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	if bug != nil {
		return bug
	}
	return err
}

// All is [Each] for pieces that may fail: the error is that of Each, or those of all pieces that failed, in their order.
func All(ctx context.Context, n, workers int, do func(i int) error) error {
	errs := make([]error, n)
	if err := Each(ctx, n, workers, func(i int) { errs[i] = do(i) }); err != nil {
		return err
	}
	return errors.Join(errs...)
}
