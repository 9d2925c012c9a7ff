package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/zstd"
)

// maxPage bounds the size of a page; writers make them of a megabyte or so.
const maxPage = 1 << 28

// Kinds of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

// page is the header of a page: how large it is, and what its kind says about it.
type page struct {
	kind         int
	size, stored int64 // before and after compression
	values       int
	encoding     int
	levels       int64 // of the second version: bytes of definition levels, which are not compressed
	repetition   int64
	packed       bool
}

func readPage(t *thrift) page {
	p := page{packed: true}
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			p.kind = int(t.integer())
		case id == 2 && kind == thriftI32:
			p.size = t.integer()
		case id == 3 && kind == thriftI32:
			p.stored = t.integer()
		case (id == 5 || id == 7) && kind == thriftStruct:
			p.first(t)
		case id == 8 && kind == thriftStruct:
			p.second(t)
		default:
			return false
		}
		return true
	})
	return p
}

// first reads what a dictionary and the first version of data have.
func (p *page) first(t *thrift) {
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			p.values = int(t.integer())
		case id == 2 && kind == thriftI32:
			p.encoding = int(t.integer())
		default:
			return false
		}
		return true
	})
}

// second reads what the second version of data has.
func (p *page) second(t *thrift) {
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			p.values = int(t.integer())
		case id == 4 && kind == thriftI32:
			p.encoding = int(t.integer())
		case id == 5 && kind == thriftI32:
			p.levels = t.integer()
		case id == 6 && kind == thriftI32:
			p.repetition = t.integer()
		case id == 7:
			p.packed = kind == thriftTrue // the kind is the value, and nothing follows
			return kind == thriftTrue || kind == thriftFalse
		default:
			return false
		}
		return true
	})
}

// Compression codecs.
const (
	uncompressed = 0
	snappy       = 1
	gzipped      = 2
	zstandard    = 6
)

// expand undoes a codec; size is the length the content must have.
func expand(codec int, data []byte, size int64) (out []byte, err error) {
	if size < 0 || size > maxPage {
		return nil, fmt.Errorf("a page of %d bytes", size)
	}
	if size == 0 {
		return nil, nil // a page without values may have no bytes to undo a codec of
	}
	switch codec {
	case uncompressed:
		out = data
	case snappy:
		out, err = unsnap(data, int(size))
	case gzipped:
		out, err = gunzip(data, size)
	case zstandard:
		out, err = zstd.Decode(data, int(size))
	default:
		names := []string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4"}
		name := fmt.Sprintf("codec %d", codec)
		if codec > 0 && codec < len(names) {
			name = names[codec]
		}
		return nil, fmt.Errorf("compressed with %s; write it with Snappy, gzip, Zstandard or without compression", name)
	}
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("a page of %d bytes instead of %d: %w", len(out), size, errDamaged)
	}
	return out, err
}

func gunzip(data []byte, size int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, size+1))
	return out, errors.Join(err, r.Close())
}
