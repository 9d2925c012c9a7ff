package field_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// flag says a field as the command line does.
func flag(n field.Name) string { return "--" + strings.ReplaceAll(string(n), "_", "-") }

func TestSay(t *testing.T) {
	t.Parallel()
	simple := field.Errorf("%s must be between 1 and %d, got %d", field.Name("num_devices"), 8, 9)
	two := field.Errorf("%s and %s exclude one another", field.Name("pd_ratio"), field.Name("disagg"))
	for _, c := range []struct {
		err         error
		plain, said string
	}{
		{simple, "num_devices must be between 1 and 8, got 9", "--num-devices must be between 1 and 8, got 9"},
		{errors.Join(simple, errors.New("other"), two), "num_devices must be between 1 and 8, got 9\nother\npd_ratio and disagg exclude one another", "--num-devices must be between 1 and 8, got 9\nother\n--pd-ratio and --disagg exclude one another"},
		{fmt.Errorf("prefill: %w", simple), "prefill: num_devices must be between 1 and 8, got 9", "prefill: --num-devices must be between 1 and 8, got 9"},
		{field.Errorf("reading %s: %w", field.Name("trace"), io.ErrUnexpectedEOF), "reading trace: unexpected EOF", "reading --trace: unexpected EOF"},
		{field.Errorf("%s: %w", field.Name("a_b"), simple), "a_b: num_devices must be between 1 and 8, got 9", "--a-b: --num-devices must be between 1 and 8, got 9"},
		{field.Errorf("%s: a name called num_devices", field.Name("model")), "model: a name called num_devices", "--model: a name called num_devices"},
		{io.EOF, "EOF", "EOF"},
	} {
		if got := c.err.Error(); got != c.plain {
			t.Errorf("plain: want %q, got %q", c.plain, got)
		}
		if got := field.Say(c.err, flag); got != c.said {
			t.Errorf("said: want %q, got %q", c.said, got)
		}
	}
	if !errors.Is(field.Errorf("reading %s: %w", field.Name("trace"), io.EOF), io.EOF) {
		t.Error("the cause is lost")
	}
}

// TestEach: joined mistakes are taken apart; what has a text of its own stays whole.
func TestEach(t *testing.T) {
	t.Parallel()
	a, b := field.Errorf("%s is missing", field.Name("model")), errors.New("b")
	wrapped := &marked{errors.Join(a, nil, fmt.Errorf("prefill: %w", errors.Join(a, b)))}
	var got []string
	for _, err := range field.Each(errors.Join(wrapped, b)) {
		got = append(got, err.Error())
	}
	if want := []string{"model is missing", "prefill: model is missing\nb", "b"}; !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	if one := field.Each(&marked{b}); len(one) != 1 || one[0].(*marked) == nil { //nolint:errorlint // the wrapper itself
		t.Errorf("a wrapper of one mistake: %v", one)
	}
	if field.Each(nil) != nil {
		t.Error("nothing has mistakes")
	}
}

// marked is an error without a text of its own.
type marked struct{ error }

func (m *marked) Unwrap() error { return m.error }

// TestTyped: a mistake says which field, its value, what is allowed and what is nearest.
func TestTyped(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("reading: %w", errors.Join(field.OneOf("kv", "fp7", "fp8", "int8"), field.Between("gpus", 9, 1, 8)))
	all := field.Errors(err)
	if len(all) != 2 || !slices.Equal(field.Names(err), []field.Name{"kv", "gpus"}) {
		t.Fatalf("got %v", all)
	}
	if e := all[0]; e.Value != "fp7" || e.Nearest != "fp8" || !slices.Equal(e.Allowed, []string{"fp8", "int8"}) {
		t.Errorf("got %+v", e)
	}
	if e := all[1]; e.Value != "9" || e.Nearest != "" || !slices.Equal(e.Allowed, []string{"1 to 8"}) {
		t.Errorf("got %+v", e)
	}
	if want, got := "reading: --kv must be one of fp8, int8, got \"fp7\"; nearest: fp8\n--gpus must be between 1 and 8, got 9", field.Say(err, flag); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if err := errors.Join(field.OneOf("kv", "fp8", "fp8"), field.Between("gpus", 8, 1, 8)); err != nil {
		t.Errorf("allowed values: %v", err)
	}
}

// TestSayKeepsText: without fields the text is the error's own, however it is
// wrapped and joined.
func TestSayKeepsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		err := errors.New(rapid.String().Draw(t, "text"))
		for range rapid.IntRange(0, 5).Draw(t, "depth") {
			other := errors.New(rapid.String().Draw(t, "other"))
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				err = fmt.Errorf("%s: %w", rapid.String().Draw(t, "prefix"), err)
			case 1:
				err = errors.Join(other, err)
			default:
				err = field.Errorf("%w, %d", err, 3)
			}
		}
		if got := field.Say(err, flag); got != err.Error() {
			t.Fatalf("want %q, got %q", err, got)
		}
	})
}
