package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/accuracy"
	"github.com/plimsoll-project/plimsoll/internal/ops/calibrate"
)

// Accuracy prints error figures for people.
func Accuracy(w io.Writer, r *accuracy.Response) {
	clean := measured.Clean(r.Rows)
	all := document.GroupOf(r.Rows)
	t := newErrorTable(&all)
	t.add("clean", document.GroupOf(clean))
	if s := measured.Speculative(r.Rows); len(s) > 0 {
		t.add("speculative (mtp), clean otherwise", document.GroupOf(s))
	}
	t.add("all", all)
	for _, by := range []struct {
		prefix string
		key    func(*measured.Row) string
	}{
		{"", func(r *measured.Row) string { return r.Mode + "regated" }},
		{"", func(r *measured.Row) string { return r.Engine }},
		{"concurrency up to ", document.ConcurrencyOf},
		{"", func(r *measured.Row) string { return r.System }},
		{"", func(r *measured.Row) string { return r.Model }},
	} {
		t.Rule()
		for _, p := range measured.By(clean, by.key) {
			t.add(by.prefix+p.Name, document.GroupOf(p.Rows))
		}
	}
	put(w, t.Table, "")
	fmt.Fprintf(w, "\nThe 80 %% intervals cover %s (clean rows). Bias is the median of ln(predicted/measured).\n", covered(clean))
	fmt.Fprintln(w, regretLine(measured.Regrets(clean)))
	defaulted(w, r.Rows)
	fmt.Fprintf(w, "Calibration: %s\n", r.Calibration)
	inOneLine(w, "Columns that these engines do not use", measured.Count(r.Rows, func(p *measured.Prediction) []string { return p.Unused }))
	inOneLine(w, "Rows that contradict the settings of their engine", measured.Count(r.Rows, func(p *measured.Prediction) []string { return p.Disagrees }))
	reasons(w, "Assumed", r.Rows, func(p *measured.Prediction) []string { return p.Assumed })
	reasons(w, "Not predicted", r.Rows, document.Failures)
}

// errorTable is a table of errors by group of rows, with columns for each measured quantity.
type errorTable struct {
	*table.Table
	shown []measured.Quantity
}

func newErrorTable(all *document.AccuracyGroup) *errorTable {
	t := &errorTable{}
	header := []string{"group", ">rows", ">predicted"}
	for _, q := range measured.Quantities() {
		if e := all.Of(q); e != nil && e.Rows > 0 {
			t.shown = append(t.shown, q)
			header = append(header, ">"+quantityTitle(q)+" MAPE", ">median", ">p90", ">bias", ">coverage")
		}
	}
	t.Table = table.New(header...)
	return t
}

func (t *errorTable) add(name string, g document.AccuracyGroup) {
	var cells []string
	for _, q := range t.shown {
		e := g.Of(q)
		if e == nil || e.Rows == 0 {
			cells = append(cells, "–", "–", "–", "–", "–")
			continue
		}
		cells = append(cells, pc(e.MAPE), pc(e.MedianAPE), pc(e.P90), fmt.Sprintf("%+.2f", e.Bias), percentage(e.Coverage80))
	}
	t.Row(name, g.Rows, g.Predicted, cells)
}

// quantityTitle is the header of a quantity.
func quantityTitle(q measured.Quantity) string {
	switch q {
	case measured.TTFT:
		return "TTFT"
	case measured.TPOT:
		return "TPOT"
	case measured.PerGPU:
		return "tokens/s/GPU"
	case measured.Joules:
		return "J/token"
	case measured.TTFTEstimate:
	}
	return "estimated TTFT"
}

// covered is the share of measurements inside their intervals.
func covered(rows []measured.Compared) string {
	var parts []string
	for _, q := range measured.Quantities() {
		if q.Errors(rows).Rows == 0 {
			continue
		}
		words := "of the " + quantityTitle(q) + "s"
		switch q {
		case measured.TTFT:
			words = "of the measured TTFTs"
		case measured.PerGPU:
			words = "of the throughputs"
		case measured.Joules:
			words = "of the joules per output token"
		case measured.TPOT, measured.TTFTEstimate:
		}
		parts = append(parts, fmt.Sprintf("%.0f %% %s", 100*q.Coverage(rows), words))
	}
	switch n := len(parts); {
	case n == 0:
		return "nothing: no row has both a measurement and a prediction"
	case n > 2:
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, " and ")
}

// inOneLine lists names with their number of rows.
func inOneLine(w io.Writer, title string, all []measured.Counted) {
	if len(all) == 0 {
		return
	}
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = fmt.Sprintf("%s (%s)", c.Name, units.Counted(c.Rows, "row"))
	}
	fmt.Fprintf(w, "%s: %s.\n", title, strings.Join(words, ", "))
}

// defaulted lists the columns with empty cells, those empty in all rows first.
func defaulted(w io.Writer, rows []measured.Compared) {
	var all, some []string
	for _, d := range measured.DefaultedColumns(rows) {
		if d.Rows == len(rows) {
			all = append(all, d.Column)
		} else {
			some = append(some, fmt.Sprintf("%s (%d rows)", d.Column, d.Rows))
		}
	}
	if missing := slices.Concat(all, some); len(missing) > 0 {
		fmt.Fprintf(w, "Missing or empty columns, filled with defaults: %s.\n", strings.Join(missing, ", "))
	}
}

// reasons counts rows by reason, the most frequent first.
func reasons(w io.Writer, title string, rows []measured.Compared, of func(*measured.Prediction) []string) {
	for _, c := range measured.Count(rows, of) {
		fmt.Fprintf(w, "%s (%s): %s\n", title, units.Counted(c.Rows, "row"), c.Name)
	}
}

// AccuracyCSV writes every row with its prediction.
func AccuracyCSV(w io.Writer, r *accuracy.Response) error {
	t := table.New(
		"line", "id", "backend", "model_path", "system", "mode", "isl", "osl", "concurrency", "tp_size", "quality",
		"silicon_ttft_ms", "predicted_ttft_ms", "silicon_tpot_ms", "predicted_tpot_ms", "kv_tokens", "preemptions",
		"ttft_low80_ms", "ttft_high80_ms", "tpot_low80_ms", "tpot_high80_ms",
		"ttft_est_ms", "tput_per_gpu", "predicted_tput_per_gpu", "joules_per_output_token", "predicted_joules_per_output_token", "error")
	known := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	for i := range r.Rows {
		c := &r.Rows[i]
		m, p, reason := c.Row, &c.Pred, ""
		e := &c.Expected
		ttftLow, ttftHigh := e.TTFT.Times(p.TTFT)
		tpotLow, tpotHigh := e.TPOT.Times(p.TPOT)
		if p.Err != nil {
			reason = p.Err.Error()
		}
		t.Row(m.Line, m.ID, m.Engine, m.Model, m.System, m.Mode, m.Input, m.Output,
			m.Concurrency, m.TP, m.Quality, f3(m.TTFT.Ms()), f3(p.TTFT.Ms()), f3(m.TPOT.Ms()), f3(p.TPOT.Ms()),
			p.KVTokens, p.Preempted, f3(ttftLow.Ms()), f3(ttftHigh.Ms()), f3(tpotLow.Ms()), f3(tpotHigh.Ms()),
			known(m.TTFTEstimate.Ms()), known(m.PerGPU), known(p.PerGPU), known(m.Joules), known(float64(p.Energy.PerToken)), reason)
	}
	return t.CSV(w)
}

// Fits prints the errors of fits, on the rows they used and on rows they held out.
func Fits(w io.Writer, fits []document.PredictedBy) {
	t := table.New("prediction", ">rows", ">TTFT MAPE", ">median", ">p90", ">coverage", ">TPOT MAPE", ">median", ">p90", ">coverage")
	add := func(name, mode string, rows []measured.Compared, o *calibration.Overlay) {
		rows = measured.OfMode(rows, mode)
		if len(rows) == 0 {
			return
		}
		g := measured.Summarize("", rows)
		inTTFT, inTPOT := "", ""
		if len(o.Residuals) > 0 {
			measured.Expect(o, rows)
			a, b := measured.Coverage(rows)
			inTTFT, inTPOT = percentage(a), percentage(b)
		}
		t.Row(
			name, g.Predicted, pc(g.TTFT.MAPE), pc(g.TTFT.MedianAPE), pc(g.TTFT.P90), inTTFT,
			pc(g.TPOT.MAPE), pc(g.TPOT.MedianAPE), pc(g.TPOT.P90), inTPOT,
		)
	}
	for i, mode := range [...]string{"agg", "disagg"} {
		if i > 0 {
			t.Rule()
		}
		for _, f := range fits {
			add(mode+"regated: "+f.Of, mode, f.Rows, f.Expects)
		}
	}
	put(w, t, "")
}

// Calibration prints the errors of a fit to a user's rows.
func Calibration(w io.Writer, r *calibrate.Response) {
	calibrated(w, &r.Results)
	Fits(w, document.FitsOf(r))
	if r.Unchanged {
		fmt.Fprintln(w, "The calibration is unchanged: fitting these rows did not improve predictions of held-out configurations.")
	}
}

// calibrated lists the fitted results by cell and layout.
func calibrated(w io.Writer, found *calibrate.FoundResults) {
	if len(found.Used) == 0 {
		return
	}
	var names []string
	of := map[string]int{}
	for i := range found.Used {
		u := &found.Used[i]
		name := fmt.Sprintf("%s on %s under %s, %s", u.Row.Model, u.Row.System, u.Row.Engine, u.Layout)
		if of[name] == 0 {
			names = append(names, name)
		}
		of[name]++
	}
	for _, name := range names {
		fmt.Fprintf(w, "Results of %s: %d\n", name, of[name])
	}
	if n := len(found.Unused); n > 0 {
		fmt.Fprintf(w, "Results not used: %d\n", n)
	}
	fmt.Fprintln(w)
}
