package prices

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/perfdata"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// Tables says which measured kernels price operators.
type Tables struct {
	Dir    string `json:"dir,omitempty"`    // "" = none
	Engine string `json:"engine,omitempty"` // "ENGINE" or "ENGINE@VERSION"; "" = the fastest kernel of any
}

// The fields of a request that name tables.
const (
	perfData   field.Name = "perf_data"
	perfEngine field.Name = "perf_engine"
)

// Prices are those of any device, by tables where there are some. The zero value
// has no directory of them. It is safe for concurrent use.
type Prices struct {
	// Optional lets a device be priced without tables if there are none of it.
	Optional bool

	request Tables
	store   *perfdata.Store
	sel     perfdata.Selection

	mu     sync.Mutex
	tables map[string]*table.Tables // by device; nil for one without
}

// Open opens a directory of measured kernels, if the request names one.
func Open(dir func(string) fs.FS, r Tables) (*Prices, error) {
	p := &Prices{request: r, tables: map[string]*table.Tables{}}
	if r.Dir == "" {
		if r.Engine != "" {
			return nil, field.Errorf("%s %s needs %s", perfEngine, r.Engine, perfData)
		}
		return p, nil
	}
	if dir == nil {
		return nil, field.Errorf("%s %s: directories cannot be read here", perfData, r.Dir)
	}
	var err error
	if p.sel, err = perfdata.ParseSelection(r.Engine); err != nil {
		return nil, field.Errorf("%s: %w", perfEngine, err)
	}
	if p.store, err = perfdata.Open(dir(r.Dir), r.Dir); err != nil {
		return nil, field.Errorf("%s: %w", perfData, err)
	}
	return p, nil
}

// Systems are those the directory has tables of.
func (p *Prices) Systems() []string { return p.store.Systems() }

// Coster prices operators by measured kernels where there are any, and beyond
// those requested. TensorCast's prices are never measured ones.
func (p *Prices) Coster(d *device.Profile, pricing Pricing, tensorCast, freeUnsupported bool) (cost.Coster, error) {
	base := pricing.Form(d, freeUnsupported)
	switch {
	case p.store == nil && pricing != Surfaces:
		return base, nil
	case tensorCast && p.store == nil:
		return nil, field.Errorf("%s surfaces needs %s physical: TensorCast's assumptions go with the roofline cost model", field.Name("pricing"), field.Name("policy"))
	case tensorCast:
		return nil, field.Errorf("%s needs %s physical: TensorCast's assumptions go with the roofline cost model", perfData, field.Name("policy"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tables == nil {
		p.tables = map[string]*table.Tables{}
	}
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

// Physical prices the operators of a physical graph as well as they are known.
func (p *Prices) Physical(d *device.Profile) (cost.Coster, error) {
	return p.Coster(d, Best(d), false, false)
}

// Tier says how well the prices of a device are known, once some operators are priced:
// as measured where any measured kernel was found.
func (p *Prices) Tier(d *device.Profile, pricing Pricing) device.Tier {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tables[d.Name]; t != nil {
		for _, u := range t.Uses() {
			if u.Rows > 0 {
				return device.Measured
			}
		}
	}
	return pricing.Tier(d)
}

// Samples are the measured kernels of a device that was priced.
func (p *Prices) Samples(d *device.Profile) ([]table.Sample, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	samples, err := p.tables[d.Name].Samples()
	if err != nil {
		return nil, field.Errorf("%s %s: %w", perfData, p.request.Dir, err)
	}
	return samples, nil
}

// Surfaces fits surfaces to the measured kernels of a device that was priced, and says
// how well they predict rows left out.
func (p *Prices) Surfaces(d *device.Profile) (*table.Fitted, []table.LeftOut, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, left, err := p.tables[d.Name].Fit()
	if err != nil {
		return nil, nil, field.Errorf("%s %s: %w", perfData, p.request.Dir, err)
	}
	f.Measured, f.Base = table.MeasuredOn(d), calibrated.Fingerprint(d)
	return f, left, nil
}

// open finds the tables of a device, or its surfaces where no directory was given.
func (p *Prices) open(d *device.Profile, base cost.Coster) (*table.Tables, error) {
	if p.store == nil {
		if f := surfacesOf(d); f != nil {
			return table.NewFitted(f, func(family string) bool { return trusts(f, d, family) }, d, base), nil
		}
		return nil, nil //nolint:nilnil // none, and that is no error
	}
	s, err := p.store.System(append([]string{d.Name, d.Base}, d.Aliases...)...)
	if err != nil && p.Optional {
		return nil, nil //nolint:nilnil // none, and that is no error
	}
	if err != nil {
		return nil, field.Errorf("%s: %w", perfData, err)
	}
	if e := p.sel.Engine; e != "" && !slices.Contains(s.Engines(), e) {
		return nil, field.Errorf("%s: %s has no tables of engine %q; the engines are %s%s", perfEngine, s.Name, e,
			strings.Join(s.Engines(), ", "), nearest.Hint(e, s.Engines()))
	}
	if oldest := s.Oldest(p.sel.Engine); p.sel.Version != "" && version.Compare(oldest, p.sel.Version) > 0 {
		return nil, field.Errorf("%s: %s has no tables of %s up to %s; the oldest are of %s", perfEngine, s.Name, p.sel.Engine, p.sel.Version, oldest)
	}
	return table.New(s, p.sel, d, base), nil
}

// Use is what was taken of measured kernels.
type Use struct {
	Dir   string      `json:"dir"`
	Files []table.Use `json:"files"`
	// Without are devices of which there are no tables. Only measured rows may be of such.
	Without []string `json:"devices_without,omitempty"`
}

// Notes are warnings about the tables, one line each.
func (u *Use) Notes() []string {
	var out []string
	for i := range u.Files {
		f := &u.Files[i]
		if f.Rejected == 0 {
			continue
		}
		more := ""
		if f.Distrust > 0 {
			more = fmt.Sprintf(", and %d more of the same kernels", f.Distrust)
		}
		out = append(out, fmt.Sprintf("%s: ignored %d rows faster than the device's peaks allow%s; worst: %s", f.Path, f.Rejected, more, f.Worst))
	}
	for _, d := range u.Without {
		out = append(out, fmt.Sprintf("%s has no kernel tables of %s: its operator times are modelled", u.Dir, d))
	}
	return out
}

// Used says what was read, nil without a directory, or what went wrong in it.
func (p *Prices) Used() (*Use, error) {
	if p.store == nil {
		return nil, nil //nolint:nilnil // none, and that is no error
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := &Use{Dir: p.request.Dir, Files: []table.Use{}}
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
		return nil, field.Errorf("%s %s: %w", perfData, p.request.Dir, err)
	}
	return out, nil
}
