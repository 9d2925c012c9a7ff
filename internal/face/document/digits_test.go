package document

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRounded(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`{"x": 15509.187894079656}`:                   `{"x": 15509.18789}`,
		`15509.187894079654`:                          `15509.18789`,
		`4.999999999999999`:                           `5`,
		`-0.1234567890123`:                            `-0.123456789`,
		`1.2345678901234e-9`:                          `1.23456789e-9`,
		`123456789012345`:                             `123456789012345`, // whole
		`12345678901.56789`:                           `12345678902`,
		`["1.23456789012345", "a\"1.23456789012345"]`: `["1.23456789012345", "a\"1.23456789012345"]`,
		`[0.1,1e+21,null,true]`:                       `[0.1,1e+21,null,true]`,
	} {
		if got := string(rounded([]byte(give))); got != want {
			t.Errorf("%s: want %s, got %s", give, want, got)
		}
	}
}

// TestRoundedClose: a document is as long in entries as before, its numbers are close, and rounding again changes nothing.
func TestRoundedClose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOf(rapid.Float64()).Draw(t, "numbers")
		s := rapid.String().Draw(t, "text")
		data, err := json.Marshal(map[string]any{"numbers": xs, "text": s})
		if err != nil {
			t.Fatal(err)
		}
		once := rounded(data)
		var back struct {
			Numbers []float64
			Text    string
		}
		var same struct{ Text string }
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if err := json.Unmarshal(data, &same); err != nil || same.Text != back.Text || len(back.Numbers) != len(xs) {
			t.Fatalf("%s became %s", data, once)
		}
		for i, x := range xs {
			if math.Abs(back.Numbers[i]-x) > 1e-9*math.Abs(x) {
				t.Errorf("%g became %g", x, back.Numbers[i])
			}
		}
		if !bytes.Equal(rounded(once), once) {
			t.Errorf("%s, rounded again %s", once, rounded(once))
		}
	})
}
