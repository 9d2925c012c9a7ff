package perfdata

import (
	"encoding/binary"
	"errors"
)

// errFooter is a footer that cannot be one.
var errFooter = errors.New("damaged footer")

// checkFooter walks the footer of a Parquet file, a struct in Thrift's compact
// protocol, and refuses lengths that reach beyond it. The library takes such a
// length at its word and asks for the memory, and running out of that is no
// error a program survives.
func checkFooter(data []byte) error {
	const tail = 8 // the footer's length and the magic number
	if len(data) < tail {
		return errFooter
	}
	body := data[:len(data)-tail]
	n := binary.LittleEndian.Uint32(data[len(data)-tail:])
	if uint64(n) > uint64(len(body)) {
		return errFooter
	}
	w := walker{rest: body[len(body)-int(n):]}
	return w.skip(thriftStruct, 0)
}

// Types of Thrift's compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// deepest is the nesting a footer is allowed; Parquet's own has about six.
const deepest = 32

// walker reads a Thrift value without keeping it.
type walker struct{ rest []byte }

// take passes over n bytes.
func (w *walker) take(n uint64) error {
	if n > uint64(len(w.rest)) {
		return errFooter
	}
	w.rest = w.rest[n:]
	return nil
}

// one reads a byte.
func (w *walker) one() (byte, error) {
	if len(w.rest) == 0 {
		return 0, errFooter
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b, nil
}

// length reads a variable-length number.
func (w *walker) length() (uint64, error) {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return 0, errFooter
	}
	w.rest = w.rest[n:]
	return v, nil
}

// skip passes over a value.
func (w *walker) skip(kind byte, depth int) error {
	if depth > deepest {
		return errFooter
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte: // as members of a list; as fields booleans have no bytes
		return w.take(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := w.length()
		return err
	case thriftDouble:
		return w.take(8)
	case thriftBinary:
		n, err := w.length()
		return errors.Join(err, w.take(n))
	case thriftList, thriftSet:
		return w.list(depth)
	case thriftMap:
		return w.pairs(depth)
	case thriftStruct:
		return w.fields(depth)
	}
	return errFooter
}

// list passes over a list: its length and the kind of its members, then those.
func (w *walker) list(depth int) error {
	head, err := w.one()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.length(); err != nil {
			return err
		}
	}
	return w.members(n, depth, head&15)
}

// pairs passes over a map.
func (w *walker) pairs(depth int) error {
	n, err := w.length()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.one()
	if err != nil {
		return err
	}
	return w.members(n, depth, kinds>>4, kinds&15)
}

// members passes over n times the kinds. Each has a byte at least.
func (w *walker) members(n uint64, depth int, kinds ...byte) error {
	if n > uint64(len(w.rest)) {
		return errFooter
	}
	for range n {
		for _, k := range kinds {
			if err := w.skip(k, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// fields passes over a struct.
func (w *walker) fields(depth int) error {
	for {
		head, err := w.one()
		if err != nil || head == thriftStop {
			return err
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := w.length(); err != nil {
				return err
			}
		}
		switch kind := head & 15; kind {
		case thriftTrue, thriftFalse:
		default:
			if err := w.skip(kind, depth+1); err != nil {
				return err
			}
		}
	}
}
