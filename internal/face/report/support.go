package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/support"
)

// Support prints the supported combinations and their expected errors.
func Support(w io.Writer, r *support.Response) {
	if len(r.Rows) == 0 {
		fmt.Fprintln(w, "No measured deployments of these systems and engines. --model shows the expected error for one model.")
		return
	}
	if r.Request.Model != "" && len(r.Request.Systems) > 1 {
		fmt.Fprintf(w, "Model: %s\n\n", r.Request.Model)
		matrix(w, r)
	} else {
		list(w, r)
	}
	fmt.Fprintf(w, "\nGPUs: the fewest that hold a worker. agg, disagg: 80 %% interval of TPOT at 32 requests in flight; –: cannot be deployed;\n"+
		"*: predictions were compared with measured deployments of this model, system and engine.\n"+
		"Tier, the origin of operator times: calibrated, fitted to kernels and deployments of this generation; transferred, fitted to\n"+
		"kernels of it or a related one; datasheet, peaks and default efficiencies; with --perf-data, other commands also have measured.\n")
}

// list prints a row for each model, system and engine.
func list(w io.Writer, r *support.Response) {
	t := table.New("model", "system", "backend", ">GPUs", "tier", "agg", "disagg", "note")
	for i := range r.Rows {
		s := &r.Rows[i]
		t.Row(s.Model, s.System, s.Engine, orDash(s.GPUs()), string(s.Tier), trust(s.Aggregated), trust(s.Disaggregated), s.Why)
	}
	put(w, t, "")
}

// matrix prints one model: a row for each system, with columns for each engine.
func matrix(w io.Writer, r *support.Response) {
	head := []string{"system", "tier"}
	for _, e := range r.Request.Engines {
		head = append(head, ">"+e+": GPUs", "agg", "disagg")
	}
	t := table.New(head...)
	for from := 0; from < len(r.Rows); from += len(r.Request.Engines) {
		var cells []string
		for i := range r.Request.Engines {
			s := &r.Rows[from+i]
			cells = append(cells, orDash(s.GPUs()), trust(s.Aggregated), trust(s.Disaggregated))
		}
		t.Row(r.Rows[from].System, r.Rows[from].Tier, cells)
	}
	put(w, t, "")
}

// trust is the expected error in a cell.
func trust(t *support.Trust) string {
	switch {
	case t == nil:
		return "–"
	case t.Compared:
		return plusMinus(t.Expected.TPOT) + " *"
	}
	return plusMinus(t.Expected.TPOT)
}
