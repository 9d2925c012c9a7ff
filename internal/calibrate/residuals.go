package calibrate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"plimsoll/internal/units"
)

// Residuals are the errors of a kind of predictions. In a file they are one line,
// as [Factors] are.
type Residuals struct {
	Rows                   int
	TTFT, TPOT, Throughput Error
}

const residualsLine = "%d rows, ttft %g %g, tpot %g %g, throughput %g %g"

// MarshalYAML writes the line.
func (r Residuals) MarshalYAML() (any, error) {
	return fmt.Sprintf(residualsLine, r.Rows, r.TTFT.Low, r.TTFT.High, r.TPOT.Low, r.TPOT.High, r.Throughput.Low, r.Throughput.High), nil
}

// UnmarshalYAML reads the line.
func (r *Residuals) UnmarshalYAML(node *yaml.Node) error {
	_, err := fmt.Sscanf(node.Value, residualsLine, &r.Rows, &r.TTFT.Low, &r.TTFT.High, &r.TPOT.Low, &r.TPOT.High, &r.Throughput.Low, &r.Throughput.High)
	if err != nil {
		return fmt.Errorf("line %d: residuals: want %q, got %q", node.Line, fmt.Sprintf(residualsLine, 40, -0.3, 0.3, -0.1, 0.1, -0.1, 0.1), node.Value)
	}
	return nil
}

// Reach is the largest load among measured rows.
type Reach struct {
	Concurrency int `yaml:"concurrency"`
	Input       int `yaml:"input"`
	Devices     int `yaml:"devices"` // of a replica
}

// Evidence is predictions of rows that no fit had seen, by what the fit had not
// seen of them.
type Evidence struct {
	// Seen were predicted without their configuration, Unseen without their
	// model on their system under their engine.
	Seen, Unseen []Compared
	// Apart are disaggregated rows, Untuned are predicted without any fit of an
	// engine.
	Apart, Untuned []Compared
	// Formulas and Steady are predicted by throughput-optimizer's formulas.
	Formulas, Steady []Compared
}

// Learn puts the residuals of predictions into the overlay, by kind, for
// [Overlay.Expect]. The path of a kind narrows from left to right; a division with
// few rows is left out.
func (o *Overlay) Learn(v *Evidence) {
	o.Residuals = map[string]Residuals{}
	for kind, rows := range map[string][]Compared{
		seenKind: v.Seen, unseenKind: v.Unseen, Disaggregated: v.Apart,
		untunedKind: v.Untuned, formulasKind: v.Formulas, steadyKind: v.Steady,
	} {
		o.learn(kind, rows)
	}
}

// LearnOwn puts the residuals of a user's own rows, predicted without their
// configuration, into the overlay, by cell. What is known of others stays: forty
// rows of one cell say nothing about the next.
func (o *Overlay) LearnOwn(rows []Compared) {
	sets := map[string][]*Compared{}
	for i := range rows {
		if c := &rows[i]; c.told() {
			name := own(&c.Pred.Case.Subject)
			sets[name] = append(sets[name], c)
		}
	}
	o.Residuals = maps.Clone(o.Residuals)
	if o.Residuals == nil {
		o.Residuals = map[string]Residuals{}
	}
	for name, set := range sets {
		o.Residuals[name] = summed(set, true)
	}
}

// own names the residuals of a cell.
func own(s *Subject) string { return ownKind + "/" + s.place() }

// told reports whether the row and its prediction can be compared.
func (c *Compared) told() bool {
	return c.Pred.Err == nil && c.Row.TTFT > 0 && c.Row.TPOT > 0 && c.Pred.TTFT > 0 && c.Pred.TPOT > 0
}

func (o *Overlay) learn(kind string, rows []Compared) {
	sets := map[string][]*Compared{}
	for i := range rows {
		c := &rows[i]
		if !c.told() {
			continue
		}
		path := c.Pred.Case.path(kind)
		for n := range path {
			name := strings.Join(path[:n+1], "/")
			sets[name] = append(sets[name], c)
		}
	}
	for name, set := range sets {
		// The whole kind is kept however small: without it nothing would be known.
		if len(set) >= enough || name == kind {
			o.Residuals[name] = summed(set, kind == seenKind || kind == unseenKind)
		}
	}
}

// summed are the residuals of rows. Those of a fit are taken as even: what is
// left of a bias belongs to single models, and would mislead about others.
func summed(rows []*Compared, even bool) Residuals {
	round := func(x float64) float64 { return math.Round(1e4*x) / 1e4 }
	of := func(residual func(*Compared) float64) Error {
		logs := make([]float64, len(rows))
		for i, c := range rows {
			if logs[i] = residual(c); even {
				logs[i] = math.Abs(logs[i])
			}
		}
		slices.Sort(logs)
		if even {
			half := round(quantile(logs, 0.8))
			return Error{-half, half}
		}
		return Error{round(quantile(logs, 0.1)), round(quantile(logs, 0.9))}
	}
	return Residuals{
		Rows: len(rows),
		TTFT: of(func(c *Compared) float64 { return math.Log(float64(c.Row.TTFT / c.Pred.TTFT)) }),
		TPOT: of(func(c *Compared) float64 { return math.Log(float64(c.Row.TPOT / c.Pred.TPOT)) }),
		Throughput: of(func(c *Compared) float64 {
			return math.Log(c.Row.closedLoop(c.Row.TTFT, c.Row.TPOT) / c.Pred.Throughput)
		}),
	}
}

// closedLoop is the output tokens per second of a closed loop whose requests
// take these times: files of measurements give no throughput.
func (r *Row) closedLoop(ttft, tpot units.Seconds) float64 {
	output := float64(r.Output) * (1 + r.LengthLow) / 2
	return float64(r.Concurrency) * output / float64(ttft+tpot*units.Seconds(output-1))
}

// Fitted lists the cells of the rows a fit is made from.
func (o *Overlay) Fitted(rows []Prepared) {
	if o.Cells == nil {
		o.Cells = map[string]map[string][]string{}
	}
	for i := range rows {
		s := &rows[i].Subject
		systems := o.Cells[s.fleet()]
		if systems == nil {
			systems = map[string][]string{}
			o.Cells[s.fleet()] = systems
		}
		if !slices.Contains(systems[s.System], s.Model) {
			systems[s.System] = append(systems[s.System], s.Model)
			slices.Sort(systems[s.System])
		}
	}
}

// Reached takes the reach of aggregated rows into account.
func (o *Overlay) Reached(rows []Prepared) {
	for i := range rows {
		c := &rows[i].about
		if rows[i].Subject.Apart {
			continue // says nothing of aggregated deployments
		}
		o.Reach.Concurrency = max(o.Reach.Concurrency, c.Concurrency)
		o.Reach.Input = max(o.Reach.Input, c.Input)
		o.Reach.Devices = max(o.Reach.Devices, c.Devices)
	}
}

// Elsewhere is the overlay as it would be without any row of a prediction's cell.
func (o *Overlay) Elsewhere() *Overlay {
	out := *o
	out.Cells = map[string]map[string][]string{}
	for engine := range o.Cells {
		out.Cells[engine] = nil
	}
	return &out
}

// checkResiduals refuses residuals that no fit writes.
func (o *Overlay) checkResiduals(file string) error {
	for _, name := range slices.Sorted(maps.Keys(o.Residuals)) {
		r := o.Residuals[name]
		kind, _, _ := strings.Cut(name, "/")
		known := []string{seenKind, unseenKind, ownKind, Disaggregated, untunedKind, formulasKind, steadyKind}
		if !slices.Contains(known, kind) {
			return fmt.Errorf("%s: residuals: unknown kind %q; the kinds are %s (plimsoll calibrate writes them)", file, name, strings.Join(known, ", "))
		}
		for _, e := range []Error{r.TTFT, r.TPOT, r.Throughput} {
			if !(e.Low <= e.High) || math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) || r.Rows < 1 {
				return fmt.Errorf("%s: residuals: %s: want rows, and a low and a high quantile in that order", file, name)
			}
		}
	}
	return nil
}

// Coverage is the share of rows whose measured TTFT and TPOT lie in the 80 %
// intervals around their predictions; NaN of none.
func (o *Overlay) Coverage(rows []Compared) (ttft, tpot float64) {
	var n, inTTFT, inTPOT float64
	in := func(e Error, predicted, measured units.Seconds) float64 {
		if low, high := e.Times(predicted); measured >= low && measured <= high {
			return 1
		}
		return 0
	}
	for i := range rows {
		c := &rows[i]
		if c.Pred.Err != nil || c.Row.TTFT <= 0 || c.Row.TPOT <= 0 {
			continue
		}
		e := o.Expect(&c.Pred.Case)
		n++
		inTTFT += in(e.TTFT, c.Pred.TTFT, c.Row.TTFT)
		inTPOT += in(e.TPOT, c.Pred.TPOT, c.Row.TPOT)
	}
	return inTTFT / n, inTPOT / n
}
