package wizard

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// problems are the errors in the request.
func (w *wizard) problems() []string {
	var out []string
	var wrong error
	if w.compares() {
		_, _, wrong = plan.Check(w.World, w.Plan())
	} else {
		r := w.checked()
		r.Space = w.Optimize().Space
		_, wrong = optimize.Check(w.World, r)
	}
	for _, err := range field.Each(wrong) {
		if text := w.text.translate(field.Say(err, w.Say)); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if err := w.checkRoom(); err != nil {
		out = append(out, err.Error())
	}
	return out
}

// findings are the results of the checks before the run.
func (w *wizard) findings() []string {
	t, a, r := w.text, w.relevant(), w.Optimize()
	var out []string
	add := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	for _, p := range w.problems() {
		add(true, fmt.Sprintf(t.Problem, p))
	}
	add(len(out) == 0, t.Accepted)
	add(len(r.Devices) > 1 && r.NumDevices > 0, fmt.Sprintf(t.SharedCount, len(r.Devices), r.NumDevices))
	ttft, tpot := a.limits()
	add(r.Disagg && ttft && tpot, t.BothPhases)
	need := r.PrefillDevices + r.DecodeDevices
	add(r.PDRatio && r.NumDevices < need, fmt.Sprintf(t.TooFew, r.NumDevices, need))
	switch {
	case !drafts(&w.Known):
	case hasMTP(&w.Known):
		add(true, fmt.Sprintf(t.HasMTP, w.Model().MTP.Layers))
	default:
		add(true, t.NoMTP)
	}
	add(a.is(Mode, Aggregation) && r.Input > optimize.DefaultBudget, fmt.Sprintf(t.Chunks, r.Input, optimize.DefaultBudget))
	return out
}

// assumptions are suggested values, and facts that no question covers.
func (w *wizard) assumptions() []string {
	t, a := w.text, w.relevant()
	var out []string
	for _, q := range w.Answered() {
		if x := a[q.ID]; x.Source.Suggested() {
			out = append(out, fmt.Sprintf(t.AssumedValue, t.Questions[q.ID].Title, t.value(q, x.Value), t.source(x.Source)))
		}
	}
	if a.preset() == nil {
		out = append(out, t.FixedLengths)
	}
	if a.is(ImageHeight, NoImages) {
		out = append(out, t.TextOnly)
	}
	if a.is(MTP, Yes) && !drafts(&w.Known) {
		out = append(out, t.NoMTPUsed)
	}
	if w.compares() {
		out = append(out, t.ComparesEngines)
	}
	return out
}
