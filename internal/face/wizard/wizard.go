package wizard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	opssession "github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Config is the configuration of a dialogue.
type Config struct {
	In    io.Reader
	Out   io.Writer
	Width int
	Color bool
	// Plain asks line by line, for terminals that cannot do more.
	Plain bool
	// Silent asks nothing: missing answers are an error.
	Silent bool
	Lang   Lang
	World  *opssession.Session
	// Answers are known already.
	Answers Answers
	// Say names a field as the command line does.
	Say func(field.Name) string

	// Optimize runs a request; Report prints the response with all its tables.
	Optimize func(context.Context, optimize.Request) (*optimize.Response, error)
	Report   func(*optimize.Response)
	// Plan runs a request; ReportPlan prints the response with all its tables.
	Plan       func(context.Context, plan.Request) (*plan.Response, error)
	ReportPlan func(*plan.Response)
	// Base is a request with what flags say and no question covers; nil = none.
	Base *plan.Request
	// Save writes a file.
	Save func(name string, write func(io.Writer) error) error
}

// wizard is a dialogue in progress.
type wizard struct {
	*Session

	config *Config

	text  *Text
	asker asker
	// ran is set once a command was run.
	ran bool
}

// Run asks, confirms, runs and prints a summary. It returns [ErrQuit] if the user quit before
// a run, and a [MissingError] if it may not ask.
func Run(ctx context.Context, c *Config) error {
	text := c.Lang.Say()
	w := &wizard{
		config: c, text: text,
		Session: NewSession(Known{Answers: c.Answers, World: c.World, Text: text, Say: c.Say, Base: c.Base}),
	}
	if c.Silent {
		return w.silent(ctx)
	}
	w.asker = &form{newKeys(c.In), c.Out, text, c.Width, c.Color}
	fmt.Fprintln(c.Out, text.Intro)
	if c.Plain {
		w.asker = &plain{bufio.NewReader(c.In), c.Out, text}
		fmt.Fprintln(c.Out, text.Legend)
	}
	err := w.dialogue(ctx)
	if errors.Is(err, ErrQuit) && w.ran {
		return nil
	}
	return err
}

// silent runs the request of the answers.
func (w *wizard) silent(ctx context.Context) error {
	q, err := w.Next()
	switch {
	case err != nil:
		return &opssession.InputError{Err: fmt.Errorf("%s: %w", q.ID, err)}
	case q != nil:
		return &MissingError{w.Missing()}
	}
	_, err = w.outcome(ctx)
	return err
}

// MissingError lists answers that are missing in a silent run.
type MissingError struct{ Questions []*Question }

// Error lists the keys.
func (e *MissingError) Error() string {
	var keys []string
	for _, q := range e.Questions {
		keys = append(keys, string(q.ID))
	}
	return "missing answers: " + strings.Join(keys, ", ")
}

// dialogue goes round: questions, confirmation, run.
func (w *wizard) dialogue(ctx context.Context) error {
	for {
		if err := w.questions(ctx); err != nil {
			return err
		}
		again, err := w.confirm(ctx)
		if err != nil || !again {
			return err
		}
	}
}

// questions asks until nothing is missing.
func (w *wizard) questions(ctx context.Context) error {
	for {
		q, problem := w.Next()
		if q == nil {
			return nil
		}
		if err := w.question(ctx, q, problem); err != nil {
			return err
		}
	}
}

// question asks one question until it is answered, or left.
func (w *wizard) question(ctx context.Context, q *Question, problem error) error {
	p := w.prompt(q)
	if problem != nil {
		p.notes = []string{fmt.Sprintf(w.text.NotAnyMore, problem)}
	}
	var shown *Suggestion
	for {
		r, err := w.asker.ask(ctx, p)
		if err != nil {
			return err
		}
		switch r.verb {
		case quit:
			return ErrQuit
		case goBack:
			if w.Back(q.ID) {
				return nil
			}
			p.notes = []string{w.text.FirstQuestion}
			continue
		case change:
			return w.change(ctx)
		case unsure:
			shown = w.suggest(q, p)
			continue
		case answers:
		}
		err = w.Answer(q, r.value, w.origin(q, r.value, shown))
		if err == nil {
			w.asker.keep(p, w.Answers.value(q.ID))
			return nil
		}
		p.notes, p.value, shown = strings.Split(err.Error(), "\n"), "", nil
	}
}

// prompt draws a question with its present answer.
func (w *wizard) prompt(q *Question) *prompt {
	asked := w.text.Questions[q.ID]
	p := &prompt{title: asked.Title, help: asked.Help, value: w.Answers.value(q.ID), complete: completions(q)}
	if q.Choices == nil {
		return p
	}
	for _, c := range q.Choices(&w.Known) {
		p.options = append(p.options, option{c, w.text.value(q, c)})
	}
	if q.Suggest != nil {
		p.options = append(p.options, option{unsureWord, w.text.Unsure})
	}
	return p
}

// completions are the names that a text may be.
func completions(q *Question) []string {
	switch {
	case q.Choices != nil:
		return nil
	case q.Kind == Names:
		return device.Names()
	case q.Kind == Name:
		var out []string
		for _, e := range model.IDs() {
			out = append(out, e.ID)
		}
		return out
	}
	return nil
}

// suggest puts a suggestion into a prompt.
func (w *wizard) suggest(q *Question, p *prompt) *Suggestion {
	s := q.Suggest(&w.Known)
	p.notes = w.explained(q)
	if s.Value == "" {
		p.notes = append(p.notes, fmt.Sprintf(w.text.NoSuggestion, s.Source.Why))
		return nil
	}
	p.notes = append(p.notes, fmt.Sprintf(w.text.Suggestion, w.text.value(q, s.Value), w.text.source(s.Source)))
	p.value = s.Value
	return &s
}

// explained says of every choice what it means.
func (w *wizard) explained(q *Question) []string {
	if q.Choices == nil {
		return nil
	}
	var out []string
	for _, c := range q.Choices(&w.Known) {
		if about := w.text.Questions[q.ID].About[c]; about != "" {
			name, _, _ := strings.Cut(w.text.value(q, c), ":")
			name, _, _ = strings.Cut(name, "：")
			out = append(out, name+" - "+about)
		}
	}
	return out
}

// origin is the source of an answer: an accepted suggestion, its previous source, or the user.
func (w *wizard) origin(q *Question, value string, shown *Suggestion) Source {
	if shown != nil && shown.Value == value {
		return shown.Source
	}
	if before, ok := w.Answers[q.ID]; ok && before.Value == value {
		return before.Source
	}
	return Source{Origin: Typed}
}

// change asks which answer to change.
func (w *wizard) change(ctx context.Context) error {
	p := &prompt{title: w.text.ChangeTitle}
	for _, q := range w.Answered() {
		label := w.text.Questions[q.ID].Title + ": " + w.text.value(q, w.Answers.value(q.ID))
		p.options = append(p.options, option{string(q.ID), label})
	}
	if len(p.options) == 0 {
		return nil // asks the question again
	}
	r, err := w.pick(ctx, p)
	switch {
	case err != nil:
		return err
	case r.verb == quit:
		return ErrQuit
	case r.verb == answers:
		w.Change(ID(r.value))
	}
	return nil
}
