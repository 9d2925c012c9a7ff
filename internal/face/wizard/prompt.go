package wizard

import (
	"context"
	"errors"
)

// prompt is a question as it is drawn.
type prompt struct {
	title, help string
	notes       []string // an error, a suggestion
	options     []option // nil = text
	value       string   // to start with
	complete    []string // texts to complete from
}

// option is a choice and its words.
type option struct{ value, label string }

// verb is what a user does at a question.
type verb int

const (
	answers verb = iota
	unsure
	goBack
	change
	quit
)

// reply is what a user did, and the answer.
type reply struct {
	verb  verb
	value string
}

// asker draws a question and waits for the reply.
type asker interface {
	ask(ctx context.Context, p *prompt) (reply, error)
	// keep leaves an accepted answer behind.
	keep(p *prompt, value string)
}

// ErrQuit reports that the user quit before a run.
var ErrQuit = errors.New("quit")

// unsureWord is the answer of those who want a suggestion.
const unsureWord = "?"
