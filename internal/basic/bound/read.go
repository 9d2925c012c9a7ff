package bound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// TooLargeError is an input that is larger than its kind may be.
type TooLargeError struct {
	Name string // of the file, "-" for standard input, "" to leave it out
	Kind Kind
	Size int64 // 0 if it ends after the bound at an unknown place, as of a pipe
}

// Error says which input, how large it is and what is allowed.
func (e *TooLargeError) Error() string {
	name, size := e.Name+": ", ""
	switch e.Name {
	case "":
		name = ""
	case "-":
		name = "standard input: "
	}
	if e.Size > 0 {
		size = " with " + Size(e.Size)
	}
	return fmt.Sprintf("%stoo large%s; %s", name, size, e.Kind.Allowed())
}

// Regular reports an error unless info is of a regular file: what else has a name may have no end, or no beginning.
func Regular(name string, info fs.FileInfo) error {
	is := "neither a file nor a directory"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		is = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		is = "a named pipe"
	case mode&fs.ModeSocket != 0:
		is = "a socket"
	case mode&fs.ModeDevice != 0:
		is = "a device"
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%s, %w", is, ErrNotRegular)}
}

// ErrNotRegular is part of errors about what is read only as a file.
var ErrNotRegular = errors.New("not a regular file")

// Read reads an input whole. A file that says it is larger than its kind may be is not read, and of what does not say so no
// more is read than the bound and a byte.
func Read(r io.Reader, name string, k Kind) ([]byte, error) {
	size := int64(0)
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	if size > k.Bytes() {
		return nil, &TooLargeError{name, k, size}
	}
	var b buffer
	b.data = make([]byte, 0, size+1)
	if err := b.fill(Limited(r, name, k)); err != nil {
		return nil, err
	}
	return b.data, nil
}

// buffer collects what is read. Unlike that of [io.ReadAll] it begins with the size of the file.
type buffer struct{ data []byte }

func (b *buffer) fill(r io.Reader) error {
	const least = 512
	for {
		if len(b.data) == cap(b.data) {
			b.data = append(make([]byte, 0, max(least, 2*cap(b.data))), b.data...)
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Limited reads an input piece by piece, for those who keep no more than they need: past the bound of its kind there is an error.
func Limited(r io.Reader, name string, k Kind) io.Reader {
	return &limited{io.LimitedReader{R: r, N: k.Bytes() + 1}, name, k}
}

type limited struct {
	io.LimitedReader

	name string
	kind Kind
}

// Read reads what is left up to the bound.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.LimitedReader.Read(p)
	if l.N == 0 {
		return n, &TooLargeError{Name: l.name, Kind: l.kind}
	}
	return n, err
}

// File reads a regular file of a tree whole.
func File(tree fs.FS, name string, k Kind) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err == nil {
		err = Regular(name, info)
	}
	if err != nil {
		return nil, err
	}
	return Read(f, name, k)
}

// Until is an opened input whose reading ends with ctx, also where it waits for more.
func Until(ctx context.Context, r io.ReadCloser) io.ReadCloser {
	return &until{r, ctx, context.AfterFunc(ctx, func() { _ = r.Close() })}
}

type until struct {
	io.ReadCloser

	ctx  context.Context //nolint:containedctx // of the one reading
	stop func() bool
}

// Read reads, unless the context has ended.
func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := u.ReadCloser.Read(p)
	if err != nil && u.ctx.Err() != nil {
		err = u.ctx.Err()
	}
	return n, err
}

// Stat describes a file that can be described.
func (u *until) Stat() (fs.FileInfo, error) {
	if f, ok := u.ReadCloser.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

// Close closes the input.
func (u *until) Close() error {
	u.stop()
	return u.ReadCloser.Close()
}
