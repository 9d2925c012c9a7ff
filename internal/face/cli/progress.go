package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// patience is how long work may take before its progress is shown.
const patience = time.Second

// progress is a progress line on a terminal.
type progress struct {
	env     *Env
	say     func(string) string // in the language of the dialogue; nil = as it is
	start   time.Time
	live    bool // stderr is a terminal and --quiet is not set
	mu      sync.Mutex
	printed bool
}

// progress starts a line.
func (e *Env) progress(quiet bool) *progress {
	return &progress{env: e, say: e.phrase, start: e.Now(), live: e.IsTerminal(e.Stderr) && !quiet}
}

// watched runs an operation with its progress on the terminal. An error in the request is bad usage.
func watched[Request, Response any](
	ctx context.Context, env *Env, quiet bool, run func(context.Context, *session.Session, Request) (*Response, error), r Request,
) (*Response, error) {
	world, line := env.world().Until(ctx), env.progress(quiet)
	world.Progress = line.show
	out, err := run(ctx, world, r)
	line.done()
	return out, asked(err)
}

// show writes the line anew.
func (l *progress) show(p session.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.live || l.env.Now().Sub(l.start) < patience {
		return
	}
	l.printed = true
	text := p.String()
	if l.say != nil {
		text = l.say(text)
	}
	fmt.Fprintf(l.env.Stderr, "\r%s\x1b[K", text) // what an earlier, longer line left is erased
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

// world is a session with local files and the Hugging Face cache of the environment.
func (e *Env) world() *session.Session {
	w := &session.Session{Dir: e.DirFS, Open: e.Open, Memo: e.Memo}
	if dir := plimsoll.HubCache(e.Getenv); dir != "" {
		w.Hub = e.DirFS(dir)
	}
	return w
}

// asked marks an invalid request as bad usage.
func asked(err error) error {
	if _, ok := errors.AsType[*session.InputError](err); !ok {
		return err
	}
	return mistake(err)
}

// mistake marks an error as bad usage, with a hint for an unknown model.
func mistake(err error) error {
	if m, ok := errors.AsType[*model.UnknownError](err); ok && len(m.Nearest) == 0 {
		return withHint(usage(err), "\"plimsoll models\" lists the catalog; you can also name a directory with a config.json")
	}
	return usage(err)
}
