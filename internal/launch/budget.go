package launch

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"mvdan.cc/sh/v3/syntax"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// budget is what may still be done for the files of a target. A few lines can loop for ever, double a text with every line,
// or put scripts into scripts, so that all scripts of a target share one. What is past a bound is not guessed: the first
// bound that is passed is the error of all that is read.
type budget struct {
	steps  int // commands
	text   int // bytes of what words expand to
	inside int // scripts and functions around this one
	err    error
}

func newBudget() *budget { return &budget{steps: bound.Steps, text: bound.Expanded} }

// fail keeps the first bound that is passed.
func (b *budget) fail(line int, err error) error {
	if b.err == nil {
		b.err = fmt.Errorf("line %d: %w", line, err)
	}
	return b.err
}

// over reports an error that is a bound.
func over(err error) bool {
	_, ok := errors.AsType[*bound.OverError](err)
	return ok
}

// step counts a command.
func (b *budget) step(line int) error {
	if b.steps--; b.steps < 0 && b.err == nil {
		return b.fail(line, bound.Over(bound.Steps, "commands to follow: a loop or a function is too long"))
	}
	return b.err
}

// nested follows a script in a script, or a function.
func (b *budget) nested(line int, follow func() error) error {
	if b.inside++; b.inside > bound.Shells {
		return b.fail(line, bound.Over(bound.Shells, "scripts or functions inside each other"))
	}
	defer func() { b.inside-- }()
	return follow()
}

// spend takes what a word will expand to from the budget.
func (b *budget) spend(line, bytes int) error {
	if bytes > bound.Text {
		return b.fail(line, bound.Over(bound.Text, "bytes that one text expands to"))
	}
	return b.toil(line, bytes)
}

// toil takes work that makes no text from the budget.
func (b *budget) toil(line, bytes int) error {
	if b.text -= bytes; b.text < 0 {
		return b.fail(line, bound.Over(bound.Expanded, "bytes of texts to expand or compare"))
	}
	return b.err
}

// pieces hands a script to the parser a piece at a time. The parser calls itself for what is inside something else, and a
// stack that is too large ends the program, which nothing can catch. It asks for a piece whenever it needs one, so that the
// depth of its calls is looked at as often: whatever the syntax and its quotes are, it cannot get deeper between two
// pieces than a piece has bytes.
type pieces struct {
	rest string
}

// mostCalls are those of the parser inside each other: some ten to each level of the syntax. With those that a piece adds,
// every construct of the grammar in itself takes at most 4 MB of the stack, of 1 GB that Go allows.
const (
	mostCalls = 10 * bound.Nesting
	piece     = 1 << 10
)

// errNesting is of a script that is nested too deeply.
func errNesting() error {
	return bound.Over(bound.Nesting, "parts of the syntax inside each other")
}

// Read gives the next piece, unless the parser is too deep in its calls.
func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	calls := make([]uintptr, mostCalls)
	if runtime.Callers(0, calls) == mostCalls {
		return 0, errNesting()
	}
	n := copy(b[:min(len(b), piece)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// parse reads a script. Chains such as "a && b && c" are read without calls inside each other and give trees that are as
// deep as they are long; no code that visits them is called with one that is too deep.
func parse(text string) (*syntax.File, error) {
	if len(text) > bound.Text {
		return nil, bound.Over(bound.Text, "bytes of a script")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(&pieces{rest: text}, "")
	if err != nil {
		return nil, err
	}
	depth, deepest := 0, 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		deepest = max(deepest, depth+1)
		if depth == bound.Nesting {
			return false
		}
		depth++
		return true
	})
	if deepest > bound.Nesting {
		return nil, errNesting()
	}
	return file, nil
}
