package cli

import (
	"errors"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// world is a session with local files and the Hugging Face cache of the environment.
func (e *Env) world() *session.Session {
	w := &session.Session{Dir: e.DirFS, ReadFile: e.ReadFile}
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
