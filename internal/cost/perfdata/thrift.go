//go:build !js

package perfdata

import (
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// What describes a file is small: the footers of AIConfigurator's tables have up to 15 KB, the headers of pages less than 100
// bytes. The bounds also limit how deep structs can be in others, at a byte and some 500 bytes of the stack each.
const (
	mostFooter = 256 << 10
	mostHeader = 64 << 10
)

// describe reads what a file says of itself, and returns its length. The library takes memory for as many elements of a list
// as the file states, so that it reads the same bytes only after this: no list can have more elements than there are bytes.
func describe(data []byte, into any) (length int, err error) {
	r := sized{new(thrift.CompactProtocol).NewReaderFromBytes(data), len(data)}
	err = thrift.NewDecoder(r).Decode(into)
	return r.BytesRead(), err
}

// sized reads from bytes, and refuses lengths of more than are left.
type sized struct {
	wire

	bytes int
}

// wire is a reader under a name that its own method Reader leaves free.
type wire = thrift.Reader

func (s sized) fits(n int, err error) error {
	if left := s.bytes - s.BytesRead(); err == nil && (n < 0 || n > left) {
		return fmt.Errorf("%w: %d elements in %d bytes", errDamaged, n, left)
	}
	return err
}

// ReadLength reads the length of a text.
func (s sized) ReadLength() (int, error) {
	n, err := s.wire.ReadLength()
	return n, s.fits(n, err)
}

// ReadList reads the head of a list.
func (s sized) ReadList() (thrift.List, error) {
	l, err := s.wire.ReadList()
	return l, s.fits(int(l.Size), err)
}

// ReadSet reads the head of a set.
func (s sized) ReadSet() (thrift.Set, error) {
	l, err := s.wire.ReadSet()
	return l, s.fits(int(l.Size), err)
}

// ReadMap reads the head of a map.
func (s sized) ReadMap() (thrift.Map, error) {
	m, err := s.wire.ReadMap()
	return m, s.fits(int(m.Size), err)
}
