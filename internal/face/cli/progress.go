package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// patience is how long work may last before it shows its progress.
const patience = time.Second

// progress is a line on a terminal that says how far long work is.
type progress struct {
	env     *Env
	start   time.Time
	live    bool // stderr is a terminal, and silence was not asked for
	mu      sync.Mutex
	printed bool
}

// progress starts a line.
func (e *Env) progress(quiet bool) *progress {
	return &progress{env: e, start: e.Now(), live: e.IsTerminal(e.Stderr) && !quiet}
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
