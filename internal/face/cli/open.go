package cli

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// Open opens a file to read it: a regular one, a pipe, or standard input, which is "-". What comes through a pipe is kept, so
// that it can be opened again.
func (e *Env) Open(name string) (io.ReadCloser, error) {
	once := cmp.Or(e.streams, &streams{})
	if name == "-" {
		return once.open(name, func() (io.Reader, error) { return e.Stdin, nil }), nil
	}
	path := e.path(name)
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return once.open(path, func() (io.Reader, error) { return os.Open(path) }), nil
	}
	f, err := everywhere().input(path)
	return f, renamed(err, name)
}

// renamed is an error about a file by another name, as the file was given.
func renamed(err error, name string) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = name
	}
	return err
}

// ReadFile returns the content of a file, which may have as many bytes as its kind.
func (e *Env) ReadFile(name string, k bound.Kind) ([]byte, error) {
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return bound.Read(f, name, k)
}

// DirFS returns the files under a directory, for loaders that take an [fs.FS].
func (e *Env) DirFS(dir string) fs.FS {
	root, all := e.path(dir), everywhere()
	return content{
		stat: func(name string) (fs.FileInfo, error) { return all.stat(filepath.Join(root, name)) },
		file: func(name string, flag int) (*os.File, error) { return all.file(filepath.Join(root, name), flag) },
	}
}

// content is the regular files and the folders in a folder. What else has a name there may have no end, or wait for ever
// when it is opened.
type content struct {
	stat func(name string) (fs.FileInfo, error)
	file func(name string, flag int) (*os.File, error)
}

// everywhere is all files, by their paths.
func everywhere() content {
	return content{os.Stat, func(name string, flag int) (*os.File, error) { return os.OpenFile(name, flag, 0) }}
}

// below is the files in a folder, out of which no link leads.
func below(folder *os.Root) content {
	return content{folder.Stat, func(name string, flag int) (*os.File, error) { return folder.OpenFile(name, flag, 0) }}
}

// open opens a regular file or a folder. It is looked at before, since opening a device can do something, and after, since
// another may have its name by then.
func (c content) open(name string) (*os.File, fs.FileInfo, error) {
	fit := func(info fs.FileInfo) error {
		if info.IsDir() {
			return nil
		}
		return bound.Regular(name, info)
	}
	if info, err := c.stat(name); err == nil {
		if err := fit(info); err != nil {
			return nil, nil, err
		}
	}
	f, err := c.file(name, os.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = fit(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// input opens a regular file.
func (c content) input(name string) (io.ReadCloser, error) {
	f, info, err := c.open(name)
	if err != nil {
		return nil, err
	}
	if err := bound.Regular(name, info); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Open opens a file or a folder by its path in a folder.
func (c content) Open(name string) (fs.File, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, _, err := c.open(local)
	if err != nil {
		return nil, renamed(err, name)
	}
	return f, nil
}

// ReadDir lists a folder in the order of the names.
func (c content) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := f.(*os.File).ReadDir(bound.Entries + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(all) > bound.Entries {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: bound.Over(bound.Entries, "entries")}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// streams are the inputs that can be read once, by their names.
type streams struct {
	mu  sync.Mutex
	all map[string]*stream
}

// open opens a stream, also one that was read before.
func (s *streams) open(name string, first func() (io.Reader, error)) io.ReadCloser {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*stream{}
	}
	if s.all[name] == nil {
		s.all[name] = &stream{name: name, first: first, parts: make(chan []byte)}
	}
	return &replay{of: s.all[name], closed: make(chan struct{})}
}

// stream is an input that can be read once, of which everything is kept. It is read by a goroutine of its own: nobody else
// need wait until something comes.
type stream struct {
	name  string
	first func() (io.Reader, error)
	begin sync.Once
	parts chan []byte
	end   error // why there are no more parts

	mu   sync.Mutex
	kept []byte
	over error // why there is no more than what is kept
}

// run reads what comes.
func (s *stream) run() {
	defer close(s.parts)
	in, err := s.first()
	for err == nil {
		part := make([]byte, 1<<16)
		var n int
		if n, err = in.Read(part); n > 0 {
			s.parts <- part[:n]
		}
	}
	s.end = err
}

// more waits for another part.
func (s *stream) more(closed <-chan struct{}) error {
	s.begin.Do(func() { go s.run() })
	select {
	case part, ok := <-s.parts:
		switch {
		case !ok:
			s.over = s.end
		case len(s.kept)+len(part) > bound.Pipe:
			s.over = &fs.PathError{Op: "read", Path: s.name, Err: bound.Over(bound.Pipe, "bytes through a pipe: save them to a file")}
		}
		s.kept = append(s.kept, part...)
		return s.over
	case <-closed:
		return fs.ErrClosed
	}
}

// replay reads a stream from its beginning.
type replay struct {
	of     *stream
	at     int
	closed chan struct{}
	once   sync.Once
}

// Read reads what is kept, and then what comes.
func (r *replay) Read(p []byte) (int, error) {
	s := r.of
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.over
	if r.at == len(s.kept) && err == nil {
		err = s.more(r.closed)
	}
	n := copy(p, s.kept[r.at:])
	r.at += n
	if n > 0 {
		return n, nil
	}
	return 0, cmp.Or(err, io.ErrNoProgress)
}

// Close ends the reading, also one that waits.
func (r *replay) Close() error {
	r.once.Do(func() { close(r.closed) })
	return nil
}
