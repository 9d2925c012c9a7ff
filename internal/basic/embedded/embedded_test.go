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
