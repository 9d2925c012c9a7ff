package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// Form is a request R as it is typed: it holds the values of the fields of a table.
type Form[R any] interface {
	// Table is the fields of the form; nothing was typed in them when it is first called.
	Table() *Table
	// Say fills the form with a request, as far as it can be typed.
	Say(*R)
	// Ask is the request that was typed, or what is wrong with it.
	Ask() (R, error)
}

// Line is the command line that asks for a request; "" where no command line does. An empty form is what stands on the command line
// before anything is typed. Requests are the same if they are compared by the same JSON.
func Line[R any](program string, empty func() Form[R], compared func(R) any, r *R) string {
	f := empty()
	table := f.Table()
	f.Say(r)
	args := table.args()
	back, err := read(empty(), args)
	if err != nil || !same(compared(*r), compared(back)) {
		return ""
	}
	line := []string{program}
	for _, arg := range args {
		line = append(line, launch.Quote(arg))
	}
	return strings.Join(line, " ")
}

// args are the words of a command line.
func (t *Table) args() []string {
	var out []string
	if t.argument != nil {
		out = append(out, t.argument.value.words()...)
	}
	for _, f := range t.fields {
		words := f.value.words()
		if words == nil || !f.always && f.untyped != nil && slices.Equal(words, f.untyped) {
			continue
		}
		out = append(out, "--"+f.Name)
		if f.alone == "" || !slices.Equal(words, []string{f.alone}) {
			out = append(out, words...)
		}
	}
	return out
}

// read asks for the request of a command line.
func read[R any](f Form[R], args []string) (out R, err error) {
	table := f.Table()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	table.Flags(fs)
	if err := fs.Parse(nargs.Rewrite(args, fs)); err != nil {
		return out, err
	}
	if words := fs.Args(); len(words) > 0 {
		if table.argument == nil || len(words) > 1 {
			return out, fmt.Errorf("unexpected argument %q", words[0])
		}
		if err := table.argument.value.Set(words[0]); err != nil {
			return out, err
		}
	}
	return f.Ask()
}

// same compares requests by their JSON.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
