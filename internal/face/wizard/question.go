package wizard

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	opssession "github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Question is one question.
type Question struct {
	ID ID
	// Field is the field of a request that the answer sets, "" for none; checks of the
	// request that name it are about the answer.
	Field field.Name
	// Quiet questions are not asked: their recommended answer can be changed later.
	Quiet bool
	// When reports whether the question is relevant, nil = always.
	When func(*Known) bool
	// Choices are the answers; nil = text, of the kind below.
	Choices func(*Known) []string
	// Also maps other words to a choice.
	Also map[string]string
	Kind Kind
	// Suggest is the suggestion for an unsure user; nil = none.
	Suggest func(*Known) Suggestion
}

// Kind is the type of a text answer.
type Kind int

// The kinds.
const (
	Name   Kind = iota // of a model
	Names              // of devices
	Size               // a number of devices, or a load
	Count              // a positive whole number
	Tokens             // a number of tokens, or a preset
	Ms                 // a positive number of milliseconds, or inf
	Share              // a number from 0 to below 1
	Shares             // numbers from 0 to 1
	Pixels             // a positive whole number, or none
)

// Suggestion is a value with its source; without a value it is advice.
type Suggestion struct {
	Value  string
	Source Source
}

// Known is the state when a question is asked.
type Known struct {
	Answers Answers
	World   *opssession.Session
	Text    *Text
	Say     func(field.Name) string // a field as the command line names it
	// Base is a request with what no question covers; nil = none. With one the answers are those of a plan.
	Base *plan.Request

	models map[string]*model.Model
	fit    map[string]bool // whether requests fit into memory
}

// Model is the model of the answers, nil if unknown.
func (k *Known) Model() *model.Model {
	id := k.Answers.value(Model)
	if id == "" {
		return nil
	}
	if m, ok := k.models[id]; ok {
		return m
	}
	m, err := k.World.Model(id, "")
	if err != nil {
		return nil
	}
	if k.models != nil {
		k.models[id] = m
	}
	return m
}

// Profiles are the devices of the answers that exist.
func (k *Known) Profiles() []*device.Profile {
	var out []*device.Profile
	for _, name := range k.Answers.words(Devices) {
		if p, err := k.World.Device(name, ""); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// relevant reports whether a question applies.
func (q *Question) relevant(k *Known) bool { return q.When == nil || q.When(k) }

// choice finds the choice that a word means, in any spelling.
func (q *Question) choice(k *Known, word string) (string, bool) {
	for _, c := range q.Choices(k) {
		if strings.EqualFold(c, word) {
			return c, true
		}
	}
	c, ok := q.Also[strings.ToLower(word)]
	return c, ok
}
