package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"

	"golang.org/x/term"
)

// Env is the operating system as the program sees it. Nothing else reads arguments, environment, clock or files, so a
// test that fills an Env runs the whole program.
type Env struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	// LookupEnv also says whether a variable is set; nil = it is if it is not empty.
	LookupEnv func(string) (string, bool)
	WorkDir   string // base of relative file names; "" is the working directory of the process
	Now       func() time.Time
	Cores     int           // processors of the process, which a server divides; 0 = those of the Go runtime, left as they are
	Build     Build         // what the Go tool could not write into the binary
	Memo      *session.Memo // simulations of other commands with the same files; nil for none
	Disk      disk.System   // where files are written; nil is the machine's

	phrase  func(string) string // progress in the language of a dialogue; nil = English
	streams *streams
}

// Build identifies the source of a binary.
type Build struct{ Version, Revision, Time string }

// OSEnv returns the environment of the running process.
func OSEnv() *Env {
	return &Env{
		Args:   os.Args[1:],
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Getenv: os.Getenv, LookupEnv: os.LookupEnv,
		Now:   time.Now,
		Cores: runtime.GOMAXPROCS(0),
	}
}

// path places a file name in the working directory.
func (e *Env) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.WorkDir, name)
}

// IsTerminal reports whether a stream of this Env is a terminal, where a person reads.
func (e *Env) IsTerminal(stream any) bool {
	_, ok := terminal(stream)
	return ok
}

// Color reports whether a stream of this Env wants colour. NO_COLOR is the convention of no-color.org.
func (e *Env) Color(stream io.Writer) bool {
	return e.IsTerminal(stream) && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// Width returns the columns of the output: COLUMNS if set, otherwise the terminal's. It is 0 when stdout is a file or a
// pipe: then nothing is wrapped or cut.
func (e *Env) Width() int {
	if n, err := strconv.Atoi(e.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if fd, ok := terminal(e.Stdout); ok {
		if n, _, err := term.GetSize(fd); err == nil {
			return n
		}
	}
	return 0
}

// terminal returns the descriptor behind a stream if it is a terminal.
func terminal(stream any) (fd int, ok bool) {
	if w, wrapped := stream.(*watchedWriter); wrapped {
		stream = w.to
	}
	f, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// Note prints a message that is neither a result nor an error: a warning, a default that was used.
func (e *Env) Note(text string) { e.say("note", text) }

// noteUnless prints a note, unless the command is to be quiet.
func (e *Env) noteUnless(quiet bool, format string, args ...any) {
	if !quiet {
		e.Note(fmt.Sprintf(format, args...))
	}
}

// JSON prints v as the result.
func (e *Env) JSON(v any) error {
	return document.Encode(e.Stdout, v)
}

// show prints v as JSON or as the report prints it.
func show[T any](e *Env, asJSON bool, v T, report func(io.Writer, T)) error {
	return answer(e, asJSON, v, func(v T) T { return v }, report)
}

// answer prints a response as the JSON of its document, or as the report prints it.
func answer[R, D any](e *Env, asJSON bool, r R, document func(R) D, report func(io.Writer, R)) error {
	if asJSON {
		return e.JSON(document(r))
	}
	e.print(func(w io.Writer) { report(w, r) })
	return nil
}

// print prints a report, on a terminal in its width.
func (e *Env) print(write func(io.Writer)) {
	width := e.Width()
	if width == 0 {
		write(e.Stdout)
		return
	}
	page := &report.Page{To: e.Stdout, Columns: width}
	write(page)
	_ = page.Close() // a failed write is remembered
}

// watchedWriter remembers the first failed write, so that commands may print freely and a full disk is still an error.
type watchedWriter struct {
	to  io.Writer
	err error
}

// Write passes p on until a write has failed.
func (w *watchedWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}
