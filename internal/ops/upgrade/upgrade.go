// Package upgrade says what another release of an engine means for a launch command or launch files.
//
// In: a [Request] with two releases. Out: a [Response] with what breaks, the defaults and values that change, and the figures
// predicted under both. What breaks is what lint finds under one release and not under the other. It changes no files. Start at
// [Run].
package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Request is a launch command or launch files, and the releases of their engine to compare.
type Request struct {
	lint.Request // its version is not used

	Engine string `json:"engine,omitempty"` // "" = that of the files
	From   string `json:"from"`
	To     string `json:"to"`
}

// Response is what changes.
type Response struct {
	Schema string `json:"schema"`
	Engine string `json:"engine"`
	Title  string `json:"engine_title"`
	From   Side   `json:"from"`
	To     Side   `json:"to"`
	// Months is the time between the releases.
	Months float64 `json:"months"`
	Model  string  `json:"model,omitempty"`
	Device string  `json:"device,omitempty"`
	GPUs   int     `json:"gpus"`

	// Breaks are findings under the new release that the old one does not have; Mended those that it has no more.
	Breaks []lint.Finding `json:"breaks"`
	Mended []lint.Finding `json:"mended"`
	// Defaults are settings with a flag, Modelled what the prediction rests on beside them.
	Defaults []Default `json:"defaults"`
	Modelled []Default `json:"modelled"`
	// Reworked are flags and keys that keep their name and do something else, and changes without a flag.
	Reworked []engine.Reworked `json:"reworked"`
	Values   []Values          `json:"values"`
	// Added and Removed are all flags and keys that differ, used or not.
	Added   []string `json:"added"`
	Removed []string `json:"removed"`

	// Concurrency is the requests in flight that the times are predicted at; 0 without a prediction.
	Concurrency int      `json:"concurrency,omitempty"`
	Effects     []Effect `json:"effects"`
	Drift       *Drift   `json:"drift"`
	Unknown     []string `json:"unknown"`
	Caution     string   `json:"caution,omitempty"`
}

// Schema names the format of a [Response].
const Schema = "plimsoll/upgrade/1"

// Side is one of the releases.
type Side struct {
	Version string `json:"version"`
	Date    string `json:"date,omitempty"`
	// Unread says that flags of the release were not to be had: those of the releases beside it stand for them.
	Unread bool `json:"unread,omitempty"`

	lint *lint.Response
}

// Default is a setting that the files leave to the engine, and that the releases set differently. None, as the engines declare it, is decided
// when the engine starts.
type Default struct {
	Key  string `json:"key,omitempty"`  // as in "plimsoll engines"; "" for what the prediction does not model
	Flag string `json:"flag,omitempty"` // the engine's own name; "" for what has none
	Pool string `json:"pool,omitempty"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Values are allowed values of a flag or key in use that differ.
type Values struct {
	Flag string   `json:"flag"`
	New  []string `json:"new,omitempty"`
	Gone []string `json:"gone,omitempty"`
}

// Effect is a figure under both releases.
type Effect struct {
	What string           `json:"what"`
	Unit string           `json:"unit"`
	From figures.Estimate `json:"from"`
	To   figures.Estimate `json:"to"`
	// Change is the predicted one, relative. Low and High are its 80 % interval, from measured changes of engines over the same
	// time; the errors of the two predictions are largely the same. Null where nothing was measured.
	Change float64  `json:"change"`
	Low    *float64 `json:"change_low"`
	High   *float64 `json:"change_high"`
}

// Run compares two releases for files or a command.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	out := &Response{
		Schema: Schema, Breaks: []lint.Finding{}, Mended: []lint.Finding{}, Defaults: []Default{}, Modelled: []Default{}, Values: []Values{}, Added: []string{}, Removed: []string{},
		Effects: []Effect{}, Unknown: []string{},
	}
	if err := out.releases(ctx, w, &r); err != nil {
		return nil, err
	}
	q := r.Request
	q.Static = true
	for _, s := range []*Side{&out.From, &out.To} {
		q.Version = s.Version
		var err error
		if s.lint, err = lint.Run(ctx, w, q); err != nil {
			return nil, err
		}
	}
	out.Model, out.Device, out.GPUs = out.To.lint.Model, out.To.lint.Device, out.To.lint.Devices
	out.findings()
	out.names()
	if err := out.defaults(w); err != nil {
		return nil, err
	}
	out.declared()
	if err := out.effects(ctx, w, &r); err != nil {
		return nil, err
	}
	out.unknown()
	return session.Finish(ctx, out, nil)
}

// releases finds the engine and its releases.
func (out *Response) releases(ctx context.Context, w *session.Session, r *Request) error {
	q := r.Request
	q.Static, q.Version = true, ""
	read, err := lint.Run(ctx, w, q)
	if err != nil {
		return err
	}
	out.Engine, out.Title = read.Engine, read.Title
	if r.Engine != "" {
		p, err := engine.LookupVersion(r.Engine, "")
		if err != nil {
			return session.BadInput(field.About("engine", err))
		}
		switch {
		case p.Name == out.Engine || p.Name == engine.Server(out.Engine):
		case read.Device == "" && p.Server() == out.Engine: // a port to a device that the files do not say
			out.Engine, out.Title = p.Name, p.Title
		default:
			return session.BadInput(field.Errorf("%s is %s, and the files start %s", field.Name("engine"), p.Name, out.Engine))
		}
	}
	for _, s := range []struct {
		side *Side
		name string
	}{{&out.From, r.From}, {&out.To, r.To}} {
		p := engine.Published(released(out.Engine), s.name)
		if p == nil {
			return session.BadInput(noRelease(released(out.Engine), s.name))
		}
		*s.side = Side{Version: p.Version, Date: p.Date, Unread: p.Unread}
	}
	if out.From.Version == out.To.Version {
		return session.BadInput(fmt.Errorf("the releases are the same, %s", out.To.Version))
	}
	from, err1 := time.Parse(time.DateOnly, out.From.Date)
	to, err2 := time.Parse(time.DateOnly, out.To.Date)
	if err1 == nil && err2 == nil {
		const month = 365.25 / 12 * 24 // hours
		out.Months = to.Sub(from).Hours() / month
	}
	return nil
}

// noRelease names the nearest release: the one most like the word, or the newest.
func noRelease(name, release string) error {
	var names []string
	for _, p := range engine.Releases(name) {
		names = append(names, p.Version)
	}
	if len(names) == 0 {
		return fmt.Errorf("no releases of %s are known", name)
	}
	near := names[0]
	if version.Check(release) == nil {
		if below := engine.Upto(name, release); slices.Contains(names, below) {
			near = below
		}
	} else if word, ok := nearest.Match(release, names); ok {
		near = word
	}
	return fmt.Errorf("%s has no release %q; nearest: %s (known are %s to %s)", name, release, near, names[0], names[len(names)-1])
}

// findings are those that only one of the releases has.
func (out *Response) findings() {
	only := func(a, b *lint.Response) []lint.Finding {
		list := []lint.Finding{}
		for _, f := range a.Findings {
			same := func(g lint.Finding) bool {
				return g.Code == f.Code && g.Where == f.Where && g.File == f.File && g.Line == f.Line
			}
			if !slices.ContainsFunc(b.Findings, same) {
				list = append(list, f)
			}
		}
		return list
	}
	out.Breaks, out.Mended = only(out.To.lint, out.From.lint), only(out.From.lint, out.To.lint)
}

// names are the flags and keys that differ, and the values of those in use.
func (out *Response) names() {
	lists := map[string][2][]string{}
	for _, list := range []string{engine.Server(out.Engine), engine.Server(out.Engine) + "-keys"} {
		added, removed := engine.Between(list, out.From.Version, out.To.Version)
		lists[list] = [2][]string{added, removed}
		out.Added = append(out.Added, slices.DeleteFunc(slices.Clone(added), isValue)...)
		out.Removed = append(out.Removed, slices.DeleteFunc(slices.Clone(removed), isValue)...)
	}
	for _, flag := range out.To.lint.Flags {
		x := Values{Flag: flag.Name, New: engine.ValuesOf(flag.Name, lists[flag.List][0]), Gone: engine.ValuesOf(flag.Name, lists[flag.List][1])}
		if len(x.New)+len(x.Gone) > 0 && !slices.ContainsFunc(out.Values, func(v Values) bool { return v.Flag == flag.Name }) {
			out.Values = append(out.Values, x)
		}
	}
}

func isValue(name string) bool { return strings.Contains(name, "=") }

// defaults compares the settings that the engine would run with.
func (out *Response) defaults(w *session.Session) error {
	sides := [2][]*engine.Profile{}
	var roles []string
	for i, s := range []*Side{&out.From, &out.To} {
		d := &s.lint.Deployment
		if s.lint.Capacity == nil { // unknown model or device, or it does not start
			p, err := engine.LookupVersion(out.Engine, s.Version)
			if err != nil {
				return session.BadInput(err)
			}
			sides[i] = []*engine.Profile{p}
			continue
		}
		_, resolved, err := w.Resolved(d, &s.lint.Request.Sources)
		if err != nil {
			return err
		}
		for j := range resolved.Pools {
			sides[i] = append(sides[i], resolved.Pools[j].Engine)
			if i == 1 && len(resolved.Pools) > 1 {
				roles = append(roles, string(resolved.Pools[j].Role))
			}
		}
	}
	for j := range min(len(sides[0]), len(sides[1])) {
		was := sides[0][j].Settings()
		for _, now := range sides[1][j].Settings() {
			i := slices.IndexFunc(was, func(s engine.Setting) bool { return s.Key == now.Key })
			if i < 0 || was[i].Value == now.Value {
				continue
			}
			x := Default{Key: now.Key, Flag: launch.Name(sides[1][j], out.To.Version, now.Key), From: was[i].Value, To: now.Value}
			if roles != nil {
				x.Pool = roles[j]
			}
			if x.Flag == x.Key {
				x.Flag = ""
				out.Modelled = append(out.Modelled, x)
				continue
			}
			out.Defaults = append(out.Defaults, x)
		}
	}
	return nil
}

// declared adds defaults that flags declare, of flags that the files leave out.
func (out *Response) declared() {
	given := map[string]bool{"--model": true} // every launch has one
	for _, f := range out.To.lint.Flags {
		given[f.Name] = true
	}
	for _, d := range out.Defaults {
		given[d.Flag] = true
	}
	out.Reworked = append([]engine.Reworked{}, engine.ReworkedBetween(out.Engine, out.From.Version, out.To.Version)...)
	all, known := engine.Redefaulted(engine.Server(out.Engine), out.From.Version, out.To.Version)
	for _, d := range all {
		if !given[d.Flag] {
			out.Defaults = append(out.Defaults, Default{Flag: d.Flag, From: d.From, To: d.To})
		}
	}
	newest := out.To.Version
	if version.Compare(out.From.Version, newest) > 0 {
		newest = out.From.Version
	}
	switch {
	case known == "":
		out.Unknown = append(out.Unknown, "defaults of flags that the prediction does not model")
	case version.Compare(newest, known) > 0:
		out.Unknown = append(out.Unknown, "defaults of flags that the prediction does not model, after "+known)
	}
}

// effects predicts the files under both releases, with the same requests in flight.
func (out *Response) effects(ctx context.Context, w *session.Session, r *Request) error {
	a, b := out.From.lint.Capacity, out.To.lint.Capacity
	if a == nil || b == nil {
		return nil
	}
	sure := func(n int) figures.Estimate { return figures.Sure(float64(n)) }
	add := func(what, unit string, from, to figures.Estimate, drift func(*Drift) figures.Estimate) {
		if from.Value == 0 {
			return
		}
		e := Effect{What: what, Unit: unit, From: from, To: to, Change: to.Value/from.Value - 1}
		if drift != nil && out.Drift != nil {
			band := drift(out.Drift)
			e.Low, e.High = new((1+e.Change)*(1+band.Low)-1), new((1+e.Change)*(1+band.High)-1)
		}
		out.Effects = append(out.Effects, e)
	}
	q := r.Request
	q.AsIs, q.Concurrency = true, cmp.Or(r.Concurrency, min(a.Safe, b.Safe))
	var p [2]*simulate.Response
	for i, s := range []*Side{&out.From, &out.To} {
		if r.Static || q.Concurrency == 0 {
			break
		}
		q.Version = s.Version
		l, err := lint.Run(ctx, w, q)
		if err != nil {
			return err
		}
		p[i] = l.Prediction
	}
	if p[0] != nil && p[1] != nil {
		out.Concurrency, out.Caution, out.Drift = q.Concurrency, session.Caution, driftOver(out.Months)
		ranged := func(t *simulate.Times) figures.Estimate {
			return figures.Estimate{Value: t.Mean, Low: t.Low, High: t.High}
		}
		add("TTFT", "ms", ranged(&p[0].TTFT), ranged(&p[1].TTFT), func(d *Drift) figures.Estimate { return d.TTFT })
		if p[0].TPOT != nil && p[1].TPOT != nil {
			add("TPOT", "ms", ranged(p[0].TPOT), ranged(p[1].TPOT), func(d *Drift) figures.Estimate { return d.TPOT })
		}
		tokens := func(x *simulate.Response) figures.Estimate {
			return x.Expected.Throughput.Of(x.OutputRate.Value)
		}
		add("throughput", "output tokens/s", tokens(p[0]), tokens(p[1]), func(d *Drift) figures.Estimate { return d.Throughput })
	}
	add("KV cache", "tokens", sure(a.Tokens), sure(b.Tokens), nil)
	add("safe concurrency", "requests", sure(a.Safe), sure(b.Safe), nil)
	return nil
}

// unknown says what the answer does not rest on.
func (out *Response) unknown() {
	for _, s := range []*Side{&out.From, &out.To} {
		if s.Unread {
			out.Unknown = append(out.Unknown, fmt.Sprintf("the flags of %s are not available; using those of the neighbouring releases", s.Version))
		}
	}
	if newer := newest(out.Engine, out.To.Version); newer != "" {
		out.Unknown = append(out.Unknown, newer)
	}
	switch {
	case out.Model == "" || out.Device == "":
		out.Unknown = append(out.Unknown, "the model or the device is not in the files: give --model and --system for a prediction")
	case len(out.Effects) == 0:
		out.Unknown = append(out.Unknown, "no prediction: the deployment does not start under one of the releases")
	}
	out.Unknown = append(out.Unknown, "flags that keep their name and default but change their meaning")
	if out.Drift != nil && out.Drift.Beyond {
		out.Unknown = append(out.Unknown, "the releases are more than two and a half months apart, the longest interval measured: the change may be larger")
	}
}

// released is the engine whose table of releases an engine has: a port its own, if there is one.
func released(name string) string {
	if engine.Releases(name) == nil {
		return engine.Server(name)
	}
	return name
}

// newest is a note on a release that no profile knows.
func newest(name, release string) string {
	p, err := engine.LookupVersion(name, release)
	if err != nil {
		return ""
	}
	return p.Newer(release)
}
