package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Physical types of values.
const (
	boolean        = 0
	int32s         = 1
	int64s         = 2
	int96          = 3
	float32s       = 4
	float64s       = 5
	byteArray      = 6
	fixedByteArray = 7
)

// Encodings of values.
const (
	plain           = 0
	plainDictionary = 2
	runLength       = 3
	deltaPacked     = 5
	deltaLengths    = 6
	deltaTexts      = 7
	dictionary      = 8
	byteStreams     = 9
)

// Column is the values of a column in a group. What is neither text nor number (booleans, 96-bit times) is not a number.
type Column struct {
	texts   []string // the values, texts or numbers; the first stands for rows that have none
	numbers []float64
	at      []uint32 // of each row
}

// Text returns a row's text, "" where there is none.
func (c *Column) Text(row int) string {
	if c.texts == nil {
		return ""
	}
	return c.texts[c.at[row]]
}

// Number returns a row's number: 0 where there is none, not a number for a text.
func (c *Column) Number(row int) float64 {
	if c.numbers == nil {
		return math.NaN()
	}
	return c.numbers[c.at[row]]
}

// ErrNoColumn is a column that is not there.
var ErrNoColumn = errors.New("no such column")

// Column reads a column by name.
func (g *Group) Column(name string) (*Column, error) {
	c := g.file.find(name)
	if c == nil {
		return nil, fmt.Errorf("column %q: %w", name, ErrNoColumn)
	}
	r := reader{column: c, rows: g.Rows}
	r.out.at = make([]uint32, 0, g.Rows)
	if r.text() {
		r.out.texts = []string{""}
	} else {
		r.out.numbers = []float64{0}
	}
	if err := r.chunk(g.file.data, &g.chunks[c.leaf]); err != nil {
		return nil, fmt.Errorf("column %q: %w", name, err)
	}
	return &r.out, nil
}

// reader collects the values of a column from its pages.
type reader struct {
	*column
	rows         int
	out          Column
	first, words uint32   // the dictionary's place among the values, and its size
	levels       []uint32 // of a page: 1 for a row that has a value
	places       []uint32 // of a page's values
}

// known is the number of values so far.
func (r *reader) known() uint32 { return uint32(max(len(r.out.texts), len(r.out.numbers))) }

// text says whether values are bytes.
func (c *column) text() bool { return c.kind == byteArray || c.kind == fixedByteArray }

// chunk reads pages until every row has its value.
func (r *reader) chunk(data []byte, c *chunk) error {
	if r.repeated {
		return errors.New("lists of values are not read")
	}
	if c.start < 0 || c.size < 0 || c.start > int64(len(data)) || c.size > int64(len(data))-c.start {
		return fmt.Errorf("its place in the file: %w", errDamaged)
	}
	rest := data[c.start : c.start+c.size]
	for len(r.out.at) < r.rows && len(rest) > 0 {
		t := thrift{rest: rest}
		p := readPage(&t)
		body := t.take(uint64(p.stored)) // a size below zero is more than there is
		if t.err != nil {
			return fmt.Errorf("a page: %w", t.err)
		}
		rest = t.rest
		if err := r.page(&p, body, c.codec); err != nil {
			return err
		}
	}
	if n := len(r.out.at); n != r.rows || c.values != r.rows {
		return fmt.Errorf("%d values for %d rows", n, r.rows)
	}
	return nil
}

// page reads a page: a dictionary, or values.
func (r *reader) page(p *page, body []byte, codec int) error {
	if p.values < 0 || p.values > maxRows {
		return fmt.Errorf("a page of %d values", p.values)
	}
	switch p.kind {
	case dictionaryPage:
		body, err := expand(codec, body, p.size)
		if err != nil {
			return err
		}
		r.first = r.known()
		err = r.plain(body, p.values)
		r.words = r.known() - r.first
		return err
	case dataPage, dataPageV2:
		return r.data(p, body, codec)
	}
	return nil // an index
}

// data reads a page of values: first which rows have one, then those.
func (r *reader) data(p *page, body []byte, codec int) error {
	if p.values > r.rows-len(r.out.at) {
		return errors.New("more values than rows")
	}
	var levels []byte
	if p.kind == dataPageV2 {
		if p.levels < 0 || p.repetition < 0 || p.levels+p.repetition > int64(len(body)) {
			return errDamaged
		}
		levels = body[p.repetition : p.repetition+p.levels]
		body = body[p.repetition+p.levels:]
		p.size -= p.repetition + p.levels
		if !p.packed {
			codec = uncompressed
		}
	}
	body, err := expand(codec, body, p.size)
	if err != nil {
		return err
	}
	if p.kind == dataPage && r.optional {
		if levels, body, err = prefixed(body); err != nil {
			return err
		}
	}
	present := p.values
	if r.optional {
		if r.levels, err = runs(r.levels[:0], levels, 1, p.values); err != nil {
			return err
		}
		present = 0
		for _, level := range r.levels {
			present += int(level)
		}
	}
	if err := r.values(p.encoding, body, present); err != nil {
		return err
	}
	r.spread()
	return nil
}

// prefixed cuts off a part that its length comes before.
func prefixed(body []byte) (part, rest []byte, err error) {
	if len(body) < 4 {
		return nil, nil, errDamaged
	}
	n := uint64(binary.LittleEndian.Uint32(body))
	if n > uint64(len(body)-4) {
		return nil, nil, errDamaged
	}
	return body[4 : 4+n], body[4+n:], nil
}

// spread gives rows their values, and those without one the value that stands for none.
func (r *reader) spread() {
	if !r.optional {
		r.out.at = append(r.out.at, r.places...)
		return
	}
	next := 0
	for _, level := range r.levels {
		if level == 0 {
			r.out.at = append(r.out.at, 0)
			continue
		}
		r.out.at = append(r.out.at, r.places[next])
		next++
	}
}

// values reads n values in an encoding and says in places where they are.
func (r *reader) values(encoding int, body []byte, n int) error {
	if encoding == plainDictionary || encoding == dictionary {
		return r.indexed(body, n)
	}
	first := r.known()
	var err error
	switch {
	case encoding == plain:
		err = r.plain(body, n)
	case encoding == runLength && r.kind == boolean:
		r.nothing(n)
	default:
		err = r.unusual(encoding, body, n)
	}
	if err == nil && r.known()-first != uint32(n) {
		err = errDamaged
	}
	r.places = r.places[:0]
	for i := range uint32(n) {
		r.places = append(r.places, first+i)
	}
	return err
}

// unusual reads n values in an encoding that has to be asked for when a file is written.
func (r *reader) unusual(encoding int, body []byte, n int) (err error) {
	var texts []string
	switch {
	case encoding == deltaPacked && (r.kind == int32s || r.kind == int64s):
		values, _, err := deltas(body, n)
		for _, v := range values {
			if r.kind == int32s {
				v = int64(int32(v)) // sums wrap
			}
			r.out.numbers = append(r.out.numbers, float64(v))
		}
		return err
	case encoding == deltaLengths && r.text():
		texts, err = lengthsFirst(body, n)
	case encoding == deltaTexts && r.text():
		texts, err = prefixesFirst(body, n)
	case encoding == byteStreams:
		if body, err = gather(body, r.size(), n); err == nil {
			err = r.plain(body, n)
		}
	default:
		err = fmt.Errorf("values of type %d in encoding %d are not read", r.kind, encoding)
	}
	r.out.texts = append(r.out.texts, texts...)
	return err
}

// indexed reads n places in the dictionary.
func (r *reader) indexed(body []byte, n int) (err error) {
	r.places = r.places[:0]
	if n == 0 {
		return nil
	}
	if len(body) == 0 || body[0] > 32 {
		return errDamaged
	}
	r.places, err = runs(r.places, body[1:], int(body[0]), n)
	for i, at := range r.places {
		if at >= r.words {
			return errDamaged
		}
		r.places[i] = r.first + at
	}
	return err
}

// nothing adds n values that are neither texts nor numbers.
func (r *reader) nothing(n int) {
	for range n {
		r.out.numbers = append(r.out.numbers, math.NaN())
	}
}

// plain adds n values that stand one after another.
func (r *reader) plain(body []byte, n int) error {
	switch r.kind {
	case boolean:
		if (n+7)/8 > len(body) {
			return errDamaged
		}
		r.nothing(n)
		return nil
	case byteArray:
		for range n {
			word, rest, err := prefixed(body)
			if err != nil {
				return err
			}
			r.out.texts, body = append(r.out.texts, string(word)), rest
		}
		return nil
	case int32s, int64s, int96, float32s, float64s, fixedByteArray:
	default:
		return fmt.Errorf("values of type %d", r.kind)
	}
	size := r.size()
	if size <= 0 || n > len(body)/size {
		return errDamaged
	}
	for i := range n {
		if b := body[i*size : (i+1)*size]; r.text() {
			r.out.texts = append(r.out.texts, string(b))
		} else {
			r.out.numbers = append(r.out.numbers, r.number(b))
		}
	}
	return nil
}

// size is the length of a value, 0 where it differs from one to the next.
func (c *column) size() int {
	switch c.kind {
	case int32s, float32s:
		return 4
	case int64s, float64s:
		return 8
	case int96:
		return 12
	case fixedByteArray:
		return c.length
	}
	return 0
}

// number reads one number.
func (r *reader) number(b []byte) float64 {
	switch r.kind {
	case int32s:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case int64s:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case float32s:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case float64s:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return math.NaN()
}

// runs appends n numbers of a width in bits, stored as runs of one number and as groups of eight packed side by side.
func runs(dst []uint32, src []byte, width, n int) ([]uint32, error) {
	t := thrift{rest: src}
	for n > 0 {
		head := t.length()
		if head&1 == 0 {
			v := uint32(little(t.take(uint64(width+7) / 8)))
			if t.err != nil || head == 0 {
				return dst, errDamaged
			}
			times := int(min(head>>1, uint64(n)))
			for range times {
				dst = append(dst, v)
			}
			n -= times
			continue
		}
		groups := min(head>>1, uint64(n+7)/8) // the last group may hold more than is wanted
		b := t.take(groups * uint64(width))
		if t.err != nil || groups == 0 {
			return dst, errDamaged
		}
		count := min(n, int(8*groups))
		for i := range count {
			dst = append(dst, uint32(bitsAt(b, i*width, width)))
		}
		n -= count
	}
	return dst, nil
}

// little reads up to eight bytes as a number, the lowest first.
func little(b []byte) (v uint64) {
	if len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}
