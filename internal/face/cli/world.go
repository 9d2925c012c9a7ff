package cli

import (
	"errors"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// world gives the operations their files: local directories, and the Hugging
// Face cache where the environment says it is.
func (e *Env) world() *session.Session {
	w := &session.Session{Dir: e.DirFS, ReadFile: e.ReadFile}
	if dir := plimsoll.HubCache(e.Getenv); dir != "" {
		w.Hub = e.DirFS(dir)
	}
	return w
}

// asked marks mistakes in a request as bad usage.
func asked(err error) error {
	if _, ok := errors.AsType[*session.InputError](err); !ok {
		return err
	}
	return mistake(err)
}

// mistake marks an error as bad usage, with a hint for an unknown model.
func mistake(err error) error {
	if m, ok := errors.AsType[*model.UnknownError](err); ok && len(m.Nearest) == 0 {
		return withHint(usage(err), "\"plimsoll models\" lists the catalog; a directory with a config.json works too")
	}
	return usage(err)
}
