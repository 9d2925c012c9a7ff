package document

import (
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
)

// Accuracy is error figures for programs. All except AllRows cover only rows whose quality
// is not in doubt.
type Accuracy struct {
	Overall  AccuracyGroup            `json:"overall"`
	AllRows  AccuracyGroup            `json:"all_rows"`
	ByMode   map[string]AccuracyGroup `json:"by_mode"`
	ByEngine map[string]AccuracyGroup `json:"by_engine"`
	BySystem map[string]AccuracyGroup `json:"by_system"`
	ByModel  map[string]AccuracyGroup `json:"by_model"`
	// BySource is who published a row: its source without the file and the day.
	BySource map[string]AccuracyGroup `json:"by_source"`
	// Cells are the rows of a device under an engine of a model from a source, in this order.
	Cells []AccuracyCell `json:"cells"`
	// ByConcurrency groups by concurrency, rounded up to a power of two.
	ByConcurrency map[string]AccuracyGroup `json:"by_concurrency"`
	// Speculative are rows marked only for drafting tokens.
	Speculative AccuracyGroup `json:"speculative"`
	// Defaulted are the columns that were missing or empty, over all rows.
	Defaulted []measured.Defaulted `json:"defaulted"`
	// Regret is what choosing layouts by prediction would have cost.
	Regret Regret `json:"regret"`
	// NotPredicted are the reasons why rows were not predicted, Disagreements settings that an
	// engine lacks or refuses, Unused columns without a meaning; over all rows.
	NotPredicted  []measured.Counted `json:"not_predicted"`
	Disagreements []measured.Counted `json:"disagreements"`
	Unused        []measured.Counted `json:"unused_columns"`

	Source string      `json:"calibration"`
	Tables *prices.Use `json:"tables,omitempty"`
}

// AccuracyGroup is the errors of a set of rows.
type AccuracyGroup struct {
	Rows      int            `json:"rows"`
	Predicted int            `json:"predicted"`
	Clean     int            `json:"clean"`
	TTFT      AccuracyErrors `json:"ttft"`
	TPOT      AccuracyErrors `json:"tpot"`
	// Quantities that no row has are left out: tokens per second and device over the whole
	// run, energy, and TTFTs that are estimates themselves.
	PerGPU       *AccuracyErrors `json:"tput_per_gpu,omitempty"`
	Joules       *AccuracyErrors `json:"joules_per_output_token,omitempty"`
	TTFTEstimate *AccuracyErrors `json:"ttft_estimate,omitempty"`
}

// AccuracyCell is the errors of rows that are alike.
type AccuracyCell struct {
	System string `json:"system"`
	Engine string `json:"engine"`
	Model  string `json:"model"`
	Source string `json:"source"`
	AccuracyGroup
}

// cells divides rows by all that a table of errors is sorted by.
func cells(rows []measured.Compared) []AccuracyCell {
	out := []AccuracyCell{}
	const apart = "\x00"
	for _, p := range measured.By(rows, func(r *measured.Row) string {
		return strings.Join([]string{r.System, r.Engine, r.Model, r.Laboratory()}, apart)
	}) {
		r := p.Rows[0].Row
		out = append(out, AccuracyCell{r.System, r.Engine, r.Model, r.Laboratory(), GroupOf(p.Rows)})
	}
	return out
}

// Of is the errors of a quantity, nil where no row has it.
func (g *AccuracyGroup) Of(q measured.Quantity) *AccuracyErrors {
	switch q {
	case measured.TTFT:
		return &g.TTFT
	case measured.TPOT:
		return &g.TPOT
	case measured.PerGPU:
		return g.PerGPU
	case measured.Joules:
		return g.Joules
	case measured.TTFTEstimate:
	}
	return g.TTFTEstimate
}

// AccuracyErrors are shares, of the rows that have a measurement and a prediction of
// it; Coverage80 is the share of measurements inside the 80 % interval.
type AccuracyErrors struct {
	measured.Errors

	Coverage80 float64 `json:"coverage80"`
}

// NewAccuracy converts a response; with regret every choice of a layout is
// in it.
func NewAccuracy(r *accuracy.Response, regret bool) *Accuracy {
	clean := measured.Clean(r.Rows)
	by := func(key func(*measured.Row) string) map[string]AccuracyGroup {
		out := map[string]AccuracyGroup{}
		for _, p := range measured.By(clean, key) {
			out[p.Name] = GroupOf(p.Rows)
		}
		return out
	}
	choices := measured.Regrets(clean)
	out := &Accuracy{
		Overall: GroupOf(clean), AllRows: GroupOf(r.Rows),
		ByMode:   by(func(r *measured.Row) string { return r.Mode }),
		ByEngine: by(func(r *measured.Row) string { return r.Engine }),
		BySystem: by(func(r *measured.Row) string { return r.System }),
		ByModel:  by(func(r *measured.Row) string { return r.Model }),
		BySource: by((*measured.Row).Laboratory), Cells: cells(clean),
		ByConcurrency: by(ConcurrencyOf), Defaulted: measured.DefaultedColumns(r.Rows), Speculative: GroupOf(measured.Speculative(r.Rows)),
		NotPredicted: measured.Count(r.Rows, Failures), Disagreements: measured.Count(r.Rows, disagreements), Unused: measured.Count(r.Rows, unused),
		Regret: NewRegret(choices), Source: r.Calibration,
		Tables: r.Tables,
	}
	if regret {
		out.Regret.Each = choices
	}
	return out
}

// ConcurrencyOf is a row's concurrency, rounded up to a power of two.
func ConcurrencyOf(r *measured.Row) string {
	n := 1
	for n < r.Concurrency {
		n *= 2
	}
	return strconv.Itoa(n)
}

// Failures is why a row was not predicted.
func Failures(p *measured.Prediction) []string {
	if p.Err == nil {
		return nil
	}
	return []string{p.Err.Error()}
}

func disagreements(p *measured.Prediction) []string { return p.Disagrees }

func unused(p *measured.Prediction) []string { return p.Unused }

// GroupOf sums up a set of rows.
func GroupOf(rows []measured.Compared) AccuracyGroup {
	g := measured.Summarize("", rows)
	of := func(q measured.Quantity) AccuracyErrors {
		e, coverage := q.Errors(rows), 0.0
		if e.Rows > 0 {
			coverage = q.Coverage(rows)
		}
		return AccuracyErrors{e, coverage}
	}
	optional := func(q measured.Quantity) *AccuracyErrors {
		if e := of(q); e.Rows > 0 {
			return &e
		}
		return nil
	}
	return AccuracyGroup{
		Rows: g.Rows, Predicted: g.Predicted, Clean: g.Clean, TTFT: of(measured.TTFT), TPOT: of(measured.TPOT),
		PerGPU: optional(measured.PerGPU), Joules: optional(measured.Joules), TTFTEstimate: optional(measured.TTFTEstimate),
	}
}

// Regret sums up choices of layouts: shares of the best measured throughput
// that the chosen ones lack.
type Regret struct {
	Groups  int     `json:"groups"`
	Choices int     `json:"choices"`
	Mean    float64 `json:"mean"`
	Random  float64 `json:"blind"`    // of random choices
	Within5 float64 `json:"within_5"` // share of choices that lack at most 5 %
	// Each are the choices themselves, if requested.
	Each []measured.Choice `json:"each_choice,omitempty"`
}

// NewRegret sums up choices.
func NewRegret(choices []measured.Choice) Regret {
	out := Regret{Choices: len(choices)}
	last := ""
	for i := range choices {
		c := &choices[i]
		if c.Group != last {
			out.Groups++
			last = c.Group
		}
		out.Mean += c.Regret / float64(len(choices))
		out.Random += c.Random / float64(len(choices))
		if c.Regret <= 0.05 {
			out.Within5 += 1 / float64(len(choices))
		}
	}
	return out
}

// Examine is the check of measured rows for programs.
type Examine struct {
	Rows       int            `json:"rows"`
	Suspicious int            `json:"doubted"`
	ByRule     map[string]int `json:"by_rule"`
	Findings   []Finding      `json:"findings"`
}

// Finding is one reason to suspect a row.
type Finding struct {
	Line     int    `json:"line"`
	ID       string `json:"id"`
	Rule     string `json:"rule"`
	TTFTOnly bool   `json:"ttft_only"`
	Why      string `json:"why"`
}

// NewExamine converts a response.
func NewExamine(r *accuracy.ExamineResponse) *Examine {
	out := &Examine{Rows: len(r.Rows), Suspicious: len(Suspicious(r)), ByRule: map[string]int{}, Findings: []Finding{}}
	for _, f := range r.Findings {
		out.ByRule[f.Rule]++
		out.Findings = append(out.Findings, Finding{f.Row.Line, f.Row.ID, f.Rule, f.TTFTOnly, f.Why})
	}
	return out
}

// Suspicious are the rows with a finding.
func Suspicious(r *accuracy.ExamineResponse) map[*measured.Row]bool {
	rows := map[*measured.Row]bool{}
	for _, f := range r.Findings {
		rows[f.Row] = true
	}
	return rows
}
