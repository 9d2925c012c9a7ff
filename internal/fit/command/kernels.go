package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/fit/constants"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// kernelTables are the tables that a fit reads.
type kernelTables struct {
	prices.Tables

	systems func() []string
}

func newKernelTables(fs *flag.FlagSet) *kernelTables {
	t := &kernelTables{systems: words(fs, "systems", "systems to fit, separated by commas (default all in -perf-data)")}
	fs.StringVar(&t.Dir, "perf-data", "", "a `directory` of kernel tables, in AIConfigurator's layout")
	fs.StringVar(&t.Engine, "perf-engine", "", "the `engine` whose tables count, with @VERSION the newest up to it")
	return t
}

// errNoKernels is of tables without kernels that the forms describe.
var errNoKernels = errors.New("no kernels of the operator forms")

// kernelsCommand fits the constants of the operator forms.
func kernelsCommand(p *Program, fs *flag.FlagSet) func(context.Context, []string) error {
	t, out := newKernelTables(fs), fs.String("out", "", "write the constants to a `file`")
	file := fs.String("selection", "", "use only the forms of the fit that a YAML `file` selects")
	return func(ctx context.Context, _ []string) error {
		chosen, err := selection(p.Session, *file)
		if err != nil {
			return err
		}
		fitted, used, err := p.kernels(ctx, t, chosen)
		if err != nil {
			return err
		}
		comment := "Constants of the operator forms, per generation, fitted to measured kernels:\n" + "fit kernels -perf-data " + used.Dir + "\n"
		if *file != "" { // without the input path, so that the same input gives the same bytes
			comment = "Constants of the operator forms, per generation. Made by go run ./cmd/fit kernels -perf-data DIR -selection FILE:\n" +
				"selection.yaml says which forms were selected, and why.\n"
		}
		comment += "Times are in microseconds, unit in GB/s, the rest are shares of the data sheet's peaks."
		return p.save(*out, func(w io.Writer) error { return calibrated.Write(w, comment, fitted) })
	}
}

// kernels fits the constants of the operator forms, by generation, and prints the errors.
func (p *Program) kernels(ctx context.Context, t *kernelTables, chosen map[string]constants.Choice) (map[string]calibrated.Constants, *prices.Use, error) {
	tables, devices, err := t.open(p)
	if err != nil {
		return nil, nil, err
	}
	var sets []constants.Kernels
	for _, d := range devices {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if _, err := tables.Physical(d); err != nil {
			return nil, nil, err
		}
		samples, err := tables.Samples(d)
		if err != nil {
			return nil, nil, err
		}
		sets = append(sets, constants.Kernels{Device: d, Samples: samples})
	}
	fitted, errs, err := constants.FitKernels(ctx, sets, chosen)
	if err != nil {
		return nil, nil, err
	}
	if len(errs) == 0 {
		return nil, nil, fmt.Errorf("%s: %w", t.Dir, errNoKernels)
	}
	used, err := p.used(tables)
	kernelErrors(p.Stdout, errs)
	return fitted, used, err
}

// used notes what is odd about the tables that were read.
func (p *Program) used(tables *prices.Prices) (*prices.Use, error) {
	used, err := tables.Used()
	if err != nil {
		return nil, err
	}
	if used != nil {
		for _, n := range used.Notes() {
			p.note("%s", n)
		}
	}
	return used, nil
}

// selection reads the selection of forms, nil for none.
func selection(w *session.Session, file string) (map[string]constants.Choice, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no selection
	}
	data, err := w.ReadFile(file, bound.Selection)
	if err != nil {
		return nil, fmt.Errorf("reading the selection: %w", err)
	}
	return constants.ReadSelection(file, data)
}

// open opens the kernel tables and finds the profiles of the requested systems, or of all in the directory; those without a
// profile are noted.
func (t *kernelTables) open(p *Program) (tables *prices.Prices, devices []*device.Profile, err error) {
	if t.Dir == "" {
		return nil, nil, errors.New("a fit to kernels needs -perf-data")
	}
	if tables, err = prices.Open(p.Session.Dir, t.Tables); err != nil {
		return nil, nil, err
	}
	systems := t.systems()
	all := len(systems) == 0
	if all {
		systems = tables.Systems()
	}
	for _, name := range systems {
		d, err := device.Lookup(name)
		switch {
		case err == nil:
			devices = append(devices, throughHost(d))
		case all:
			p.note("%s is not a device profile: its kernels are not fitted", name)
		default:
			return nil, nil, err
		}
	}
	return tables, devices, nil
}

// throughHost is a device as its kernels were measured: over PCIe through the host, whatever the profile says of its links.
func throughHost(d *device.Profile) *device.Profile {
	out := *d
	out.Links = slices.Clone(d.Links)
	for i := range out.Links {
		out.Links[i].Transport = device.ThroughHost
	}
	return &out
}
