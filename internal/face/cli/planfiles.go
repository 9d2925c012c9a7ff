package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	launchfiles "github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// write writes the record of a plan, its pages and the files that run its best deployment: all of them, or nothing. Without files that lint
// finds no errors in, the record and the pages are written, and the findings are the error.
func (f *planFlags) write(ctx context.Context, env *Env, r *opsplan.Response) error {
	files, notes, err := planFiles(ctx, env.world(), r, f.force, f.targets.targets())
	unsound, ok := errors.AsType[*deploy.UnsoundError](err)
	if err != nil && !ok {
		return err
	}
	if err := env.place("out", f.out, files, f.force); err != nil {
		return err
	}
	for _, text := range append(notes, fmt.Sprintf("wrote %s to %s", units.Counted(len(files), "file"), f.out)) {
		env.noteUnless(f.quiet, "%s", text)
	}
	if ok {
		return unsound
	}
	return nil
}

// planFiles are the files of a plan, for some targets or all, and what to say about them.
func planFiles(ctx context.Context, world *session.Session, r *opsplan.Response, force bool, targets []launchfiles.Target) (files []launch.File, notes []string, err error) {
	var t tree
	encoded := func(v any) func(io.Writer) error { return func(w io.Writer) error { return document.Encode(w, v) } }
	t.add("plan.json", encoded(r))
	t.add("report.html", func(w io.Writer) error { return web.Report(w, r) })
	t.add("report.md", func(w io.Writer) error { return web.Markdown(w, r) })
	if len(r.Contenders) == 0 || t.err != nil {
		return t.files, nil, t.err
	}
	best := &r.Contenders[0]
	t.add("deployment.json", encoded(best.Run))
	plan, err := deploy.Plan(world, &r.Request.Sources, &best.Found.Experiment, &best.Found.Option, launch.Site{})
	var made *deploy.Response
	if err == nil {
		made, err = deploy.Write(ctx, world, &r.Request.Sources, plan, force, targets...)
	}
	if err != nil { // the record and the pages are of use without them
		if _, ok := errors.AsType[*deploy.UnsoundError](err); ok {
			return t.files, nil, errors.Join(t.err, err)
		}
		return t.files, []string{err.Error()}, t.err
	}
	for _, x := range made.Files {
		x.Path = path.Join("deploy", x.Path)
		t.files = append(t.files, x)
	}
	notes = slices.Concat(made.Skipped, made.Findings, made.Rests)
	if !best.Meets {
		notes = append(notes, "no deployment meets the limits; the files run the one nearest to them")
	}
	return t.files, notes, t.err
}
