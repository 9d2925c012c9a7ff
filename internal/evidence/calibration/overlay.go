package calibration

import (
	_ "embed"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

//go:embed shipped.yaml
var shippedFile []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"shipped.yaml": shippedFile} }

// Overlay is the result of a fit to measurements: multipliers by group of
// predictions, and the errors of predictions of held-out rows. It is immutable
// once shared.
type Overlay struct {
	Source string
	// Groups are the multipliers of predictions about Cells, and of all
	// predictions if there is no Unseen.
	Groups Groups
	// Unseen, if any, replaces Groups for predictions about other cells. It is
	// shrunk more strongly towards one: a fit knows less about cells without rows.
	Unseen Groups
	// Memory is how measured deployments differ from what the groups say; nil is nothing.
	Memory *Memory
	// Cells are the models of the fit's rows with their weights (checkpoint), by engine and
	// system; disaggregated deployments have their own keys.
	Cells map[string][]string
	// Families are the same by engine and device generation, of aggregated deployments.
	Families map[string][]string
	// Reach is the largest load among the rows.
	Reach Reach
	// Releases are the newest of each engine among the rows.
	Releases map[string]string
	// Residuals are those of held-out rows, by kind.
	Residuals map[string]Residuals
	// Sources are where the fit's rows come from: by name, words of which what a row says of its source contains one.
	Sources map[string][]string
	// Outside is how far deployments of sources outside the fit err beyond that, by vendor or load.
	Outside map[string]Outside
}

// Reach is the largest load among measured rows.
type Reach struct {
	Concurrency, Input int
	Devices            int // of a replica
}

//nolint:gochecknoglobals // read once, never changed
var shipped = embedded.Once("calibration", shippedFile, func(data []byte) (*Overlay, error) { return Read(data, "shipped.yaml") })

// Shipped is the overlay the program comes with.
func Shipped() *Overlay { return shipped() }

// Uncalibrated changes nothing. Its intervals are those of predictions made
// without a fit.
func Uncalibrated() *Overlay {
	fit := Shipped()
	return &Overlay{Source: "none", Reach: fit.Reach, Residuals: fit.Residuals, Sources: fit.Sources, Outside: fit.Outside}
}

// Elsewhere is the overlay as it applies to cells without rows.
func (o *Overlay) Elsewhere() *Overlay {
	out := *o
	out.Cells = map[string][]string{}
	for row := range o.Cells {
		out.Cells[row] = nil
	}
	out.Families = nil
	return &out
}

// AddCell notes that the fit used rows of the subject's cell.
func (o *Overlay) AddCell(s *Subject) {
	if o.Cells == nil {
		o.Cells = map[string][]string{}
	}
	if o.Families == nil {
		o.Families = map[string][]string{}
	}
	add(o.Cells, s.row(), s.checkpoint())
	if !s.Disaggregated {
		add(o.Families, s.familyRow(), s.checkpoint())
	}
}

// add puts a checkpoint into a sorted list.
func add(lists map[string][]string, key, checkpoint string) {
	if at, found := slices.BinarySearch(lists[key], checkpoint); !found {
		lists[key] = slices.Insert(slices.Clone(lists[key]), at, checkpoint)
	}
}

// Saw reports whether the fit used rows of the subject's checkpoint on its system under its
// engine.
func (o *Overlay) Saw(s *Subject) bool { return s.among(o.Cells[s.row()]) }

// Compared reports whether there were rows of the subject's model on its system under its
// engine, with any weights.
func (o *Overlay) Compared(s *Subject) bool {
	return slices.ContainsFunc(o.Cells[s.row()], func(checkpoint string) bool { return modelOf(checkpoint) == s.Model })
}

// Models lists the models of the fit's rows on a system under an engine, aggregated or
// not.
func (o *Overlay) Models(engine, system string) []string {
	s := Subject{Engine: engine, System: system}
	other := s
	other.Disaggregated = true
	out := slices.Concat(o.Cells[s.row()], o.Cells[other.row()])
	for i := range out {
		out[i] = modelOf(out[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
