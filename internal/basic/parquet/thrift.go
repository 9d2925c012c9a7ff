package parquet

import (
	"encoding/binary"
	"errors"
)

// errDamaged is data that cannot be what it should be.
var errDamaged = errors.New("damaged")

// Kinds of values in Thrift's compact protocol.
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

// thrift reads values of Thrift's compact protocol. After the first one that cannot be, it gives zeros and keeps the error.
type thrift struct {
	rest  []byte
	depth int
	err   error
}

// fail notes that the data is damaged and leaves nothing to read.
func (t *thrift) fail() { t.rest, t.err = nil, errDamaged }

// take passes over n bytes and returns them.
func (t *thrift) take(n uint64) []byte {
	if n > uint64(len(t.rest)) {
		t.fail()
		return nil
	}
	out := t.rest[:n]
	t.rest = t.rest[n:]
	return out
}

// one reads a byte.
func (t *thrift) one() byte {
	if b := t.take(1); b != nil {
		return b[0]
	}
	return 0
}

// length reads a variable-length number.
func (t *thrift) length() uint64 {
	v, n := binary.Uvarint(t.rest)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.rest = t.rest[n:]
	return v
}

// integer reads a number of any width.
func (t *thrift) integer() int64 {
	v := t.length()
	return int64(v>>1) ^ -int64(v&1)
}

// text reads a string.
func (t *thrift) text() string { return string(t.take(t.length())) }

// fields calls visit with the number and kind of each field of a struct; visit reads the field and says so, or leaves it.
func (t *thrift) fields(visit func(id int, kind byte) (read bool)) {
	if t.depth++; t.depth > deepest {
		t.fail()
		return
	}
	defer func() { t.depth-- }()
	id := 0
	for t.err == nil {
		head := t.one()
		if head&15 == thriftStop {
			return
		}
		if head>>4 == 0 { // the field's number follows
			id = int(t.integer())
		} else {
			id += int(head >> 4)
		}
		if kind := head & 15; !visit(id, kind) {
			t.skip(kind, true)
		}
	}
}

// list calls visit for each member of a list, of which each has a byte at least.
func (t *thrift) list(visit func(kind byte)) {
	head := t.one()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.length()
	}
	if n > uint64(len(t.rest)) {
		t.fail()
		return
	}
	for ; n > 0 && t.err == nil; n-- {
		visit(head & 15)
	}
}

// skip passes over a value; booleans have a byte only as members of a list.
func (t *thrift) skip(kind byte, field bool) {
	switch kind {
	case thriftTrue, thriftFalse:
		if !field {
			t.one()
		}
	case thriftByte:
		t.one()
	case thriftI16, thriftI32, thriftI64:
		t.length()
	case thriftDouble:
		t.take(8)
	case thriftBinary:
		t.take(t.length())
	case thriftStruct:
		t.fields(func(int, byte) bool { return false })
	case thriftList, thriftSet, thriftMap:
		t.nested(kind)
	default:
		t.fail()
	}
}

// nested passes over a list or a map.
func (t *thrift) nested(kind byte) {
	if t.depth++; t.depth > deepest {
		t.fail()
		return
	}
	defer func() { t.depth-- }()
	if kind != thriftMap {
		t.list(func(member byte) { t.skip(member, false) })
		return
	}
	n := t.length()
	if n == 0 {
		return
	}
	kinds := t.one()
	if n > uint64(len(t.rest)) {
		t.fail()
	}
	for ; n > 0 && t.err == nil; n-- {
		t.skip(kinds>>4, false)
		t.skip(kinds&15, false)
	}
}
