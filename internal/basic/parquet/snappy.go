package parquet

import (
	"encoding/binary"
	"errors"
)

var errSnappy = errors.New("damaged Snappy data")

// unsnap undoes Snappy's compression (its raw format, as in google/snappy's format_description.txt): the content's length, then
// literals and copies of what came before. size is what the length must be.
func unsnap(src []byte, size int) ([]byte, error) {
	n, used := binary.Uvarint(src)
	if used <= 0 || n != uint64(size) {
		return nil, errSnappy
	}
	src = src[used:]
	out := make([]byte, 0, min(size, 64*len(src)+64)) // a copy makes at most 64 bytes of two
	for len(src) > 0 {
		length, back, used := snappyTag(src)
		if used > len(src) || length > size-len(out) {
			return nil, errSnappy
		}
		src = src[used:]
		if back == 0 {
			if length > len(src) {
				return nil, errSnappy
			}
			out, src = append(out, src[:length]...), src[length:]
			continue
		}
		at := len(out) - back
		if at < 0 {
			return nil, errSnappy
		}
		for i := range length { // the copy may read what it has just written
			out = append(out, out[at+i])
		}
	}
	if len(out) != size {
		return nil, errSnappy
	}
	return out, nil
}

// snappyTag reads an element's first bytes: how much it gives, from how far back, 0 for a literal, and how many bytes that took.
// used is beyond the end of src if there are too few; a copy from nowhere is one too.
func snappyTag(src []byte) (length, back, used int) {
	tag := int(src[0])
	number := func(n int) int {
		if len(src) < 1+n {
			return 0
		}
		v := 0
		for i := range n {
			v |= int(src[1+i]) << (8 * i)
		}
		return v
	}
	switch tag & 3 {
	case 0:
		if length = tag >> 2; length < 60 {
			return length + 1, 0, 1
		}
		n := length - 59
		return number(n) + 1, 0, 1 + n
	case 1:
		length, back, used = 4+tag>>2&7, tag>>5<<8|number(1), 2
	case 2:
		length, back, used = 1+tag>>2, number(2), 3
	default:
		length, back, used = 1+tag>>2, number(4), 5
	}
	if back == 0 {
		return 0, 0, len(src) + 1
	}
	return length, back, used
}
