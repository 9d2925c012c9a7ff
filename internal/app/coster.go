package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/cost"
	"plimsoll/internal/cost/table"
	"plimsoll/internal/device"
	"plimsoll/internal/graph"
	"plimsoll/internal/nearest"
	"plimsoll/internal/perfdata"
)

// PerfData says which measured kernels price operators.
type PerfData struct {
	Dir    string // "" = none
	Engine string // "ENGINE" or "ENGINE@VERSION"; "" = the fastest kernel of any
}

// prices chooses how operators are priced. The zero value knows no tables.
type prices struct {
	request PerfData
	store   *perfdata.Store
	sel     perfdata.Selection
	// optional lets a device be priced without tables if there are none of it.
	optional bool

	mu     sync.Mutex
	tables map[string]*table.Tables // by device; nil for one without
}

// prices opens a directory of measured kernels, if one is asked for.
func (w *World) prices(r PerfData) (*prices, error) {
	p := &prices{request: r, tables: map[string]*table.Tables{}}
	if r.Dir == "" {
		if r.Engine != "" {
			return nil, badInput(fmt.Errorf("--perf-engine %s needs --perf-data", r.Engine))
		}
		return p, nil
	}
	var err error
	if p.sel, err = perfdata.ParseSelection(r.Engine); err != nil {
		return nil, badInput(fmt.Errorf("--perf-engine: %w", err))
	}
	if p.store, err = perfdata.Open(w.Dir(r.Dir), r.Dir); err != nil {
		return nil, badInput(fmt.Errorf("--perf-data: %w", err))
	}
	return p, nil
}

// coster prices operators by measured kernels where a directory of them was
// given, and beyond those as asked.
func (p *prices) coster(d *device.Profile, pricing Pricing, policy *graph.Policy) (cost.Coster, error) {
	base, _ := pricing.form(d, policy)
	if p.store == nil {
		return base, nil
	}
	if policy.IsTensorCast() {
		return nil, errors.New("--perf-data needs --policy physical: TensorCast's is priced by a profile's peaks")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.tables[d.Name]
	if !ok {
		var err error
		if t, err = p.open(d, base); err != nil {
			return nil, err
		}
		p.tables[d.Name] = t
	}
	if t == nil {
		return base, nil
	}
	return t.On(base), nil
}

// physical prices the operators of a physical graph as well as they are known.
func (p *prices) physical(d *device.Profile) (cost.Coster, error) {
	policy := graph.Physical()
	return p.coster(d, bestPricing(d), &policy)
}

// tier says how well the prices of a device are known, once some were asked for:
// as measured where any measured kernel was found.
func (p *prices) tier(d *device.Profile, pricing Pricing) device.Tier {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tables[d.Name]; t != nil {
		for _, u := range t.Uses() {
			if u.Rows > 0 {
				return device.Measured
			}
		}
	}
	return pricing.tier(d)
}

// open finds the tables of a device.
func (p *prices) open(d *device.Profile, base cost.Coster) (*table.Tables, error) {
	s, err := p.store.System(append([]string{d.Name, d.Base}, d.Aliases...)...)
	if err != nil && p.optional {
		return nil, nil //nolint:nilnil // none, and that is no error
	}
	if err != nil {
		return nil, fmt.Errorf("--perf-data: %w", err)
	}
	if e := p.sel.Engine; e != "" && !slices.Contains(s.Engines(), e) {
		err := fmt.Errorf("--perf-engine: %s has no tables of engine %q; it has those of %s", s.Name, e, strings.Join(s.Engines(), ", "))
		if near, ok := nearest.Match(e, s.Engines()); ok {
			err = fmt.Errorf("%w; nearest: %s", err, near)
		}
		return nil, err
	}
	if oldest := s.Oldest(p.sel.Engine); p.sel.Version != "" && perfdata.Newer(oldest, p.sel.Version) {
		return nil, fmt.Errorf("--perf-engine: %s has no tables of %s up to %s; the oldest are of %s", s.Name, p.sel.Engine, p.sel.Version, oldest)
	}
	return table.New(s, p.sel, d, base), nil
}

// TableUse is what was taken of measured kernels.
type TableUse struct {
	Dir   string
	Files []table.Use
	// Without are devices asked for of which there are no tables.
	Without []string
}

// Notes are doubts about the tables worth telling, one line each.
func (u *TableUse) Notes() []string {
	var out []string
	for i := range u.Files {
		f := &u.Files[i]
		if f.Rejected == 0 {
			continue
		}
		more := ""
		if f.Distrust > 0 {
			more = fmt.Sprintf(" and %d more of the same kernels", f.Distrust)
		}
		out = append(out, fmt.Sprintf("%s: left out %d rows faster than the device can be%s; worst: %s", f.Path, f.Rejected, more, f.Worst))
	}
	for _, d := range u.Without {
		out = append(out, fmt.Sprintf("%s holds no tables of %s: priced without", u.Dir, d))
	}
	return out
}

// used says what was read, nil without a directory, or what went wrong in it.
func (p *prices) used() (*TableUse, error) {
	if p.store == nil {
		return nil, nil //nolint:nilnil // none, and that is no error
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := &TableUse{Dir: p.request.Dir}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		t := p.tables[name]
		if t == nil {
			out.Without = append(out.Without, name)
			continue
		}
		errs = append(errs, t.Err())
		out.Files = append(out.Files, t.Uses()...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, badInput(fmt.Errorf("--perf-data %s: %w", p.request.Dir, err))
	}
	return out, nil
}
