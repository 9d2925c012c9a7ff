package sweep

import (
	"context"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// remembered bounds the simulations that cells share: some kilobytes each, at most twice as many.
const remembered = 1024

// Run answers cells on a number of workers and hands each row to keep, one at a time, in the order in which they end. It ends
// with the first error of keep, of ctx, or of the program.
func (s *Sweep) Run(ctx context.Context, w *session.Session, cells []int, workers int, keep func(*Row) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	inner := *w
	inner.Memo, inner.Progress = &session.Memo{Size: remembered}, nil
	var mu sync.Mutex
	done := 0
	kept := func(row *Row) error {
		mu.Lock()
		defer mu.Unlock()
		if err := keep(row); err != nil {
			return err
		}
		done++
		w.Tell(session.Progress{Task: "sweep", Done: done, Of: len(cells), What: "cells"})
		return nil
	}
	size := s.Grid.group()
	groups := (len(cells) + size - 1) / size
	err := pool.Each(ctx, groups, workers, func(g int) {
		// One worker answers the cells of a group, so that each finds what the ones before remembered.
		for _, index := range cells[g*size : min(len(cells), (g+1)*size)] {
			row, err := s.answer(ctx, &inner, index)
			if err == nil {
				err = kept(row)
			}
			if err != nil {
				cancel(err)
				return
			}
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
