package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// patience is how long work may take before its progress is shown.
const patience = time.Second

// progress is a progress line on a terminal.
type progress struct {
	env     *Env
	start   time.Time
	live    bool // stderr is a terminal and --quiet is not set
	mu      sync.Mutex
	printed bool
}

// progress starts a line.
func (e *Env) progress(quiet bool) *progress {
	return &progress{env: e, start: e.Now(), live: e.IsTerminal(e.Stderr) && !quiet}
}

// watched runs an operation with its progress on the terminal. An error in the request is bad usage.
func watched[T any](env *Env, quiet bool, run func(*session.Session) (T, error)) (T, error) {
	world, line := env.world(), env.progress(quiet)
	world.Progress = line.show
	r, err := run(world)
	line.done()
	return r, asked(err)
}

// show writes the line anew.
func (l *progress) show(p session.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.live || p.Of == 0 || l.env.Now().Sub(l.start) < patience {
		return
	}
	l.printed = true
	fmt.Fprintf(l.env.Stderr, "\r%s: %d of %d %s", p.Task, p.Done, p.Of, p.What)
}

// done ends the line, if there is one.
func (l *progress) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.printed {
		fmt.Fprintln(l.env.Stderr)
	}
	l.printed = false
}
