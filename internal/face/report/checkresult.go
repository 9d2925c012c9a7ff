package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/check"
)

// CheckResult prints the comparison of measured runs with their predictions.
func CheckResult(w io.Writer, d *check.Response) {
	for i := range d.Runs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		checkedRun(w, d.File, &d.Runs[i])
	}
}

func checkedRun(w io.Writer, file string, r *check.CheckedRun) {
	fmt.Fprintf(w, "%s: %s result%s\n\n", file, r.Format, aboutRun(r))
	t := table.New("figure", ">predicted", ">80 % interval", ">measured", ">measured/predicted", "")
	for _, f := range r.Figures {
		t.Row(compared(&f), ratio(f.Ratio), inside(&f))
	}
	put(w, t, "")
	fmt.Fprintf(w, "\nIntervals from %s.\n", r.Basis)
	sentences(w, "Note", r.Notes)
	if r.Inside {
		fmt.Fprintln(w, "The run is inside the intervals: it agrees with the prediction.")
		return
	}
	fmt.Fprintln(w, "The run is outside the intervals. Possible causes, each tested by changing one assumption and simulating again:")
	fmt.Fprintln(w)
	causes(w, r)
	fmt.Fprintln(w)
	fmt.Fprintln(w, verdict(r.Causes))
}

// aboutRun is the load of a run.
func aboutRun(r *check.CheckedRun) string {
	var words []string
	if r.Requests > 0 {
		words = append(words, units.Counted(r.Requests, "request"))
	}
	if r.Concurrency > 0 {
		words = append(words, fmt.Sprintf("%d in flight", r.Concurrency))
	}
	if r.Rate > 0 {
		words = append(words, fmt.Sprintf("%.3g per second", r.Rate))
	}
	if r.Input > 0 && r.Output > 0 {
		words = append(words, fmt.Sprintf("%.0f tokens in, %.0f out", r.Input, r.Output))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// amount is a time or a rate.
func amount(f *check.Figure, x float64) string {
	if strings.HasSuffix(f.Name, "/s") {
		return fmt.Sprintf("%.4g", x)
	}
	return fmt.Sprintf("%.4g ms", x)
}

// compared are the cells of a figure: its name, what was predicted, and what was measured.
func compared(f *check.Figure) []string {
	return []string{f.Name, amount(f, f.Predicted.Value), amount(f, f.Predicted.Low) + " to " + amount(f, f.Predicted.High), amount(f, f.Measured)}
}

// inside is whether a figure is in its interval.
func inside(f *check.Figure) string {
	if f.Inside {
		return "inside"
	}
	return "outside"
}

// causes lists the assumptions tested.
func causes(w io.Writer, r *check.CheckedRun) {
	head := []string{"assumption changed", ""}
	for _, f := range r.Figures {
		head = append(head, f.Name)
	}
	t := table.New(append(head, "remaining error", "")...)
	for _, c := range r.Causes {
		from, word := "not stated", ""
		if c.Stated {
			from = "stated in the result"
		}
		if c.Failure != "" {
			t.Row(c.What, from, "not possible: "+c.Failure)
			continue
		}
		if c.Explains {
			word = "explains the run"
		}
		var cells []string
		for _, f := range c.Figures {
			cells = append(cells, amount(&f, f.Predicted.Value))
		}
		t.Row(c.What, from, cells, fmt.Sprintf("%.0f %%", 100*c.Left), word)
	}
	put(w, t, "")
}

// verdict names the most likely cause.
func verdict(causes []check.Cause) string {
	for _, c := range causes {
		if c.Explains && c.Stated {
			return "Most likely cause: " + c.What + "."
		}
	}
	for _, c := range causes {
		if c.Explains {
			return "Possible cause: " + c.What + ". Compare with the launch command of the server."
		}
	}
	return "No single assumption explains the run: the model, the device or the software differs from the predicted one. \"plimsoll calibrate\" fits predictions to measured rows."
}
