package calibrated_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
)

// TestShippedConstants: every constant is in its bounds, and none is missing.
func TestShippedConstants(t *testing.T) {
	for generation, c := range calibrated.Shipped() {
		seen := map[*float64]bool{}
		for _, f := range c.Forms() {
			for _, p := range f.Parameters {
				if *p.Value < p.Low || *p.Value > p.High {
					t.Errorf("%s %s %s: %g is not within %g and %g", generation, f.Name, p.Name, *p.Value, p.Low, p.High)
				}
				if seen[p.Value] {
					t.Errorf("%s %s %s stands in two forms", generation, f.Name, p.Name)
				}
				seen[p.Value] = true
			}
		}
		for name, v := range map[string]float64{
			"apart": c.Comm.Apart, "elementwise launch": c.Elementwise.Launch, "elementwise memory": c.Elementwise.Memory,
		} {
			if v <= 0 {
				t.Errorf("%s: no %s", generation, name)
			}
		}
	}
}

// TestOneGeneration: read alone, a generation has the constants it has in the whole file.
func TestOneGeneration(t *testing.T) {
	for generation, want := range calibrated.Shipped() {
		got, ok := calibrated.Nearest(generation)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s (-whole +alone):\n%s", generation, diff)
		}
	}
	if _, ok := calibrated.Nearest("abacus"); ok {
		t.Error("an unknown generation has constants")
	}
}

// TestWrite: what is written is what is read, to three digits.
func TestWrite(t *testing.T) {
	want := calibrated.Shipped()
	var b bytes.Buffer
	if err := calibrated.Write(&b, "Two\nlines.", want); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "# Two\n# lines.\n\n") {
		t.Errorf("the comment is lost: %.40s", b.String())
	}
	var got map[string]calibrated.Constants
	d := yaml.NewDecoder(&b)
	d.KnownFields(true)
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d generations of %d", len(got), len(want))
	}
	for g, c := range want {
		other := got[g]
		same(t, g, reflect.ValueOf(c), reflect.ValueOf(other))
	}
}

// same compares numbers that three digits tell apart.
func same(t *testing.T, at string, a, b reflect.Value) {
	t.Helper()
	if a.Kind() == reflect.Float64 {
		if x, y := a.Float(), b.Float(); math.Abs(x-y) > 5e-3*math.Abs(x) {
			t.Errorf("%s: want %g, got %g", at, x, y)
		}
		return
	}
	for f, v := range a.Fields() {
		same(t, at+" "+f.Name, v, b.FieldByName(f.Name))
	}
}
