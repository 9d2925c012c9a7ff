package units

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// quantities have every unit that JSON has.
type quantities struct {
	A InMs
	B *InMs
	C InGiB
	D InKiB
	E *float64
	F *int
}

// TestWire: what was written, read and written again has the same bytes; what is not known is null.
func TestWire(t *testing.T) {
	t.Parallel()
	zero, err := json.Marshal(quantities{})
	if want := `{"A":0,"B":null,"C":0,"D":0,"E":null,"F":null}`; err != nil || string(zero) != want {
		t.Errorf("want %s, got %s (%v)", want, zero, err)
	}
	some, err := json.Marshal(quantities{2, Known(InMs(3)), InGiB(GiB), InKiB(KiB), Known(4.0), Known(5)})
	if want := `{"A":2000,"B":3000,"C":1,"D":1,"E":4,"F":5}`; err != nil || string(some) != want {
		t.Errorf("want %s, got %s (%v)", want, some, err)
	}
	for _, large := range []string{`{"C":1e305}`, `{"D":-1e306}`} {
		if err := json.Unmarshal([]byte(large), &quantities{}); err == nil {
			t.Errorf("%s was read", large)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 1e9)
		q := quantities{
			InMs(x.Draw(t, "a")), Known(InMs(x.Draw(t, "b"))), InGiB(x.Draw(t, "c")), InKiB(x.Draw(t, "d")), Known(x.Draw(t, "e")), Known(rapid.IntRange(0, 9).Draw(t, "f")),
		}
		first, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		var back quantities
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatal(err)
		}
		if second, err := json.Marshal(back); err != nil || string(second) != string(first) {
			t.Fatalf("%s became %s (%v)", first, second, err)
		}
	})
}
