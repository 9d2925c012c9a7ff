package ask_test

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// berth is a request: a ship, how many, for how long.
type berth struct {
	Ship   string        `json:"ship"`
	Places int           `json:"places,omitempty" minimum:"1" maximum:"9"`
	Draft  []float64     `json:"draft,omitempty" exclusiveMinimum:"0" maxItems:"2"`
	Stay   units.Seconds `json:"stay,omitempty"`
	Deep   *float64      `json:"deep,omitempty" minimum:"0"`
	Side   string        `json:"side,omitempty"`
	Tug    bool          `json:"tug,omitempty"`
	Hidden int           `json:"hidden,omitempty"` // no flag has it
}

// form is a berth as it is typed.
type form struct {
	berth

	table *ask.Table
}

func newForm() *form {
	f := &form{}
	f.Places = 1
	t := ask.New(&f.berth)
	f.table = t
	t.Argument(&f.Ship)
	t.In("Place")
	ask.One(t, &f.Places, "places", ask.Whole, "number of `places`").Always()
	ask.List(t, &f.Draft, "draft", ask.Number, "draft in metres")
	ask.Choice(t, &f.Side, "port", "port", "starboard", "berth on the port side")
	ask.Choice(t, &f.Side, "starboard", "starboard", "port", "berth on the starboard side")
	t.In("Time")
	ask.One(t, &f.Stay, "stay", ask.Limit, "time in `ms`")
	ask.Maybe(t, &f.Deep, "deep", ask.Number, "depth; without one it is measured")
	ask.Switch(t, &f.Tug, "tug", "with a tug").Short("t")
	return f
}

func (f *form) Table() *ask.Table { return f.table }
func (f *form) Say(r *berth)      { f.berth = *r }
func (f *form) Ask() (berth, error) {
	return f.berth, f.table.Check()
}

func line(r *berth) string {
	return ask.Line("moor", func() ask.Form[berth] { return newForm() }, func(r berth) any { return r }, r)
}

// typed reads a command line.
func typed(args string) (*form, error) {
	f := newForm()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.table.Flags(fs)
	if err := fs.Parse(nargs.Rewrite(strings.Fields(args), fs)); err != nil {
		return f, err
	}
	_, err := f.Ask()
	return f, err
}

// TestLine: a line says what differs from the defaults, and fields that are always said; a request that no line asks for has none.
func TestLine(t *testing.T) {
	for want, r := range map[string]berth{
		"moor 'Cutty Sark' --places 1":                                     {Ship: "Cutty Sark", Places: 1},
		"moor a --places 3 --draft 1.5 2 --port --stay 250 --deep 0 --tug": {Ship: "a", Places: 3, Draft: []float64{1.5, 2}, Side: "port", Stay: 0.25, Deep: new(0.0), Tug: true},
		"": {Ship: "a", Places: 1, Hidden: 2},
	} {
		if got := line(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for what, r := range map[string]berth{"0 places": {Ship: "a"}, "a ship that looks like a flag": {Ship: "--tug", Places: 1}} {
		if got := line(&r); got != "" {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestLineAsksTheSame: every request within its bounds has a line; lines of different requests differ.
func TestLineAsksTheSame(t *testing.T) {
	seen := map[string]berth{}
	rapid.Check(t, func(t *rapid.T) {
		r := berth{
			Ship: rapid.StringMatching(`[A-Za-z][ -~]{0,8}`).Draw(t, "ship"), Places: rapid.IntRange(1, 9).Draw(t, "places"),
			Side: rapid.SampledFrom([]string{"", "port", "starboard"}).Draw(t, "side"), Tug: rapid.Bool().Draw(t, "tug"),
		}
		if rapid.Bool().Draw(t, "drafts") {
			r.Draft = rapid.SliceOfN(rapid.Float64Range(0.001, 1e6), 1, 2).Draw(t, "draft")
		}
		if rapid.Bool().Draw(t, "depth") {
			r.Deep = new(rapid.Float64Range(0, 1e9).Draw(t, "deep"))
		}
		got := line(&r)
		if got == "" {
			t.Fatalf("%+v has no line", r)
		}
		if other, ok := seen[got]; ok && line(&other) != got {
			t.Fatalf("%s asks for %+v and %+v", got, other, r)
		}
		seen[got] = r
	})
}

// TestCheck: what is typed out of its bounds is a mistake that names the field; what is not typed is none.
func TestCheck(t *testing.T) {
	for args, want := range map[string]string{
		"a":                       "",
		"a --places 0":            "places must be between 1 and 9, got 0",
		"a --draft 1 2 3":         "draft must have at most 2 entries, got 3",
		"a --draft -1":            "draft must be above 0, got -1",
		"a --deep -2":             "deep must be at least 0, got -2",
		"a --port --starboard":    "port excludes starboard",
		"a --places 10 --deep -1": "places must be between 1 and 9, got 10\ndeep must be at least 0, got -1",
	} {
		_, err := typed(args)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	f, err := typed("a --deep 2 --port=false")
	if err != nil || !f.table.Given("deep") || f.table.Given("places") || f.Side != "starboard" || f.table.First("draft", "deep") != "deep" || f.table.First("draft") != "" {
		t.Errorf("%v %+v", err, f.berth)
	}
}

// TestTypes: what a type writes it reads as the same value, and what it does not take it says.
func TestTypes(t *testing.T) {
	for _, word := range []string{"50", "33.3", "inf"} {
		x, err := ask.Limit.Read(word)
		if err != nil || ask.Limit.Write(x) != word {
			t.Errorf("%s: %v %s", word, err, ask.Limit.Write(x))
		}
	}
	if x, err := ask.Tokens.Read("3.5k"); err != nil || x != 3500 {
		t.Errorf("%v %v", x, err)
	}
	for what, err := range map[string]error{
		"want a whole number, such as 3500 or 3.5k": second(ask.Tokens.Read("1.2345k")),
		"must be positive":                          second(ask.Limit.Read("0")),
		"must not be negative":                      second(ask.Milliseconds.Read("-1")),
		"out of range":                              second(ask.Natural.Read("99999999999999999999")),
		"want one of a, b":                          second(ask.OneOf("a", "b").Read("c")),
	} {
		if err == nil || err.Error() != what {
			t.Errorf("got %v, want %s", err, what)
		}
	}
}

func second[T any](_ T, err error) error { return err }
