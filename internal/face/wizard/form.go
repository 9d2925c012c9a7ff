package wizard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
)

// form asks with fields that are edited in place, and leaves the answer behind.
type form struct {
	in    *keys
	out   io.Writer
	text  *Text
	width int
	color bool
}

// The keys that do something else than answer.
const (
	backKey   = "esc"
	changeKey = "ctrl+g"
	quitKey   = "ctrl+c"
)

// widest is how wide a form gets.
const widest = 100

// ask draws one field.
func (a *form) ask(ctx context.Context, p *prompt) (reply, error) {
	value := p.value
	styles := huh.ThemeBase16
	if !a.color {
		styles = huh.ThemeBase
	}
	made := map[bool]*huh.Styles{} // a form asks for them with every line it draws
	theme := huh.ThemeFunc(func(dark bool) *huh.Styles {
		if made[dark] == nil {
			made[dark] = styles(dark)
		}
		return made[dark]
	})
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithKeys(quitKey, backKey, changeKey))
	keys.Select.Filter.SetEnabled(false)
	keys.Input.AcceptSuggestion = key.NewBinding(key.WithKeys("tab", "right"))
	keys.Input.Next = key.NewBinding(key.WithKeys("enter"))
	f := huh.NewForm(huh.NewGroup(a.field(p, &value))).WithShowHelp(false).WithTheme(theme).WithKeyMap(keys).WithWidth(min(cmp.Or(a.width, widest), widest))
	f.SubmitCmd, f.CancelCmd = tea.Quit, tea.Quit
	s := &screen{form: f}
	in := a.in.reader()
	var from io.Reader = in
	if tty, ok := a.in.from.(file); ok {
		from = &terminalReader{in, tty}
	}
	_, err := tea.NewProgram(s, tea.WithContext(ctx), tea.WithInput(from), tea.WithOutput(a.out)).Run()
	in.end()
	switch {
	case ctx.Err() != nil:
		return reply{verb: quit}, ctx.Err()
	case errors.Is(err, tea.ErrInterrupted):
		return reply{verb: quit}, nil
	case err != nil:
		return reply{verb: quit}, fmt.Errorf("reading the answer: %w", err)
	case f.State != huh.StateCompleted:
		return aborted(s.pressed), nil
	}
	value = strings.TrimSpace(value)
	if value == unsureWord || value == "？" {
		return reply{verb: unsure}, nil
	}
	return p.chosen(value), nil
}

// keep prints the question and its answer, of which the form leaves nothing. A rejected answer is not kept.
func (a *form) keep(p *prompt, value string) {
	fmt.Fprintf(a.out, "%s: %s\n", p.title, (&prompt{options: p.options, value: value}).shown())
}

// screen runs a form. The form's own way ends a program by an interrupt, which it takes for a failure.
type screen struct {
	form    *huh.Form
	pressed string // the last key
}

// Init starts the form.
func (s *screen) Init() tea.Cmd { return s.form.Init() }

// Update passes messages on.
func (s *screen) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := m.(tea.KeyPressMsg); ok {
		s.pressed = k.String()
	}
	_, cmd := s.form.Update(m)
	return s, cmd
}

// View draws the form.
func (s *screen) View() tea.View { return tea.NewView(s.form.View()) }

// aborted is the action of the key that ended a form.
func aborted(pressed string) reply {
	switch pressed {
	case backKey:
		return reply{verb: goBack}
	case changeKey:
		return reply{verb: change}
	default:
		return reply{verb: quit}
	}
}

// field is the field of a question.
func (a *form) field(p *prompt, value *string) huh.Field {
	about := strings.Join(append(append([]string{p.help}, p.notes...), a.text.LegendForm), "\n")
	about = strings.TrimPrefix(about, "\n")
	if p.options == nil {
		return huh.NewInput().Title(p.title).Description(about).Suggestions(p.complete).Value(value)
	}
	var options []huh.Option[string]
	for _, o := range p.options {
		options = append(options, huh.NewOption(o.label, o.value))
	}
	return huh.NewSelect[string]().Title(p.title).Description(about).Options(options...).Value(value)
}
