package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// Request is a launch command or launch files to check.
type Request struct {
	// Files are those of one target; Command is a command line. Exactly one is set.
	Files   []string `json:"files,omitempty"`
	Command string   `json:"command,omitempty"`

	// Model, System and Version override the files.
	Model   string `json:"model,omitempty"`
	System  string `json:"device,omitempty"`
	Version string `json:"engine_version,omitempty"`

	// Input and Output are lengths in tokens; 0 = from the files, or 1024 and 256.
	Input       int             `json:"input_length,omitempty" minimum:"0" maximum:"100000000"`
	Output      int             `json:"output_length,omitempty" minimum:"0" maximum:"100000000"`
	Concurrency int             `json:"concurrency,omitempty" minimum:"0" maximum:"131072"` // 0 = the highest safe concurrency
	Limits      workload.Limits `json:"limits,omitzero"`
	// Static leaves out what takes simulations: the prediction and better settings.
	Static bool `json:"static,omitempty"`
	// AsIs leaves out better settings.
	AsIs    bool            `json:"-"`
	Sources session.Sources `json:"-"` // of what the files name
}

// Severity is how bad a finding is.
type Severity string

// The severities. Error: the engine does not start or does not serve the requests. Warning:
// it does less than its settings suggest. Hint: other settings would be better.
const (
	SevereError   Severity = "error"
	SevereWarning Severity = "warning"
	SevereHint    Severity = "hint"
)

// Words lists the severities.
func (Severity) Words() []string {
	return []string{string(SevereError), string(SevereWarning), string(SevereHint)}
}

// Finding is a problem in files or a command.
type Finding struct {
	Code     string   `json:"code"` // of the rule: PL001
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"` // of the file, from 1
	Where    string   `json:"where"`          // a flag or key of the engine
	What     string   `json:"what"`
	Better   string   `json:"better,omitempty"` // the correction

	// At is the place in the files; Rename and Words are what to write there instead: another flag, or other values. Remove says that nothing is.
	At     launch.Place `json:"-"`
	Rename string       `json:"-"`
	Words  []string     `json:"-"`
	Remove bool         `json:"-"`
}

// Pool is a pool as it was read.
type Pool struct {
	Role     deployment.Role `json:"role"`
	Replicas int             `json:"replicas"`
	Devices  int             `json:"devices"` // of a replica
	Layout   string          `json:"layout"`
	Settings []string        `json:"settings"` // with the engine's own flags
}

// Capacity is the capacity of the engines that generate: memory of one device, the rest
// over all ranks and replicas.
type Capacity struct {
	// Memory is how the engine divides the memory; Free is unused.
	Memory engine.Budget `json:"memory"`
	Free   units.InGiB   `json:"free_gib"`
	Ranks  int           `json:"ranks"`     // data-parallel, of all replicas
	Tokens int           `json:"kv_tokens"` // of the KV caches
	// Limit is the engines' limit on running sequences, Held the number of full-length
	// requests whose cache fits. Safe is the smaller one: more in flight wait or are
	// preempted.
	Limit int `json:"batch_limit"`
	Held  int `json:"cache_holds"`
	Safe  int `json:"safe_concurrency"`
}

// Response is the deployment that was read and the result of its check; times in milliseconds.
type Response struct {
	Request Request `json:"request"` // complete
	// Deployment is whole: simulating it gives the figures.
	Deployment deployment.Deployment `json:"deployment"`

	// Model and Device are empty if the files do not say them; then, and if the model is not known, only flags and
	// devices were checked.
	Model   string `json:"model,omitempty"`
	Device  string `json:"device,omitempty"`
	Engine  string `json:"engine"` // "" of files that start none and of whose objects there is something to say
	Title   string `json:"-"`      // of the engine
	Version string `json:"engine_version,omitempty"`
	Devices int    `json:"devices"`
	Pools   []Pool `json:"pools"`

	// Capacity is null if the deployment cannot start; Prediction also if it serves no
	// request. Prediction is the one of "plimsoll simulate".
	Capacity   *Capacity          `json:"capacity"`
	Prediction *simulate.Response `json:"prediction"`
	Errors     int                `json:"errors"`   // findings that are errors
	Findings   []Finding          `json:"findings"` // the worst first
	Better     []Improvement      `json:"better"`

	Flags []launch.Flag `json:"-"` // that were read, of all commands
}

// inspection is one in progress.
type inspection struct {
	world *session.Session
	r     Request
	found *launch.Found
	stage *session.Stage // nil if only flags and devices can be checked
	d     deployment.Deployment
	out   *Response

	engine *engine.Profile
	half   bool // only prefill or only decode workers are known

	resolved *deployment.Resolved
	fleet    *replica.Fleet
}

// Run checks launch files or a launch command. Problems in them are findings; an error
// concerns the request, or files that start no engine and in whose objects nothing is found.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	x := &inspection{world: w, r: r}
	err := x.read()
	if errors.Is(err, launch.ErrNoLaunch) && x.around() {
		x.sort()
		return session.Finish(ctx, x.out, nil)
	}
	if err != nil {
		return nil, err
	}
	x.flags()
	x.cluster()
	if x.stage == nil || !x.resolve() {
		x.sort()
		return session.Finish(ctx, x.out, nil)
	}
	x.settings()
	if err := x.predict(ctx); err != nil {
		return nil, err
	}
	x.ended()
	if err := x.improve(ctx); err != nil {
		return nil, err
	}
	x.sort()
	return session.Finish(ctx, x.out, nil)
}

// around checks objects of files that start no engine, and reports whether something was found.
func (x *inspection) around() bool {
	if x.found == nil {
		return false
	}
	x.out = &Response{
		Request: x.r, Deployment: deployment.Deployment{Pools: []deployment.Pool{}}, Pools: []Pool{}, Findings: []Finding{}, Better: []Improvement{},
	}
	x.cluster()
	return len(x.out.Findings) > 0
}

// asked reads what is asked about: files or a command, and the request.
func (x *inspection) asked() error {
	var err error
	if x.found, err = x.files(); err != nil {
		return session.BadInput(err)
	}
	r := &x.r
	x.d = x.found.Deployment
	d := &x.d
	d.Model, d.System = cmp.Or(r.Model, d.Model), cmp.Or(r.System, d.System)
	d.Engine.Version = cmp.Or(r.Version, d.Engine.Version)
	r.Input, r.Output = cmp.Or(r.Input, x.found.Input, simulate.DefaultInput), cmp.Or(r.Output, x.found.Output, simulate.DefaultOutput)
	if err := errors.Join(
		field.Between("input_length", r.Input, 1, session.MaxTokens), field.Between("output_length", r.Output, 1, session.MaxTokens),
		session.Optional("concurrency", r.Concurrency), session.CheckLimits(r.Limits),
	); err != nil {
		return session.BadInput(err)
	}
	if x.engine, err = engine.LookupVersion(d.Engine.Name, d.Engine.Version); err != nil {
		return session.BadInput(err)
	}
	return nil
}

// read reads the deployment.
func (x *inspection) read() error {
	if err := x.asked(); err != nil {
		return err
	}
	r, d := &x.r, &x.d
	x.out = &Response{
		Device: d.System, Title: x.engine.Title, Engine: d.Engine.Name, Version: d.Engine.Version,
		Pools: []Pool{}, Findings: []Finding{}, Better: []Improvement{}, Flags: x.found.Flags(),
	}
	if len(d.Pools) == 1 && d.Pools[0].Role != deployment.Both {
		x.half = true
		what := fmt.Sprintf("only %s workers found: their speed is not predicted", d.Pools[0].Role)
		x.at(x.add("PL015", "workers", what, "give the files of all workers"), d.Pools[0].Role, "role")
		d.Pools[0].Role = deployment.Both
	}
	for i := range d.Pools { // all units are predicted together
		d.Pools[i].Replicas = max(1, d.Pools[i].Replicas) * max(1, x.found.Copies)
	}
	known, err := x.named(d)
	if err != nil {
		return err
	}
	x.out.Request, x.out.Model, x.out.Devices = *r, d.Model, d.Devices()
	if !known || x.foreign(d) {
		x.out.Deployment = *d
		x.unresolved()
		return nil
	}
	q := x.request(d, 1)
	x.d = q.Deployment
	x.stage, err = x.world.Stage(d, &r.Sources)
	if refused, ok := errors.AsType[*deployment.RefusedError](err); ok {
		x.stage, x.out.Deployment = nil, x.d
		x.aboutModel("PL028", refused.Why, "")
		x.unresolved()
		return nil
	}
	if err != nil {
		return err
	}
	x.engine = x.stage.Engine // a port of the one the files start, on devices that have one
	x.out.Engine, x.out.Title = x.engine.Name, x.engine.Title
	x.out.Deployment, x.out.Model, x.out.Device = x.d, x.stage.Model.Name(), x.stage.Device.Name
	x.drafts()
	return nil
}

// files reads the command, or the files and the config files that they reference.
func (x *inspection) files() (*launch.Found, error) {
	r := &x.r
	switch {
	case r.Command != "" && len(r.Files) > 0:
		return nil, errors.New("give files or a command, not both")
	case r.Command != "":
		return launch.ReadCommand(r.Command)
	case len(r.Files) == 0:
		return nil, errors.New("give a file or a command")
	}
	var files []launch.File
	for _, name := range r.Files {
		data, err := x.world.ReadFile(name, bound.Launch)
		if err != nil {
			return nil, err
		}
		files = append(files, launch.File{Path: name, Data: data})
	}
	found, err := launch.Read(files...)
	_, over := errors.AsType[*bound.OverError](err)
	if err != nil && !over && len(files) == 1 && !strings.HasSuffix(files[0].Path, "ml") {
		// A script may lack its extension.
		if as, other := launch.ReadCommand(string(files[0].Data)); other == nil {
			return as, nil
		}
	}
	if err != nil || len(found.Missing) == 0 {
		return found, err
	}
	return launch.Read(append(files, x.beside(files, found.Missing)...)...)
}

// beside are the config files that files reference, if they exist beside one of them or at that path: scripts go to their own directory first.
func (x *inspection) beside(files []launch.File, missing []string) []launch.File {
	var out []launch.File
	for _, name := range missing {
		var places []string
		for _, f := range files {
			places = append(places, path.Join(path.Dir(f.Path), path.Base(name)))
		}
		for _, at := range append(places, name) {
			if data, err := x.world.ReadFile(at, bound.Launch); err == nil {
				out = append(out, launch.File{Path: at, Data: data})
				break
			}
		}
	}
	return out
}

// request is a simulation of a deployment at some concurrency, complete.
func (x *inspection) request(d *deployment.Deployment, concurrency int) simulate.Request {
	q := simulate.Request{Deployment: *d, Limits: x.r.Limits}
	q.Concurrency, q.Input, q.Output = concurrency, x.r.Input, x.r.Output
	if n := x.found.Prefix; n < x.r.Input && x.resolved != nil && x.resolved.Pools[0].Engine.PrefixCaching {
		q.Prefix = n
	}
	q.Complete()
	return q
}

// resolve checks whether the deployment can start.
func (x *inspection) resolve() bool {
	var err error
	if x.resolved, err = x.d.Resolve(x.stage.Parts); err != nil {
		for line := range strings.SplitSeq(field.Say(err, x.engineWord), "\n") {
			line = x.setting(line)
			x.located(line)
		}
		return false
	}
	for i := range x.resolved.Pools {
		p, asked := &x.resolved.Pools[i], &x.d.Pools[i]
		pool := Pool{Role: p.Role, Replicas: p.Replicas, Devices: p.Spec.Layout.Devices, Layout: p.Spec.Layout.Label(x.stage.Model.HasExperts()), Settings: []string{}}
		for _, s := range asked.Settings {
			key, value, _ := strings.Cut(s, "=")
			words := launch.Say(p, x.out.Version, key, value)
			if key == "graph.max_batch" && value != "0" {
				words = "graphs up to " + value // a list in most files
			}
			if words != "" && !slices.Contains(pool.Settings, words) { // SGLang's flag for chunks is two settings
				pool.Settings = append(pool.Settings, words)
			}
		}
		x.out.Pools = append(x.out.Pools, pool)
	}
	_, x.fleet, err = x.stage.Fleet(&x.d)
	if err != nil {
		x.unfit(err)
		return false
	}
	c := capacityOf(x.resolved, x.fleet, x.r.Input+x.r.Output)
	x.out.Capacity = &c
	return true
}

// located adds an error of the layout or of a setting, where the files say it.
func (x *inspection) located(line string) {
	flag := flagIn(line)
	f := x.add("PL022", flag, line, "")
	f.Where = flag
	x.first(f, flag)
}

// unfit adds the finding that the memory does not suffice.
func (x *inspection) unfit(err error) {
	tp := x.larger()
	f := x.add("PL023", "memory_share", err.Error(), "")
	if tp > 0 {
		f.Better = launch.Words(x.engine, x.out.Version, "layout.tp", tp)
	}
	x.within(f, x.d.Pools[len(x.d.Pools)-1].Role, "layout.tp")
}

// foreign reports a release of the engine that does not run on a device.
func (x *inspection) foreign(d *deployment.Deployment) bool {
	for _, name := range append([]string{d.System}, systemsOf(d)...) {
		on, err := x.world.Device(name, "")
		if err != nil {
			return false // which the stage says
		}
		port := engine.Port(d.Engine.Name, on.Vendor)
		if why := engine.Foreign(port, d.Engine.Version, on); why != "" {
			f := x.add("PL028", "engine", why, "")
			if f.Where = ""; d.Engine.Version == "" && engine.Ever(port, on) {
				f.Severity = SevereWarning
			}
			x.at(f, "", "")
			return true
		}
	}
	return false
}

// systemsOf are the systems that pools have of their own.
func systemsOf(d *deployment.Deployment) []string {
	var out []string
	for i := range d.Pools {
		if name := d.Pools[i].System; name != "" {
			out = append(out, name)
		}
	}
	return out
}

// larger is the smallest tensor parallelism whose weights leave room for
// the longest request; 0 if there is none within a node.
func (x *inspection) larger() int {
	d := x.d
	d.Pools = slices.Clone(d.Pools)
	p := &d.Pools[len(d.Pools)-1]
	most := max(1, x.stage.Device.Node)
	for p.Layout.TP = 2 * max(1, p.Layout.TP); p.Layout.TP <= most; p.Layout.TP *= 2 {
		p.Layout.Devices = p.Layout.TP * max(1, p.Layout.DP) * max(1, p.Layout.PP)
		resolved, fleet, err := x.stage.Fleet(&d)
		if err != nil {
			continue
		}
		longest := cmp.Or(resolved.Generates().Engine.MaxContext, x.stage.Model.MaxPosition)
		if c := capacityOf(resolved, fleet, x.r.Input+x.r.Output); c.Held > 0 && c.Memory.Tokens >= longest {
			return p.Layout.TP
		}
	}
	return 0
}

// capacityOf is the capacity of a deployment for requests of a number of tokens.
func capacityOf(d *deployment.Resolved, f *replica.Fleet, tokens int) Capacity {
	p, r := d.Generates(), f.Generates()
	m := &r.Memory
	c := Capacity{Memory: *m, Ranks: max(1, p.Spec.Layout.DP) * p.Replicas}
	c.Free = max(0, m.Memory-m.Weights-m.Activation-m.Workspace-m.KV-m.States)
	c.Tokens, c.Limit, c.Held = m.Tokens*c.Ranks, r.MaxSequences()*c.Ranks, r.Holds(tokens)*c.Ranks
	c.Safe = min(c.Limit, c.Held)
	return c
}

// predict simulates the deployment, if it can serve the requests.
func (x *inspection) predict(ctx context.Context) error {
	if !x.serves() || x.half || x.r.Static {
		return nil
	}
	q := x.request(&x.d, cmp.Or(x.r.Concurrency, x.out.Capacity.Safe))
	var err error
	if x.out.Prediction, err = simulate.Metered(ctx, x.world, x.stage, &q); err != nil {
		return err
	}
	x.out.Prediction.AddGuide(ctx, x.stage)
	return x.limits(ctx)
}

// serves reports whether the engine starts and serves requests of these lengths.
func (x *inspection) serves() bool {
	all := x.r.Input + x.r.Output
	p := &x.resolved.Pools[0]
	return x.out.Capacity.Held > 0 && all <= x.stage.Model.Context() && (p.Engine.ChunkedPrefill || p.Engine.TokenBudget >= x.r.Input)
}
