package embedded_test

import (
	"testing"
	"testing/fstest"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

// The hashes are those of the shell's sha256sum.
func TestHash(t *testing.T) {
	f := embedded.Files{"c": []byte("one\n")}.With(fstest.MapFS{"d/b": {Data: []byte("two\n")}, "d/a": {Data: []byte("one\n")}})
	for name, want := range map[string]string{
		"c":   "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806",
		"d/a": "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806",
		"d":   "73d931e3531f13247bbc3a0108fcd0c0ef480260a5e75980db7fa6e0bc531ac4",
	} {
		if got, ok := f.Hash(name); !ok || got != want {
			t.Errorf("%s: want %s, got %s, %v", name, want, got, ok)
		}
	}
	if _, ok := f.Hash("nothing"); ok {
		t.Error("a file that is not there has a hash")
	}
}

// TestAlone: a file has one document, in which all keys are known.
func TestAlone(t *testing.T) {
	type one struct{ A int }
	for data, good := range map[string]bool{"a: 1\n": true, "a: 1\n---\na: 2\n": false, "a: 1\n--- [\n": false, "b: 1\n": false} {
		if got, err := embedded.YAML[one]([]byte(data)); (err == nil) != good || good && got.A != 1 {
			t.Errorf("YAML %q: %v, %v", data, got, err)
		}
	}
	for data, good := range map[string]bool{`{"a": 1}`: true, `{"a": 1} {"a": 2}`: false, `{"a": 1} ]`: false, `{"b": 1}`: false} {
		if got, err := embedded.JSON[one]([]byte(data)); (err == nil) != good || good && got.A != 1 {
			t.Errorf("JSON %q: %v, %v", data, got, err)
		}
	}
}
