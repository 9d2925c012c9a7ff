package zstd

import (
	"encoding/binary"
	"math/bits"
)

// forward reads bits from the lowest of the first byte on.
type forward struct {
	src []byte
	at  int // bits read
}

// peek returns the next n bits, zeros beyond the end.
func (f *forward) peek(n int) int { return int(word(f.src, f.at>>3) >> (f.at & 7) & (1<<n - 1)) }

// bytes returns how many bytes are begun, and whether there are so many.
func (f *forward) bytes() (n int, ok bool) {
	n = (f.at + 7) / 8
	return n, n <= len(f.src)
}

// word returns the eight bytes from i on as a number, zeros beyond the end.
func word(src []byte, i int) uint64 {
	if i+8 <= len(src) {
		return binary.LittleEndian.Uint64(src[i:])
	}
	var w uint64
	for k := i; k < len(src); k++ {
		w |= uint64(src[k]) << (8 * (k - i))
	}
	return w
}

// backward reads bits from the end of a stream, below the highest bit set in its last byte.
type backward struct {
	src  []byte
	left int // bits not yet read; below zero once too many were asked for
}

func newBackward(src []byte) (backward, error) {
	if len(src) == 0 || src[len(src)-1] == 0 {
		return backward{}, errDamaged
	}
	return backward{src, 8*len(src) - 9 + bits.Len8(src[len(src)-1])}, nil
}

// peek returns the next n bits, at most 32; what is missing at the start of the stream is zero.
func (b *backward) peek(n int) int {
	from := b.left - n
	if from >= 0 {
		return int(word(b.src, from>>3) >> (from & 7) & (1<<n - 1))
	}
	if b.left <= 0 {
		return 0
	}
	return int(word(b.src, 0)&(1<<b.left-1)) << -from
}

// read returns the next n bits and passes over them.
func (b *backward) read(n int) int {
	v := b.peek(n)
	b.left -= n
	return v
}
