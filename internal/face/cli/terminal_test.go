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
)

// terminal is the program at a pseudo-terminal, driven as a person would: wait for words, type.
type terminal struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	seen int           // of the text, which was expected already
	more chan struct{} // there is more of it
	end  chan error

	mu    sync.Mutex
	lines strings.Builder // whole lines, without sequences
	rest  []byte          // the line that is being written, as it came
}

// openTerminal starts the program.
func openTerminal(t *testing.T, dir string, env []string, args ...string) *terminal {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "process", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=atexit_sleep_ms=0"}, env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 160})
	if err != nil {
		t.Fatalf("the wizard needs a pseudo-terminal to be tested: %v", err)
	}
	p := &terminal{t: t, tty: tty, cmd: cmd, more: make(chan struct{}, 1), end: make(chan error, 1)}
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
		if err != nil {
			p.end <- p.cmd.Wait()
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
	case <-p.end:
	case <-time.After(patience):
		p.t.Fatalf("the program does not end:\n%s", p.text())
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("exit code: want %d, got %d:\n%s", code, got, p.text())
	}
	return p.text()
}
