package cli

import (
	"bytes"
	"io"
	"io/fs"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/ops/sweep"
)

// journal is the rows that are known, in the order in which they ended.
type journal struct {
	file disk.File
	name string
	part *sweep.Part // what there was when it was opened

	env    *Env
	synced time.Time
}

// openJournal opens or starts the journal of a table. What a killed run wrote of a row is cut off.
func (t *sweepTable) openJournal(name string, restart bool) (*journal, error) {
	file, err := t.env.disk().Append(t.env.target(name))
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, name: name, env: t.env, synced: t.env.Now()}
	if restart {
		err = file.Truncate(0)
	}
	if err == nil {
		err = j.read(t.heading)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return j, nil
}

// read finds the rows of a journal, and starts an empty one.
func (j *journal) read(want sweep.Heading) error {
	var err error
	if j.part, err = readPart(j.file); err != nil && bytes.IndexByte(head(j.file), '\n') < 0 {
		// Nothing is there, or a heading that was not written whole.
		text, err := want.Line()
		if err == nil {
			err = j.file.Truncate(0)
		}
		if err == nil {
			_, err = j.file.Write(text)
		}
		if err != nil {
			return err
		}
		j.part, err = readPart(j.file)
		return err
	}
	if err == nil {
		err = j.part.Heading.Resumes(want)
	}
	if err != nil {
		return usagef("%s: %w; --restart starts over", j.name, err)
	}
	return j.file.Truncate(j.part.Size)
}

// head is the beginning of a file, longer than a heading.
func head(file io.ReaderAt) []byte {
	b := make([]byte, 1<<12)
	n, _ := file.ReadAt(b, 0)
	return b[:n]
}

// keep adds a row. It is in the file when keep returns, and on the disk a second later at most.
func (j *journal) keep(r *sweep.Row) error {
	text, err := r.Line()
	if err != nil {
		return err
	}
	if _, err := j.file.Write(text); err != nil {
		return err
	}
	if now := j.env.Now(); now.Sub(j.synced) >= time.Second {
		j.synced = now
		return j.file.Sync()
	}
	return nil
}

// readPart reads a part from a file.
func readPart(file interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
},
) (*sweep.Part, error) {
	info, err := file.Stat()
	if err == nil {
		err = bound.Regular(info.Name(), info)
	}
	if err != nil {
		return nil, err
	}
	return sweep.ReadPart(file, info.Size())
}

// openPart reads a finished part.
func (e *Env) openPart(name string) (*sweep.Part, io.Closer, error) {
	file, _, err := everywhere().open(e.path(name))
	if err != nil {
		return nil, nil, renamed(err, name)
	}
	part, err := readPart(file)
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return part, file, nil
}
