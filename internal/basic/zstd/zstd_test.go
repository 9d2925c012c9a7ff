package zstd

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	reference "github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// compress is what another implementation makes of some content.
func compress(t interface{ Fatal(...any) }, content []byte, level reference.EncoderLevel, checksum bool) []byte {
	w, err := reference.NewWriter(nil, reference.WithEncoderLevel(level), reference.WithEncoderCRC(checksum), reference.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // it writes to no file
	return w.EncodeAll(content, nil)
}

func levels() []reference.EncoderLevel {
	return []reference.EncoderLevel{
		reference.SpeedFastest, reference.SpeedDefault, reference.SpeedBetterCompression, reference.SpeedBestCompression,
	}
}

// content is bytes with something to compress: few symbols or many, pieces of what came before, long runs.
func content(t *rapid.T) []byte {
	var out []byte
	for range rapid.IntRange(0, 12).Draw(t, "pieces") {
		n := rapid.SampledFrom([]int{1, 3, 17, 300, 5000, 70000}).Draw(t, "length")
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			out = append(out, bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, n)...)
		case 1: // a word again and again
			word := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "word")
			out = append(out, bytes.Repeat(word, n/len(word)+1)...)
		case 2: // text of a few letters, some of them rare
			seed, spread := rapid.Uint32().Draw(t, "seed"), rapid.Uint32Range(1, 256).Draw(t, "letters")
			for range n {
				seed = seed*1664525 + 1013904223
				out = append(out, byte((seed>>24)*(seed>>16&0xff)>>8%spread))
			}
		case 3: // noise
			seed := rapid.Uint32().Draw(t, "seed")
			for range n {
				seed = seed*1664525 + 1013904223
				out = append(out, byte(seed>>24))
			}
		default: // something from before
			if len(out) > 0 {
				from := rapid.IntRange(0, len(out)-1).Draw(t, "from")
				out = append(out, out[from:min(len(out), from+n)]...)
			}
		}
	}
	return out
}

// What another implementation compresses, at any level, comes out as it went in.
func TestContentComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := content(t)
		level := rapid.SampledFrom(levels()).Draw(t, "level")
		packed := compress(t, want, level, rapid.Bool().Draw(t, "checksum"))
		got, err := Decode(packed, len(want))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%d bytes at %s: other content", len(want), level)
		}
		if _, err := Decode(packed, len(want)-1); len(want) > 0 && !errors.Is(err, errTooLong) {
			t.Errorf("one byte more than allowed: want %v, got %v", errTooLong, err)
		}
	})
}

func TestFramesOneAfterAnother(t *testing.T) {
	one := compress(t, []byte("one, one, one, one, one, one "), reference.SpeedDefault, true)
	skipped := []byte{0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'}
	two := compress(t, []byte("two"), reference.SpeedDefault, false)
	got, err := Decode(bytes.Join([][]byte{one, skipped, two}, nil), 1000)
	if want := "one, one, one, one, one, one two"; err != nil || string(got) != want {
		t.Errorf("want %q, got %q, %v", want, got, err)
	}
}

func TestRefusals(t *testing.T) {
	packed := compress(t, []byte(strings.Repeat("ships at their moorings ", 500)), reference.SpeedBestCompression, false)
	for n := range len(packed) {
		if _, err := Decode(packed[:n], 1<<20); err == nil && n > 0 {
			t.Errorf("%d of %d bytes are accepted", n, len(packed))
		}
	}
	withDictionary := bytes.Clone(packed)
	withDictionary[4] |= 1
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"no frame":                        {[]byte("something else"), errDamaged},
		"a dictionary":                    {withDictionary, errDictionary},
		"a skipped frame that is cut off": {[]byte{0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1}, errDamaged},
	} {
		if _, err := Decode(c.data, 1<<20); !errors.Is(err, c.want) {
			t.Errorf("%s: want %v, got %v", name, c.want, err)
		}
	}
}

// Whatever the bytes, there is an answer, and where two implementations give content it is the same.
func FuzzDecode(f *testing.F) {
	for _, level := range levels() {
		f.Add(compress(f, bytes.Repeat([]byte("abcabcabd, "), 40), level, false))
	}
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x0a, 0x51, 0, 0, 6, 0, 0, 0, 'T', 'R', 'T', 'L', 'L', 'M'})
	r, err := reference.NewReader(nil, reference.WithDecoderConcurrency(1), reference.WithDecoderMaxMemory(1<<20), reference.IgnoreChecksum(true))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Decode(data, 1<<20)
		want, other := r.DecodeAll(data, nil)
		if err == nil && other == nil && !bytes.Equal(want, got) {
			t.Errorf("%d bytes, another implementation has %d others", len(got), len(want))
		}
		if other == nil && err != nil && !errors.Is(err, errTooLong) {
			t.Errorf("%v, another implementation has %d bytes", err, len(want))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var text []byte
	for i := range 100000 {
		text = append(text, byte(i), byte(i*i>>7), byte(i>>8), 0)
	}
	packed := compress(b, text, reference.SpeedDefault, false)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Decode(packed, len(text)); err != nil {
			b.Fatal(err)
		}
	}
}
