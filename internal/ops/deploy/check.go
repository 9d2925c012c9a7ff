package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// say is a finding on a line.
func say(f *lint.Finding) string {
	text := f.File + ": "
	if f.Where != "" {
		text += f.Where + ": "
	}
	return text + f.What
}

// Write makes the files of a plan and checks them, before anything is written: every interface gets its files here. Files with errors
// are an [UnsoundError], unless they are forced; the errors are then in the response.
func Write(ctx context.Context, w *session.Session, s *session.Sources, p *launch.Plan, force bool, targets ...files.Target) (*Response, error) {
	made, skipped, err := files.Write(p, targets...)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := &Response{Files: made}
	for _, why := range skipped {
		out.Skipped = append(out.Skipped, why.Error())
	}
	found, err := check(ctx, w, s, p, made)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 && !force {
		return nil, session.BadInput(&UnsoundError{found})
	}
	for i := range found {
		out.Findings = append(out.Findings, say(&found[i]))
	}
	return out, nil
}

// check finds errors in files as someone does who did not make them.
func check(ctx context.Context, w *session.Session, s *session.Sources, p *launch.Plan, made []launch.File) ([]lint.Finding, error) {
	var out []lint.Finding
	for _, together := range files.Together(made) {
		for i := range together {
			out = append(out, ports(&together[i])...)
		}
		found, err := read(ctx, w, s, p, together)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.ContainsFunc(out, func(o lint.Finding) bool { return say(&o) == say(&f) }) { // targets share config files
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// read are the errors that lint finds in the files of a target, and another number of devices than the plan's or, for one of several
// units, the unit's.
func read(ctx context.Context, w *session.Session, s *session.Sources, p *launch.Plan, together []launch.File) ([]lint.Finding, error) {
	prompt := max(p.Prompt, p.Input)
	q := lint.Request{
		System: p.Deployment.System, Version: p.Deployment.Engine.Version, Static: true, Sources: session.Sources{DeviceFile: s.DeviceFile},
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
		r = &lint.Response{Devices: p.Deployment.Devices(), Findings: []lint.Finding{{Severity: lint.SevereError, What: err.Error()}}}
	}
	out := slices.DeleteFunc(r.Findings, func(f lint.Finding) bool { // an engine reads no comments
		return f.Severity != lint.SevereError || strings.HasPrefix(f.Where, "# plimsoll")
	})
	for i := range out {
		if out[i].File == "" {
			out[i].File = q.Files[0]
		}
	}
	if unit, all := p.Deployment.Devices(), p.Deployment.Devices()*p.Units(); r.Devices != unit && r.Devices != all {
		out = append(out, lint.Finding{Severity: lint.SevereError, File: q.Files[0], Where: "devices", What: fmt.Sprintf("%d start, but the plan has %d", r.Devices, all)})
	}
	return out, nil
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
	return p.Site.ModelPath == "" && p.Models == nil && d.AsFamily == ""
}

// listens are the ways to set the ports of a process on a host.
var listens = regexp.MustCompile(`(--port|--http-port|--disaggregation-bootstrap-port|DYN_SYSTEM_PORT|VLLM_NIXL_SIDE_CHANNEL_PORT)["':,\s=-]+(\d+)`)

// ports are those that two processes of a host would listen on, or that no host has.
func ports(f *launch.File) []lint.Finding {
	host := strings.HasSuffix(f.Path, ".sh") || strings.HasSuffix(f.Path, "compose.yaml")
	if !host || strings.HasPrefix(path.Base(f.Path), "bench") {
		return nil
	}
	const most = 65535
	taken := map[int]int{}
	for _, m := range listens.FindAllSubmatch(f.Data, -1) {
		n, _ := strconv.Atoi(string(m[2]))
		taken[n]++
	}
	var out []lint.Finding
	for _, n := range slices.Sorted(maps.Keys(taken)) {
		switch {
		case n < 1 || n > most:
			out = append(out, lint.Finding{Severity: lint.SevereError, File: f.Path, Where: "port", What: fmt.Sprintf("%d is not from 1 to %d", n, most)})
		case taken[n] > 1:
			out = append(out, lint.Finding{Severity: lint.SevereError, File: f.Path, Where: "port", What: fmt.Sprintf("%d is given to %d processes", n, taken[n])})
		}
	}
	return out
}
