package sweep

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Sweep is a grid whose names are known, ready to run.
type Sweep struct {
	Grid Grid
	// Cells is the number of cells.
	Cells int
	// Hash identifies the grid and the files that it names.
	Hash string

	plans    plan.Request     // what all cells have in common
	predicts simulate.Request // likewise
	devices  map[string]*device.Profile
}

// Check resolves the names of a grid and reports all that are wrong: a misspelled name is a mistake of the grid, while a cell
// that cannot be served is a row.
func Check(w *session.Session, g *Grid) (*Sweep, error) {
	s := &Sweep{Grid: *g, Cells: g.cells(), devices: map[string]*device.Profile{}}
	errs := []error{s.systems(w), s.prices(w), g.check(w)}
	if g.With != nil {
		errs = append(errs, session.BadInput(cmp.Or(json.Unmarshal(g.With, &s.plans), json.Unmarshal(g.With, &s.predicts))))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, s.identify(w)
}

// systems finds the devices, under their own names.
func (s *Sweep) systems(w *session.Session) error {
	var errs []error
	given := s.Grid.Systems
	s.Grid.Systems = nil
	for _, name := range given {
		d, err := w.Device(name, "")
		if errs = append(errs, err); err != nil {
			continue
		}
		if s.devices[d.Name] != nil {
			errs = append(errs, session.BadInput(fmt.Errorf("systems: %s appears twice, perhaps under another name", d.Name)))
		}
		s.devices[d.Name] = d
		s.Grid.Systems = append(s.Grid.Systems, d.Name)
	}
	return errors.Join(errs...)
}

// prices reports prices of what is not one of the systems.
func (s *Sweep) prices(w *session.Session) error {
	var errs []error
	for i, p := range s.Grid.Prices {
		for _, name := range slices.Sorted(maps.Keys(p.By)) {
			if _, err := w.Device(name, ""); err != nil {
				errs = append(errs, session.BadInput(fmt.Errorf("prices[%d]: %w", i, err)))
			} else if s.devices[name] == nil {
				errs = append(errs, session.BadInput(fmt.Errorf("prices[%d]: %s is not one of the systems", i, name)))
			}
		}
	}
	return errors.Join(errs...)
}

// check reports models, engines, workloads and limits that are wrong.
func (g *Grid) check(w *session.Session) error {
	var errs []error
	for _, id := range g.Models {
		_, err := w.Model(id, "")
		errs = append(errs, err)
	}
	for _, name := range g.Engines {
		name, release, _ := strings.Cut(name, "@")
		_, err := engine.LookupVersion(name, release)
		errs = append(errs, session.BadInput(field.About("engines", err)))
	}
	for i, x := range g.Workloads {
		if _, err := w.Kinds([]session.Workload{x}); err != nil {
			errs = append(errs, session.BadInput(fmt.Errorf("workloads[%d]: %w", i, err)))
		}
	}
	for i, l := range g.Limits {
		if err := session.CheckLimits(l); err != nil {
			errs = append(errs, session.BadInput(fmt.Errorf("limits[%d]: %w", i, err)))
		}
	}
	return errors.Join(errs...)
}

// identify hashes the grid with the content of the files that it names.
func (s *Sweep) identify(w *session.Session) error {
	grid, err := json.Marshal(s.Grid)
	if err != nil {
		return err
	}
	hash := sha256.New()
	add := func(data io.Reader) error {
		one := sha256.New()
		if _, err := io.Copy(one, data); err != nil {
			return err
		}
		_, err := hash.Write(one.Sum(nil))
		return err
	}
	if err := add(bytes.NewReader(grid)); err != nil {
		return err
	}
	sources := &s.plans.Sources
	if s.Grid.Ask == Predict {
		sources = &s.predicts.Sources
	}
	type file struct {
		of   field.Name
		name string
		kind bound.Kind
	}
	files := []file{{"device_file", sources.DeviceFile, bound.Profile}, {"calibration", sources.Calibration, bound.Calibration}}
	for i := range s.Grid.Workloads {
		files = append(files, file{"trace", s.Grid.Workloads[i].Trace, bound.Trace})
	}
	for _, f := range files {
		if f.name == "" {
			continue
		}
		err := w.Stream(f.of, f.name, func(r io.Reader) error { return add(bound.Limited(r, f.name, f.kind)) })
		if err != nil {
			return err
		}
	}
	for _, id := range s.Grid.Models {
		if w.Dir == nil {
			break
		}
		if data, err := bound.File(w.Dir(id), "config.json", bound.Config); err == nil {
			if err := add(bytes.NewReader(data)); err != nil {
				return err
			}
		}
	}
	s.Hash = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// Data identifies the data that predictions rest on.
func Data() string {
	hash := sha256.New()
	for _, e := range provenance.Shipped() {
		fmt.Fprintf(hash, "%s  %s\n", e.SHA256, e.Path)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// axis is a list of a grid.
type axis struct {
	name string
	size int
}

// inWords is the axis with its size: "2 models", "1 engine".
func (a *axis) inWords() string {
	name := a.name
	switch {
	case a.size == 1:
		name = strings.TrimSuffix(name, "s")
	case name == "concurrency":
		name = "concurrencies"
	}
	return strconv.Itoa(a.size) + " " + name
}

// axes are the lists in their order; the last two are limits and prices.
func (g *Grid) axes() []axis {
	return []axis{
		{"models", len(g.Models)},
		{"systems", len(g.Systems)},
		{"engines", len(g.Engines)},
		{"workloads", len(g.Workloads)},
		{"gpus", len(g.GPUs)},
		{"rates", len(g.Rates)},
		{"layouts", len(g.Layouts)},
		{"replicas", len(g.Replicas)},
		{"concurrency", len(g.Concurrency)},
		{"limits", len(g.Limits)},
		{"prices", len(g.Prices)},
	}
}

// cells is the number of cells, at most one more than there may be.
func (g *Grid) cells() int {
	n := 1
	for _, a := range g.axes() {
		if n *= max(1, a.size); n > maxCells { // a list of a file is short: the product fits
			return maxCells + 1
		}
	}
	return n
}

// group is the cells that differ in their limits and prices alone: they share simulations, so a shard has all of them.
func (g *Grid) group() int { return max(1, len(g.Limits)) * max(1, len(g.Prices)) }

// Shard is a part of the cells: every Of-th group, from the group Index.
type Shard struct{ Index, Of int }

// In are the cells of a shard, in their order.
func (s *Sweep) In(p Shard) iter.Seq[int] {
	size := s.Grid.group()
	return func(yield func(int) bool) {
		for first := p.Index * size; first < s.Cells; first += p.Of * size {
			for cell := first; cell < first+size; cell++ {
				if !yield(cell) {
					return
				}
			}
		}
	}
}

// cell is a point of the product.
type cell struct {
	model, system string
	engine        string // "" is the question's default
	workload      session.Workload
	gpus          int
	rate          float64
	layout        parallel.Layout
	replicas      int
	concurrency   int
	limits        workload.Limits
	price         float64 // US dollars for an hour of a device; 0 is the list price
}

// at is a value of an axis, the zero value where the axis was left out.
func at[T any](axis []T, i int) T {
	if len(axis) == 0 {
		var none T
		return none
	}
	return axis[i]
}

// cell is the cell of an index.
func (s *Sweep) cell(index int) cell {
	g := &s.Grid
	axes := g.axes()
	where := make([]int, len(axes))
	for i, a := range slices.Backward(axes) {
		n := max(1, a.size)
		where[i], index = index%n, index/n
	}
	c := cell{
		model: g.Models[where[0]], system: g.Systems[where[1]], engine: at(g.Engines, where[2]), workload: at(g.Workloads, where[3]),
		gpus: at(g.GPUs, where[4]), rate: at(g.Rates, where[5]), layout: at(g.Layouts, where[6]), replicas: at(g.Replicas, where[7]),
		concurrency: at(g.Concurrency, where[8]), limits: at(g.Limits, where[9]),
	}
	c.price = at(g.Prices, where[10]).of(c.system)
	return c
}

// plan is the request of a cell that is a plan. It leaves out what would change the answer.
func (s *Sweep) plan(c *cell) plan.Request {
	r := s.plans
	r.Model, r.Systems, r.Devices, r.Rate, r.Limits, r.NoChanges = c.model, []string{c.system}, c.gpus, c.rate, c.limits, true
	r.Workloads = []session.Workload{c.workload}
	if c.engine != "" {
		r.Engines = []string{c.engine}
	}
	if c.price != 0 {
		r.Prices = map[string]float64{c.system: c.price}
	}
	return r
}

// predict is the request of a cell that is a prediction.
func (s *Sweep) predict(c *cell) simulate.Request {
	r := s.predicts
	d := &r.Deployment
	d.Model, d.System = c.model, c.system
	if c.engine != "" {
		d.Engine.Name, d.Engine.Version, _ = strings.Cut(c.engine, "@")
	}
	if d.Pools == nil {
		d.Pools = []deployment.Pool{{}}
	}
	if len(d.Pools) == 1 { // other pools are given whole
		pool := d.Pools[0]
		if c.layout != (parallel.Layout{}) {
			pool.Layout = c.layout
		}
		pool.Replicas = cmp.Or(c.replicas, pool.Replicas)
		d.Pools = []deployment.Pool{pool}
	}
	r.Concurrency, r.Rate, r.Limits = c.concurrency, c.rate, c.limits
	x := &c.workload
	switch {
	case x.Trace != "" && c.concurrency == 0 && c.rate == 0:
		r.Trace = x.Trace // with its arrival times
	case x.Preset != "" || x.Trace != "" || x.Session != nil || x.InputLengths != nil || x.OutputLengths != nil:
		r.Workloads = []session.Workload{*x}
	default:
		r.Input, r.Output, r.LengthLow, r.Prefix = x.Input, x.Output, x.LengthLow, x.Prefix
	}
	return r
}

// request is the request of a cell, and its JSON.
func (s *Sweep) request(c *cell) (any, json.RawMessage, error) {
	var r any
	if s.Grid.Ask == Plan {
		r = s.plan(c)
	} else {
		r = s.predict(c)
	}
	data, err := json.Marshal(r)
	return r, data, err
}

// Key identifies a question by its request.
func Key(ask Ask, request json.RawMessage) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", ask, request))
	return hex.EncodeToString(sum[:16])
}

// List writes the index, key and request of every cell, one on a line.
func (s *Sweep) List(out io.Writer) error {
	for index := range s.Cells {
		c := s.cell(index)
		_, data, err := s.request(&c)
		if err != nil {
			return err
		}
		text, err := json.Marshal(struct {
			Index   int             `json:"index"`
			Key     string          `json:"key"`
			Ask     Ask             `json:"ask"`
			Request json.RawMessage `json:"request"`
		}{index, Key(s.Grid.Ask, data), s.Grid.Ask, data})
		if err == nil {
			_, err = out.Write(append(text, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Shape is the axes of the grid in words: "2 models × 3 systems".
func (g *Grid) Shape() string {
	var out []string
	for _, a := range g.axes() {
		if a.size > 0 {
			out = append(out, a.inWords())
		}
	}
	return strings.Join(out, " × ")
}
