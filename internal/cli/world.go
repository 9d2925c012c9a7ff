package cli

import (
	"errors"
	"path/filepath"

	"plimsoll/internal/app"
	"plimsoll/internal/model"
)

// world gives the operations their files: local directories, and the Hugging
// Face cache where the environment says it is (HF_HUB_CACHE, HF_HOME, or
// ~/.cache/huggingface).
func (e *Env) world() *app.World {
	w := &app.World{Dir: e.DirFS, ReadFile: e.ReadFile}
	switch {
	case e.Getenv("HF_HUB_CACHE") != "":
		w.Hub = e.DirFS(e.Getenv("HF_HUB_CACHE"))
	case e.Getenv("HF_HOME") != "":
		w.Hub = e.DirFS(filepath.Join(e.Getenv("HF_HOME"), "hub"))
	case e.Getenv("HOME") != "":
		w.Hub = e.DirFS(filepath.Join(e.Getenv("HOME"), ".cache", "huggingface", "hub"))
	}
	return w
}

// asked marks mistakes in a request as bad usage.
func asked(err error) error {
	if _, ok := errors.AsType[*app.InputError](err); !ok {
		return err
	}
	if m, ok := errors.AsType[*model.UnknownError](err); ok && len(m.Nearest) == 0 {
		return withHint(usage(err), "\"plimsoll models\" lists the catalog; a directory with a config.json will do as well")
	}
	return usage(err)
}
