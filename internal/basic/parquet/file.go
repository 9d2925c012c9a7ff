package parquet

import (
	"encoding/binary"
	"fmt"
)

// maxRows and rowsPerByte bound what a table may hold, so that a damaged file cannot ask for all memory. Rows of kernel tables
// have three bytes and more after compression.
const (
	maxRows     = 1 << 24
	rowsPerByte = 64
)

// File is a table.
type File struct {
	Rows   int
	Groups []Group

	data    []byte
	columns []column // those at the top, by name
	leaves  int
}

// Group is rows that are stored together.
type Group struct {
	Rows   int
	file   *File
	chunks []chunk
}

// column is one of the table's columns.
type column struct {
	name     string
	leaf     int // which of all stored columns
	kind     int
	length   int // of a value, where it is fixed
	optional bool
	repeated bool
}

// chunk is where the values of a column in a group are.
type chunk struct {
	codec  int
	values int
	start  int64 // in the file
	size   int64
}

// Open reads a file's footer.
func Open(data []byte) (*File, error) {
	const magic, tail = "PAR1", 8
	if len(data) < tail || string(data[len(data)-4:]) != magic {
		return nil, fmt.Errorf("not a Parquet file: %w footer", errDamaged)
	}
	body := data[:len(data)-tail]
	n := binary.LittleEndian.Uint32(data[len(data)-tail:])
	if uint64(n) > uint64(len(body)) {
		return nil, fmt.Errorf("not a Parquet file: %w footer", errDamaged)
	}
	f := &File{data: body}
	t := thrift{rest: body[len(body)-int(n):]}
	rows := int64(0)
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			f.schema(&t)
		case id == 3 && kind == thriftI64:
			rows = t.integer()
		case id == 4 && kind == thriftList:
			t.list(func(byte) { f.Groups = append(f.Groups, readGroup(&t)) })
		default:
			return false
		}
		return true
	})
	if t.err != nil {
		return nil, fmt.Errorf("not a Parquet file: %w footer", t.err)
	}
	if rows < 0 || rows > min(maxRows, rowsPerByte*int64(len(data))) {
		return nil, fmt.Errorf("%d rows in %d bytes", rows, len(data))
	}
	f.Rows = int(rows)
	return f, f.check()
}

// check holds the groups against the schema.
func (f *File) check() error {
	left := f.Rows
	for i := range f.Groups {
		g := &f.Groups[i]
		g.file = f
		if g.Rows < 0 || g.Rows > left {
			return fmt.Errorf("groups of more than %d rows", f.Rows)
		}
		left -= g.Rows
		if len(g.chunks) != f.leaves {
			return fmt.Errorf("a group has %d columns, the table %d", len(g.chunks), f.leaves)
		}
	}
	if left > 0 {
		return fmt.Errorf("%d of %d rows are in no group", left, f.Rows)
	}
	return nil
}

// schema reads the tree of columns, which is stored as a list from the root down; only the root's own children are kept.
func (f *File) schema(t *thrift) {
	var open []int // children still to come, by depth
	t.list(func(byte) {
		c, children := readElement(t)
		depth := len(open)
		if depth > 0 {
			open[depth-1]--
		}
		switch {
		case depth == 0 || children > 0:
			open = append(open, children)
		case depth == 1:
			c.leaf = f.leaves
			f.columns = append(f.columns, c)
			f.leaves++
		default:
			f.leaves++
		}
		for n := len(open); n > 0 && open[n-1] <= 0; n-- {
			open = open[:n-1]
		}
	})
}

// readElement reads a node of the schema and how many children it has.
func readElement(t *thrift) (c column, children int) {
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			c.kind = int(t.integer())
		case id == 2 && kind == thriftI32:
			c.length = int(t.integer())
		case id == 3 && kind == thriftI32:
			repetition := t.integer()
			c.optional, c.repeated = repetition == 1, repetition == 2
		case id == 4 && kind == thriftBinary:
			c.name = t.text()
		case id == 5 && kind == thriftI32:
			children = int(max(t.integer(), 0))
		default:
			return false
		}
		return true
	})
	return c, children
}

func readGroup(t *thrift) (g Group) {
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			t.list(func(byte) {
				var c chunk
				t.fields(func(id int, kind byte) bool {
					if id != 3 || kind != thriftStruct {
						return false
					}
					c = readChunk(t)
					return true
				})
				g.chunks = append(g.chunks, c)
			})
		case id == 3 && kind == thriftI64:
			g.Rows = int(min(t.integer(), maxRows+1))
		default:
			return false
		}
		return true
	})
	return g
}

// readChunk reads where a column's values are. The dictionary, if there is one, comes before the first page of data.
func readChunk(t *thrift) (c chunk) {
	dictionary := int64(0)
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 4 && kind == thriftI32:
			c.codec = int(t.integer())
		case id == 5 && kind == thriftI64:
			c.values = int(t.integer())
		case id == 7 && kind == thriftI64:
			c.size = t.integer()
		case id == 9 && kind == thriftI64:
			c.start = t.integer()
		case id == 11 && kind == thriftI64:
			dictionary = t.integer()
		default:
			return false
		}
		return true
	})
	if dictionary > 0 && dictionary < c.start {
		c.start = dictionary
	}
	return c
}

// Has says whether there is a column of a name.
func (f *File) Has(name string) bool { return f.find(name) != nil }

func (f *File) find(name string) *column {
	for i := range f.columns {
		if f.columns[i].name == name {
			return &f.columns[i]
		}
	}
	return nil
}
