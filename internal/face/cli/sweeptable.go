package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/sweep"
)

// sweepTable is a table in the making.
type sweepTable struct {
	env     *Env
	sweep   *sweep.Sweep
	shard   sweep.Shard
	heading sweep.Heading
	out     string
}

// part is the file of a shard.
func (t *sweepTable) part(i int) string {
	return partName(t.out, strconv.Itoa(i), strconv.Itoa(t.shard.Of))
}

// partName is the file of a shard beside its table.
func partName(out, i, of string) string {
	return fmt.Sprintf("%s.part-%s-of-%s.jsonl", strings.TrimSuffix(out, filepath.Ext(out)), i, of)
}

// run runs the cells that are not in the journal, and writes the table or the shard's part.
func (t *sweepTable) run(ctx context.Context, f *sweepFlags) error {
	target := t.out
	if t.shard.Of > 1 {
		target = t.part(t.shard.Index)
		if done, err := t.finished(target); (done || err != nil) && !f.restart {
			if done {
				t.complete(target)
				t.env.noteUnless(f.quiet, "%s is complete", target)
			}
			return err
		}
	}
	if err := t.env.try(aFile, "out", target, false); err != nil {
		return err
	}
	lock, err := t.env.disk().Lock(t.env.target(target) + ".lock")
	if held, ok := errors.AsType[*disk.HeldError](err); ok {
		return fmt.Errorf("--out %s: %s is writing it", target, held.Holder)
	}
	if err != nil {
		return t.env.wrote("out", target, err)
	}
	t.env.noteUnless(!lock.Weak || f.quiet, "the file system has no locks: do not run the sweep of %s twice at once", target)
	err = t.env.wrote("out", target, t.locked(ctx, f, target))
	if failed := lock.Release(); failed != nil && err == nil {
		t.env.Note("could not remove the lock of " + target + ": " + cause(failed).Error())
	}
	return err
}

// complete clears what is left of a run that was killed after its part was whole.
func (t *sweepTable) complete(target string) {
	d, path := t.env.disk(), t.env.target(target)
	d.Clear(path)
	_, noJournal := d.Sys.Stat(path + ".journal")
	_, noLock := d.Sys.Stat(path + ".lock")
	if noJournal != nil && noLock != nil {
		return
	}
	if lock, err := d.Lock(path + ".lock"); err == nil {
		_, _ = d.Drop(path+".journal"), lock.Release()
	}
}

// locked is run in the only process that writes the target.
func (t *sweepTable) locked(ctx context.Context, f *sweepFlags, target string) error {
	if err := t.adopt(target, f.restart); err != nil {
		return err
	}
	j, err := t.openJournal(target+".journal", f.restart)
	if err != nil {
		return err
	}
	defer func() { _ = j.file.Close() }() // it was synced, or is not needed any more
	ctx, stop := untilSignal(ctx)
	defer stop()
	if err := t.fill(ctx, j, f); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped; run the same command again to resume from %s", j.name)
		}
		return err
	}
	part, err := t.finish(target, j)
	if err != nil {
		return err
	}
	t.env.noteUnless(f.quiet, "wrote %d rows to %s; %d failed, %d over limits", part.Rows(), target, part.Failed, part.Over)
	_ = j.file.Close() // or Windows does not remove it
	return t.env.disk().Drop(t.env.target(j.name))
}

// adopt makes a part that lost rows the journal to go on from.
func (t *sweepTable) adopt(target string, restart bool) error {
	if t.shard.Of == 1 || restart {
		return nil
	}
	d, journal := t.env.disk(), t.env.target(target+".journal")
	for name, want := range map[string]bool{t.env.target(target): true, journal: false} {
		if _, err := d.Sys.Stat(name); (err == nil) != want {
			return nil // there is no part, or a journal
		}
	}
	return d.Rename(t.env.target(target), journal)
}

// fill runs the cells that are not in the journal.
func (t *sweepTable) fill(ctx context.Context, j *journal, f *sweepFlags) error {
	var cells []int
	for cell := range t.sweep.In(t.shard) {
		if !j.part.Has(cell) {
			cells = append(cells, cell)
		}
	}
	if n := j.part.Damaged; n > 0 {
		t.env.noteUnless(f.quiet, "%s in %s damaged and ignored: their cells run again", units.Counted(n, "line"), j.name)
	}
	if n := j.part.Rows(); n > 0 {
		t.env.noteUnless(f.quiet, "%s in %s, %s left", units.Counted(n, "row"), j.name, units.Counted(len(cells), "cell"))
	}
	if f.jobs == 0 {
		f.jobs = runtime.GOMAXPROCS(0)
	}
	world, line := t.env.world().Until(ctx), t.env.progress(f.quiet)
	world.Progress = t.progress(line, f.quiet)
	err := t.sweep.Run(ctx, world, cells, f.jobs, j.keep)
	line.done()
	if synced := j.file.Sync(); err == nil {
		err = synced
	}
	return err
}

// finish writes the table, or the part, from the journal.
func (t *sweepTable) finish(target string, j *journal) (*sweep.Part, error) {
	part, err := readPart(j.file)
	if err == nil {
		err = part.Complete()
	}
	if err != nil {
		return nil, err
	}
	return part, t.env.create("out", target, func(w io.Writer) error {
		if t.shard.Of > 1 {
			return part.Sorted(w)
		}
		format, err := sweep.FormatOf(target)
		if err != nil {
			return err
		}
		return sweep.Merge([]*sweep.Part{part}, w, format)
	})
}

// progress shows progress on a terminal, and every half minute in a log.
func (t *sweepTable) progress(line *progress, quiet bool) func(session.Progress) {
	const often = 30 * time.Second
	last := t.env.Now()
	return func(p session.Progress) {
		line.show(p)
		if now := t.env.Now(); !quiet && !line.live && now.Sub(last) >= often {
			last = now
			t.env.Note(fmt.Sprintf("%d of %d cells", p.Done, p.Of))
		}
	}
}

// finished reports whether a part is whole.
func (t *sweepTable) finished(name string) (bool, error) {
	part, file, err := t.env.openPart(name)
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return false, nil // nothing is there, or writing says what is wrong
	}
	if err == nil {
		defer file.Close() //nolint:errcheck // it was only read
		err = part.Heading.Resumes(t.heading)
	}
	if err != nil {
		return false, usagef("%s: %w; --restart replaces it", name, err)
	}
	return part.Complete() == nil, nil
}
