package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// UnsoundError is the errors that lint finds in files which were made. They are given only where they are forced.
type UnsoundError struct {
	Findings []lint.Finding
}

// Error lists the findings.
func (e *UnsoundError) Error() string {
	lines := []string{"not written, since lint finds errors in the files (force writes them):"}
	for i := range e.Findings {
		lines = append(lines, say(&e.Findings[i]))
	}
	return strings.Join(lines, "\n")
}

// Line is the same on a line: the first finding, and how many more there are.
func (e *UnsoundError) Line() string {
	text := "not written, since lint finds errors in them (force writes them): " + say(&e.Findings[0])
	if n := len(e.Findings) - 1; n > 0 {
		text += ", and " + units.Counted(n, "more error")
	}
	return text
}

// say is a finding on a line.
func say(f *lint.Finding) string {
	text := f.File + ": "
	if f.Where != "" {
		text += f.Where + ": "
	}
	return text + f.What
}

// Write makes the files of a plan and checks them, before anything is written: every interface gets its files here. Targets whose files
// have errors are left out with a reason, as those that cannot run the plan. Without another target, and if one was asked for, they are an
// [UnsoundError]. Where errors are forced, they are in the response.
func Write(ctx context.Context, w *session.Session, s *session.Sources, p *launch.Plan, force bool, targets ...files.Target) (*Response, error) {
	made, skipped, err := files.Write(p, targets...)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := &Response{Files: made}
	for _, why := range skipped {
		out.Skipped = append(out.Skipped, why.Error())
	}
	found, sound, err := check(ctx, w, s, p, made)
	if err != nil {
		return nil, err
	}
	var all []lint.Finding
	for i := range found {
		all = append(all, fresh(all, found[i].Findings)...)
	}
	switch {
	case len(all) == 0:
	case force:
		for i := range all {
			out.Findings = append(out.Findings, say(&all[i]))
		}
	case len(targets) > 0 || !sound:
		return nil, session.BadInput(&UnsoundError{all})
	default:
		var left []files.Target
		for i := range found {
			u := &found[i]
			left, out.Skipped = append(left, u.target), append(out.Skipped, fmt.Sprintf("%s files %s", u.target, u.Line()))
		}
		out.Files, _, err = files.Without(p, left...)
	}
	out.Rests = files.Rests(out.Files)
	return out, err
}

// Few makes the files that AIConfigurator writes of a row: those for Dynamo, and a benchmark. Where Dynamo cannot run the plan they are the
// engine's own commands, and the reason is in the response.
func Few(ctx context.Context, w *session.Session, s *session.Sources, p *launch.Plan, force bool) (*Response, error) {
	out, err := Write(ctx, w, s, p, force, files.Dynamo, files.Bench)
	unsound, ok := errors.AsType[*UnsoundError](err)
	var why string
	switch {
	case ok:
		why = "dynamo files " + unsound.Line()
	case err != nil:
		return nil, err
	case len(out.Skipped) == 0:
		return out, nil
	default:
		why = out.Skipped[0]
	}
	other, failed := Write(ctx, w, s, p, force, files.Plain, files.Bench)
	if failed != nil {
		return out, err
	}
	other.Skipped = append(other.Skipped, why)
	return other, nil
}

// unsound are the errors of a target.
type unsound struct {
	UnsoundError

	target files.Target
}

// check finds errors in files as someone does who did not make them, by target; sound says that there is a target without any.
func check(ctx context.Context, w *session.Session, s *session.Sources, p *launch.Plan, made []launch.File) (found []unsound, sound bool, err error) {
	for _, set := range files.Together(made) {
		all, err := read(ctx, w, s, p, set.Files)
		if err != nil {
			return nil, false, err
		}
		if len(all) == 0 {
			continue
		}
		i := slices.IndexFunc(found, func(u unsound) bool { return u.target == set.Target })
		if i < 0 {
			i, found = len(found), append(found, unsound{target: set.Target})
		}
		found[i].Findings = append(found[i].Findings, fresh(found[i].Findings, all)...)
	}
	sound = slices.ContainsFunc(files.Together(made), func(s files.Set) bool {
		return !slices.ContainsFunc(found, func(u unsound) bool { return u.target == s.Target })
	})
	return found, sound, nil
}

// fresh are findings that are not among those known: sets and targets share config files.
func fresh(known, found []lint.Finding) []lint.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f lint.Finding) bool {
		return slices.ContainsFunc(known, func(o lint.Finding) bool { return say(&o) == say(&f) })
	})
}

// read are the errors that lint finds in the files of a target, and another number of devices than the plan's or, for one of several
// units, the unit's.
func read(ctx context.Context, w *session.Session, s *session.Sources, p *launch.Plan, together []launch.File) ([]lint.Finding, error) {
	prompt := max(p.Prompt, p.Input)
	q := lint.Request{
		System: p.Deployment.System, Version: release(p, together), Static: true, Sources: session.Sources{DeviceFile: s.DeviceFile},
		Input: prompt, Output: max(1, p.Longest-prompt, p.Output),
	}
	content := map[string][]byte{}
	for _, f := range together {
		q.Files = append(q.Files, f.Path)
		content[f.Path] = f.Data
		if tells(p) {
			content[f.Path] = bytes.ReplaceAll(f.Data, []byte("# plimsoll:"), []byte("#"))
		}
	}
	memory := w.Over(func(name string) ([]byte, bool) {
		data, ok := content[name]
		return data, ok
	})
	r, err := lint.Run(ctx, memory, q)
	switch {
	case errors.Is(err, launch.ErrNoLaunch): // files that start no engine
		return nil, nil
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if err != nil { // what cannot be read is a finding too
		r = &lint.Response{Findings: []lint.Finding{{Severity: lint.SevereError, What: err.Error()}}}
	}
	out := slices.DeleteFunc(r.Findings, func(f lint.Finding) bool { // an engine reads no comments
		return f.Severity != lint.SevereError || strings.HasPrefix(f.Where, "# plimsoll")
	})
	for i := range out {
		if out[i].File == "" {
			out[i].File = q.Files[0]
		}
	}
	if unit, all := p.Deployment.Devices(), p.Deployment.Devices()*p.Units(); r.Engine != "" && r.Devices != unit && r.Devices != all {
		out = append(out, lint.Finding{Severity: lint.SevereError, File: q.Files[0], Where: "devices", What: fmt.Sprintf("%d start, but the plan has %d", r.Devices, all)})
	}
	return out, nil
}

// release is that of the engine which files are for: not the plan's where it is in no image of Dynamo.
func release(p *launch.Plan, made []launch.File) string {
	if found, err := launch.Read(made...); err == nil && found.Deployment.Engine.Version != "" {
		return found.Deployment.Engine.Version
	}
	return p.Deployment.Engine.Version
}

// tells reports whether files of a plan tell all that lint needs without the comment for it: not the devices of each pool, which model a
// path holds, or that a model is taken for another.
func tells(p *launch.Plan) bool {
	d := &p.Deployment
	for i := range d.Pools {
		if d.Pools[i].System != "" && d.Pools[i].System != d.System {
			return false
		}
	}
	return p.Site.ModelPath == "" && p.Loads == nil && d.AsFamily == ""
}
