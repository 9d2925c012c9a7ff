package field_test

import (
	"errors"
	"fmt"
	"io"
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
