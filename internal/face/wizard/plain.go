package wizard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// plain asks line by line: for dumb terminals and screen readers.
type plain struct {
	in   *bufio.Reader
	out  io.Writer
	text *Text
}

// ask prints a question and reads a line.
func (a *plain) ask(ctx context.Context, p *prompt) (reply, error) {
	fmt.Fprintf(a.out, "\n%s", p.title)
	if p.help != "" {
		fmt.Fprintf(a.out, " - %s", p.help)
	}
	fmt.Fprintln(a.out)
	for i, o := range p.options {
		name := strconv.Itoa(i + 1)
		if o.value == unsureWord {
			name = unsureWord
		}
		fmt.Fprintf(a.out, "  %s) %s\n", name, o.label)
	}
	for _, n := range p.notes {
		fmt.Fprintln(a.out, "  "+n)
	}
	if p.value != "" {
		fmt.Fprintf(a.out, "[%s] ", p.shown())
	}
	fmt.Fprint(a.out, "> ")
	line, err := a.in.ReadString('\n')
	if ctx.Err() != nil {
		return reply{verb: quit}, ctx.Err()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return reply{verb: quit}, fmt.Errorf("reading the answer: %w", err)
	}
	if err != nil && strings.TrimSpace(line) == "" {
		return reply{verb: quit}, nil
	}
	return a.parse(p, strings.TrimSpace(line)), nil
}

// keep does nothing: the line that was typed stays.
func (a *plain) keep(*prompt, string) {}

// shown is the value to start with, in words.
func (p *prompt) shown() string {
	for _, o := range p.options {
		if o.value == p.value {
			return o.label
		}
	}
	return p.value
}

// parse reads a line. Commands are words in English and in the language in use.
func (a *plain) parse(p *prompt, line string) reply {
	t := a.text
	switch strings.ToLower(line) {
	case "":
		return reply{value: p.value}
	case unsureWord, "？":
		return reply{verb: unsure}
	case "<", "back", t.BackWord:
		return reply{verb: goBack}
	case "change", t.ChangeWord:
		return reply{verb: change}
	case "quit", "q", "exit", t.QuitWord:
		return reply{verb: quit}
	}
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(p.options) {
		return p.chosen(p.options[n-1].value)
	}
	return reply{value: line}
}

// chosen is the reply of a choice.
func (p *prompt) chosen(value string) reply {
	if value == unsureWord {
		return reply{verb: unsure}
	}
	return reply{value: value}
}
