package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// write writes the record of a plan, its pages and the files that run its best deployment: all of them, or nothing. Files that were asked for
// and that no target has, or in which lint finds errors, are the error; the record and the pages are of use without them.
func (f *planFlags) write(ctx context.Context, env *Env, r *opsplan.Response) error {
	t, err := planFiles(ctx, env.world(), r, f.force, &f.targets)
	if err != nil {
		return err
	}
	if err := env.place("out", f.out, t.files, f.force); err != nil {
		return err
	}
	for _, text := range append(t.notes, fmt.Sprintf("wrote %s to %s", units.Counted(len(t.files), "file"), f.out)) {
		env.noteUnless(f.quiet, "%s", text)
	}
	return t.lacks
}

// planTree is what plan writes.
type planTree struct {
	tree

	notes []string // what to say about the files
	lacks error    // why files that were asked for are not among them
}

// planFiles makes the record, the pages and the files of a plan for some targets or all.
func planFiles(ctx context.Context, world *session.Session, r *opsplan.Response, force bool, targets *targetFlag) (*planTree, error) {
	var t planTree
	encoded := func(v any) func(io.Writer) error { return func(w io.Writer) error { return document.Encode(w, v) } }
	t.add("plan.json", encoded(r))
	t.add("report.html", func(w io.Writer) error { return web.Report(w, r) })
	t.add("report.md", func(w io.Writer) error { return web.Markdown(w, r) })
	if len(r.Contenders) == 0 || t.err != nil {
		return &t, t.err
	}
	best := &r.Contenders[0]
	t.add("deployment.json", encoded(best.Run))
	plan, err := deploy.Plan(world, &r.Request.Sources, &best.Found.Experiment, &best.Found.Option, launch.Site{})
	if err != nil {
		t.notes = []string{err.Error()}
		return &t, t.err
	}
	made, err := deploy.Write(ctx, world, &r.Request.Sources, plan, force, targets.targets()...)
	if err != nil {
		if _, unsound := errors.AsType[*deploy.UnsoundError](err); unsound || len(targets.targets()) > 0 {
			t.lacks = asked(err)
		} else { // nothing can run it, and nothing was asked for
			t.notes = []string{err.Error()}
		}
		return &t, errors.Join(t.err, ctx.Err())
	}
	for _, x := range made.Files {
		x.Path = path.Join("deploy", x.Path)
		t.files = append(t.files, x)
	}
	t.notes, t.lacks = targets.about(made)
	if !best.Meets {
		t.notes = append(t.notes, "no deployment meets the limits; the files run the one nearest to them")
	}
	return &t, t.err
}
