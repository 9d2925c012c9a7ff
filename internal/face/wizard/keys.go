package wizard

import (
	"io"
	"sync"
)

// keys reads a terminal for one form after the other. Each form's library reads in a
// goroutine that outlives it and would take the first keys of the next form: here it
// gets nothing more once its form is over.
type keys struct {
	from io.Reader
	once sync.Once

	mu    sync.Mutex
	more  sync.Cond
	typed []byte
	err   error
}

// file is what a terminal has: its descriptor sets its mode.
type file interface {
	io.ReadWriteCloser
	Fd() uintptr
}

func newKeys(from io.Reader) *keys {
	k := &keys{from: from}
	k.more.L = &k.mu
	return k
}

// pump reads until the terminal is closed.
func (k *keys) pump() {
	buf := make([]byte, 256)
	for {
		n, err := k.from.Read(buf)
		k.mu.Lock()
		k.typed = append(k.typed, buf[:n]...)
		k.err = err
		k.more.Broadcast()
		k.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// reader is the keys of one form.
type reader struct {
	keys *keys
	over bool
}

// reader starts the reading for a form.
func (k *keys) reader() *reader {
	k.once.Do(func() { go k.pump() })
	return &reader{keys: k}
}

// Read waits for keys, and ends with the form.
func (r *reader) Read(p []byte) (int, error) {
	k := r.keys
	k.mu.Lock()
	defer k.mu.Unlock()
	for !r.over && len(k.typed) == 0 && k.err == nil {
		k.more.Wait()
	}
	switch {
	case r.over:
		return 0, io.EOF
	case len(k.typed) > 0:
		n := copy(p, k.typed)
		k.typed = k.typed[n:]
		return n, nil
	}
	return 0, k.err
}

// end ends the form: later keys go to the next one.
func (r *reader) end() {
	r.keys.mu.Lock()
	defer r.keys.mu.Unlock()
	r.over = true
	r.keys.more.Broadcast()
}

// terminalReader is a reader of a terminal whose mode the library sets.
type terminalReader struct {
	*reader

	tty file
}

// Write implements [io.Writer].
func (t *terminalReader) Write(p []byte) (int, error) { return t.tty.Write(p) }

// Close implements [io.Closer]: the terminal stays open.
func (t *terminalReader) Close() error { return nil }

// Fd is the terminal's descriptor.
func (t *terminalReader) Fd() uintptr { return t.tty.Fd() }
