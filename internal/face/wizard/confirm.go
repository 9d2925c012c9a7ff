package wizard

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// The actions on a complete set of answers.
const (
	doRun    = "run"
	doChange = "change"
	doSave   = "save"
	doReport = "report"
	doDone   = "done"
	doQuit   = "quit"
)

// confirm shows the command and runs the actions that the user chooses, until done. Again is true if an answer changed.
func (w *wizard) confirm(ctx context.Context) (again bool, err error) {
	w.page()
	can := []string{doRun, doChange, doSave, doQuit}
	if len(w.problems()) > 0 {
		can = can[1:]
	}
	do, err := w.act(ctx, w.text.ConfirmTitle, can)
	switch {
	case err != nil:
		return false, err
	case do == doRun:
		return w.run(ctx)
	case do == doChange:
		return true, w.change(ctx)
	}
	return false, ErrQuit
}

// act asks what to do until it is something else than to save the answers.
func (w *wizard) act(ctx context.Context, title string, can []string) (do string, err error) {
	for {
		if do, err = w.choose(ctx, title, can); err != nil || do != doSave {
			return do, err
		}
		if err := w.save(ctx); err != nil {
			return "", err
		}
	}
}

// choose asks what to do.
func (w *wizard) choose(ctx context.Context, title string, can []string) (string, error) {
	p := &prompt{title: title}
	for _, do := range can {
		p.options = append(p.options, option{do, w.text.Actions[do]})
	}
	switch r, err := w.pick(ctx, p); {
	case err != nil:
		return "", err
	case r.verb == quit:
		return doQuit, nil
	case r.verb == answers:
		return r.value, nil
	}
	return doChange, nil
}

// pick asks until one of the options is chosen, or something else is done.
func (w *wizard) pick(ctx context.Context, p *prompt) (reply, error) {
	for {
		r, err := w.asker.ask(ctx, p)
		if err != nil || r.verb != answers && r.verb != unsure {
			return r, err
		}
		if slices.ContainsFunc(p.options, func(o option) bool { return o.value == r.value }) {
			w.asker.keep(p, r.value)
			return r, nil
		}
		p.notes = []string{w.text.NeedAnswer}
		if r.value != "" {
			p.notes = []string{fmt.Sprintf(w.text.NoChoice, r.value, "1-"+strconv.Itoa(len(p.options)))}
		}
	}
}

// run executes the request, prints a summary and asks for the next action.
func (w *wizard) run(ctx context.Context) (again bool, err error) {
	fmt.Fprintln(w.config.Out, "\n"+w.text.Running)
	w.ran = true
	tables, failed := w.outcome(ctx)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	can := []string{doReport, doChange, doSave, doDone}
	if tables == nil {
		can = can[1:]
	}
	for {
		do, err := w.act(ctx, w.text.NextTitle, can)
		switch {
		case err != nil:
			return false, err
		case do == doReport:
			tables()
		case do == doChange:
			return true, w.change(ctx)
		default:
			return false, failed
		}
	}
}

// save asks for a file and writes the answers.
func (w *wizard) save(ctx context.Context) error {
	suggested := heuristic("plimsoll-answers.yaml", w.text.WhySaveName)
	p := &prompt{title: w.text.SaveTitle, help: w.text.SaveHelp}
	for {
		r, err := w.asker.ask(ctx, p)
		switch {
		case err != nil:
			return err
		case r.verb == quit:
			return ErrQuit
		case r.verb == unsure:
			p.notes = []string{fmt.Sprintf(w.text.Suggestion, suggested.Value, w.text.source(suggested.Source))}
			p.value = suggested.Value
			continue
		case r.verb != answers:
			return nil
		case r.value == "":
			p.notes = []string{w.text.NeedAnswer}
			continue
		}
		if err := w.config.Save(r.value, func(out io.Writer) error { return Write(out, w.relevant()) }); err != nil {
			p.notes = []string{fmt.Sprintf(w.text.SaveFailed, err)}
			continue
		}
		w.asker.keep(p, r.value)
		fmt.Fprintf(w.config.Out, w.text.SavedTo+"\n", r.value)
		return nil
	}
}

// page prints the command, the parameters, the checks and the assumptions.
func (w *wizard) page() {
	t, out := w.text, w.config.Out
	fmt.Fprintf(out, "\n%s\n  %s\n", t.CommandTitle, w.command())
	fmt.Fprintf(out, "\n%s\n", t.ParametersTitle)
	for _, q := range w.Answered() {
		a := w.Answers[q.ID]
		fmt.Fprintf(out, "  "+t.AssumedValue+"\n", t.Questions[q.ID].Title, t.value(q, a.Value), t.source(a.Source))
	}
	fmt.Fprintf(out, "\n%s\n", t.ChecksTitle)
	for _, f := range w.findings() {
		fmt.Fprintf(out, "  - %s\n", f)
	}
	fmt.Fprintf(out, "\n%s\n", t.AssumptionsTitle)
	for _, a := range w.assumptions() {
		fmt.Fprintf(out, "  - %s\n", a)
	}
}

// command is the command line of the answers.
func (w *wizard) command() string {
	if w.compares() {
		r := w.Plan()
		return r.CommandLine()
	}
	r := w.Optimize()
	return r.CommandLine()
}
