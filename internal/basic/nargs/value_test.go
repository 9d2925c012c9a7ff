package nargs_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

func TestListDefaultIsReplaced(t *testing.T) {
	sizes := []int{1, 2}
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f := nargs.ListVar(fs, &sizes, "sizes", nargs.ZeroOrMore, nargs.Int, "")
	if want := "1 2"; f.DefValue != want {
		t.Errorf("default shown: want %q, got %q", want, f.DefValue)
	}
	if err := fs.Parse(nargs.Rewrite([]string{"--sizes", "4", "8"}, fs)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{4, 8}, sizes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestOneOf(t *testing.T) {
	parse := nargs.OneOf("DISABLED", "W8A8_DYNAMIC")
	got, err := parse("w8a8-dynamic")
	if err != nil || got != "W8A8_DYNAMIC" {
		t.Errorf("want W8A8_DYNAMIC, got %q, %v", got, err)
	}
	_, err = parse("W8A9")
	choice, ok := errors.AsType[*nargs.ChoiceError](err)
	if !ok {
		t.Fatalf("want a ChoiceError, got %v", err)
	}
	want := &nargs.ChoiceError{Word: "W8A9", Allowed: []string{"DISABLED", "W8A8_DYNAMIC"}}
	if d := cmp.Diff(want, choice); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNumbers(t *testing.T) {
	for _, word := range []string{"", "x", "1.5", "99999999999999999999"} {
		if _, err := nargs.Int(word); err == nil {
			t.Errorf("Int(%q): want an error", word)
		}
	}
	for _, word := range []string{"", "x", "NaN", "inf", "1e999"} {
		if _, err := nargs.Float(word); err == nil {
			t.Errorf("Float(%q): want an error", word)
		}
	}
}
