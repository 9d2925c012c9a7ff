package wizard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	opssession "github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// outcome runs the request of the answers and prints a summary. Tables prints all its tables, nil if it has none.
func (w *wizard) outcome(ctx context.Context) (tables func(), err error) {
	command := w.command()
	if w.compares() {
		r, err := w.config.Plan(ctx, w.Plan())
		if err != nil {
			w.failure(command, w.classify(err))
			return nil, err
		}
		w.planned(command, r)
		if len(r.Contenders) == 0 || !r.Answer.Meets {
			err = errors.New(w.text.NoneMeets)
		}
		return func() { w.config.ReportPlan(r) }, err
	}
	r, err := w.config.Optimize(ctx, w.Optimize())
	if err != nil {
		w.failure(command, w.classify(err))
		return nil, err
	}
	tables = func() { w.config.Report(r) }
	if f := w.infeasible(r); f != nil {
		w.failure(command, f)
		return tables, errors.New(w.text.NoneMeets)
	}
	w.summary(command, r)
	return tables, nil
}

// failure is an error and its correction.
type failed struct{ kind, line, fix string }

// failure prints a failure.
func (w *wizard) failure(command string, f *failed) {
	t := w.text
	fmt.Fprintf(w.config.Out, "\n%s\n  %s\n", t.Failed, command)
	for _, x := range [][2]string{{t.Kind, f.kind}, {t.Important, f.line}, {t.Correction, f.fix}} {
		fmt.Fprintf(w.config.Out, "  %s: %s\n", x[0], x[1])
	}
}

// classify finds the kind of a failure. Of several errors the first counts.
func (w *wizard) classify(err error) *failed {
	t := w.text
	first := err
	if all := field.Each(err); len(all) > 0 {
		first = all[0]
	}
	line, _, _ := strings.Cut(field.Say(first, w.Say), "\n")
	f := &failed{line: t.translate(line)}
	_, path := errors.AsType[*fs.PathError](err)
	_, input := errors.AsType[*opssession.InputError](err)
	_, unknown := errors.AsType[*model.UnknownError](err)
	var about *Question
	for _, n := range field.Names(first) {
		for i := range w.all {
			if q := &w.all[i]; q.Field == n && about == nil {
				about = q
			}
		}
	}
	switch {
	case path || !input:
		f.kind, f.fix = t.Environment, t.FixEnvironment
	case unknown || about == nil || about.ID == Devices || about.ID == Linear || about.ID == Attention:
		f.kind, f.fix = t.Assumption, t.FixAssumption
	default:
		f.kind, f.fix = t.Invalid, fmt.Sprintf(t.FixInvalid, t.Questions[about.ID].Title)
	}
	return f
}

// infeasible is the failure of a search without a row, or of a ratio without a pair; nil otherwise.
func (w *wizard) infeasible(r *optimize.Response) *failed {
	var empty *optimize.Search
	for i := range r.Devices {
		d := &r.Devices[i]
		found := d.Ratio != nil && len(d.Ratio.Pairs) > 0
		for k := range d.Searches {
			if p := &d.Searches[k]; len(p.Rows) == 0 && empty == nil {
				empty = p
			} else if len(p.Rows) > 0 && d.Ratio == nil {
				found = true
			}
		}
		if found {
			return nil
		}
	}
	if empty == nil {
		return nil
	}
	t := w.text
	f := &failed{kind: t.Infeasible, line: fmt.Sprintf(t.NoRow, t.phase(empty.Mode)), fix: t.FixSizes}
	if len(empty.Candidates) > 0 {
		f.line = empty.Candidates[0].Label + ": " + t.translate(empty.Candidates[0].Reason)
	}
	switch {
	case empty.Nearest != nil:
		f.fix = fmt.Sprintf(t.FixLimit, nearestLimits(t, empty))
	case len(empty.Helps) > 0:
		h := &empty.Helps[0]
		f.fix = t.Phrase(h.What) + "\n    " + h.Command
	case len(empty.Candidates) > 0 && empty.Candidates[0].Rejected == search.NoMemory:
		f.fix = t.FixMemory
	}
	return f
}

// nearestLimits names the limits to raise.
func nearestLimits(t *Text, p *optimize.Search) string {
	n := p.Nearest
	var out []string
	if p.Limits.TTFT > 0 && n.TTFT > p.Limits.TTFT {
		out = append(out, fmt.Sprintf("%s %.2f ms", t.TTFT, opssession.UpMs(n.TTFT)))
	}
	if p.Limits.TPOT > 0 && n.TPOT > p.Limits.TPOT {
		out = append(out, fmt.Sprintf("%s %.2f ms", t.TPOT, opssession.UpMs(n.TPOT)))
	}
	return strings.Join(out, ", ")
}
