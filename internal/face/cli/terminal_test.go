package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// terminal is the program at a pseudo-terminal, driven as a person would: wait for words, type.
type terminal struct {
	t    *testing.T
	tty  *os.File
	seen int           // of the text, which was expected already
	more chan struct{} // there is more of it
	wait func() int    // for the program to end: its exit code
	end  chan int

	mu    sync.Mutex
	lines strings.Builder // whole lines, without sequences
	rest  []byte          // the line that is being written, as it came
}

// openTerminal runs the program inside the test: dialogues share what was simulated.
func openTerminal(t *testing.T, dir string, env []string, args ...string) *terminal {
	t.Helper()
	tty, screen, err := pty.Open()
	if err == nil {
		err = pty.Setsize(screen, &window)
	}
	if err != nil {
		t.Fatalf("the wizard needs a pseudo-terminal to be tested: %v", err)
	}
	code := make(chan int, 1)
	t.Cleanup(func() { _ = screen.Close() })
	go func() {
		code <- cli.Main(&cli.Env{
			Args: args, Stdin: screen, Stdout: screen, Stderr: screen, WorkDir: dir, Now: time.Now, Memo: shared,
			Getenv: func(name string) string {
				for _, e := range env {
					if value, ok := strings.CutPrefix(e, name+"="); ok {
						return value
					}
				}
				return ""
			},
		})
		_, _ = screen.WriteString(over) // closed, it would stay open for as long as the program's own reader waits for keys
	}()
	return newTerminal(t, tty, func() int { return <-code })
}

// shared is the memo of all dialogues, none of which reads a file of its own that it would remember.
var shared = memo()

// openProcess runs the program in a process of its own, whose terminal this is.
func openProcess(t *testing.T, dir string, env []string, args ...string) *terminal {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "process", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=atexit_sleep_ms=0"}, env...)
	tty, err := pty.StartWithSize(cmd, &window)
	if err != nil {
		t.Fatalf("the wizard needs a pseudo-terminal to be tested: %v", err)
	}
	return newTerminal(t, tty, func() int {
		_ = cmd.Wait() // a failure shows in the exit code
		return cmd.ProcessState.ExitCode()
	})
}

// over ends the output of a program inside the test.
const over = "\x00"

var window = pty.Winsize{Rows: 50, Cols: 160}

func newTerminal(t *testing.T, tty *os.File, wait func() int) *terminal {
	p := &terminal{t: t, tty: tty, wait: wait, more: make(chan struct{}, 1), end: make(chan int, 1)}
	go p.read()
	t.Cleanup(func() { _ = tty.Close() })
	return p
}

// read collects the output until the program ends.
func (p *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := p.tty.Read(buf)
		p.add(buf[:n])
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil || bytes.HasSuffix(buf[:n], []byte(over)) {
			p.end <- p.wait()
			return
		}
	}
}

// escapes are the sequences that move the cursor and colour the text.
var escapes = regexp.MustCompile("\x1b\\[[0-9;:?<>=$\"' ]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)|\x1b[PX^_][^\x1b]*\x1b\\\\|\x1b[()][0-9A-B]|\x1b[=>78MDEHc]|\r")

// add takes the sequences out of whole lines, once: none of them has a newline in it.
func (p *terminal) add(output []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, output...)
	end := bytes.LastIndexByte(p.rest, '\n') + 1
	p.lines.Write(escapes.ReplaceAll(p.rest[:end], nil))
	p.rest = p.rest[end:]
}

// text is the output without sequences.
func (p *terminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines.String() + string(escapes.ReplaceAll(p.rest, nil))
}

// patience is how long a program may be silent: much longer than it is on a busy machine, and less than go test waits.
const patience = 5 * time.Minute

// expect waits for words after those that were expected before.
func (p *terminal) expect(words string) {
	p.t.Helper()
	for {
		text := p.text()
		text = text[min(p.seen, len(text)):]
		if i := strings.Index(text, words); i >= 0 {
			p.seen += i + len(words)
			return
		}
		select {
		case <-p.more:
		case <-time.After(patience):
			p.t.Fatalf("waiting for %q after:\n%s", words, text)
		}
	}
}

// send types.
func (p *terminal) send(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// close waits for the program to end with a code, and returns all it printed.
func (p *terminal) close(code int) string {
	p.t.Helper()
	select {
	case got := <-p.end:
		if got != code {
			p.t.Fatalf("exit code: want %d, got %d:\n%s", code, got, p.text())
		}
	case <-time.After(patience):
		p.t.Fatalf("the program does not end:\n%s", p.text())
	}
	return p.text()
}
