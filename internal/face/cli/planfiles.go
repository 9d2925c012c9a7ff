package cli

import (
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	launchfiles "github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// free refuses a directory that has files, before anything is searched.
func (f *planFlags) free(env *Env) error {
	if f.out != "" && !f.force && occupied(env, f.out) {
		return usagef("--out: %s is not empty; --force replaces it", f.out)
	}
	return nil
}

// write writes the record of a plan, its pages and the files that run its best deployment: all of them, or nothing.
func (f *planFlags) write(env *Env, r *opsplan.Response) error {
	files, skipped, err := planFiles(env.world(), r, f.targets.targets())
	if err != nil {
		return err
	}
	if err := writeTree(env.path(f.out), files); err != nil {
		return err
	}
	if f.quiet {
		return nil
	}
	for _, why := range skipped {
		env.Note(why.Error())
	}
	env.Note(fmt.Sprintf("wrote %d files to %s", len(files), f.out))
	return nil
}

// planFiles are the files of a plan, for some targets or all.
func planFiles(world *session.Session, r *opsplan.Response, targets []launchfiles.Target) (files []launch.File, skipped []error, err error) {
	var t tree
	encoded := func(v any) func(io.Writer) error { return func(w io.Writer) error { return operation.Encode(w, v) } }
	t.add("plan.json", encoded(r))
	t.add("report.html", func(w io.Writer) error { return web.Report(w, r) })
	t.add("report.md", func(w io.Writer) error { return web.Markdown(w, r) })
	if len(r.Contenders) == 0 || t.err != nil {
		return t.files, nil, t.err
	}
	best := &r.Contenders[0]
	t.add("deployment.json", encoded(best.Run))
	plan, err := deploy.Plan(world, &r.Request.Sources, &best.Found.Experiment, &best.Found.Option, launch.Site{})
	var run []launch.File
	if err == nil {
		run, skipped, err = launchfiles.Write(plan, targets...)
	}
	if err != nil { // the record and the pages are of use without them
		return t.files, []error{err}, t.err
	}
	for _, x := range run {
		x.Path = path.Join("deploy", x.Path)
		t.files = append(t.files, x)
	}
	if !best.Meets {
		skipped = append(skipped, errors.New("the files run the deployment nearest to the limits, which does not meet them"))
	}
	return t.files, skipped, t.err
}
