package perfdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Query says which rows and columns of a table are wanted.
type Query struct {
	// Text and Number are values a row must have.
	Text   map[string]string
	Number map[string]float64
	// Labels and Values are the columns returned. Those in Optional, wherever
	// named, read as "" or 0 in a table that has none.
	Labels, Values []string
	Optional       []string
}

// Rows are the rows found, column by column in the order of the query.
type Rows struct {
	Labels [][]string
	Values [][]float64
	N      int
	// Total is the number of rows in the table.
	Total int
}

// maxSize and maxRows bound what a table may hold; AIConfigurator's largest have
// a few megabytes and some 100 000 rows.
const (
	maxSize = 1 << 30
	maxRows = 1 << 24
)

// Read returns the rows of a table that a query wants. A file that is no table,
// or a damaged one, is an error that names it.
func (s *System) Read(f File, q *Query) (*Rows, error) {
	info, err := fs.Stat(s.fsys, f.Path)
	if err == nil && info.Size() > maxSize {
		err = fmt.Errorf("%d bytes are more than a table has", info.Size())
	}
	var data []byte
	if err == nil {
		data, err = fs.ReadFile(s.fsys, f.Path)
	}
	var out *Rows
	if err == nil {
		out, err = decode(data, q)
	}
	if err != nil {
		return nil, fmt.Errorf("reading kernel table %s: %w", f.Path, err)
	}
	return out, nil
}

// decode reads a Parquet file. The library panics on some damaged files, which
// is an error like others here.
func decode(data []byte, q *Query) (out *Rows, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("damaged: %v", p)
		}
	}()
	if err := checkFooter(data); err != nil {
		return nil, fmt.Errorf("not a Parquet file: %w", err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a Parquet file: %w", err)
	}
	d := decoder{q: q, at: map[string]int{}, out: &Rows{
		Labels: make([][]string, len(q.Labels)), Values: make([][]float64, len(q.Values)), Total: int(f.NumRows()),
	}}
	if n := f.NumRows(); n < 0 || n > maxRows {
		return nil, fmt.Errorf("%d rows", n)
	}
	for _, c := range f.Root().Columns() {
		if c.Leaf() {
			d.at[c.Name()] = c.Index()
		}
	}
	for _, g := range f.RowGroups() {
		if err := d.group(g); err != nil {
			return nil, err
		}
	}
	return d.out, nil
}

// decoder collects rows.
type decoder struct {
	q   *Query
	at  map[string]int
	out *Rows
}

// errNoColumn is a column that must be there and is not.
var errNoColumn = errors.New("no such column")

// group reads one row group: first the columns that decide which rows are
// wanted, then the wanted columns of those.
func (d *decoder) group(g parquet.RowGroup) error {
	n := g.NumRows()
	if n < 0 || n > maxRows {
		return fmt.Errorf("a group of %d rows", n)
	}
	keep := make([]bool, n)
	if err := d.wanted(g, keep); err != nil {
		return err
	}
	for c, name := range d.q.Labels {
		known := map[string]string{}
		err := d.each(g, name, keep, func(i int, v *parquet.Value) {
			if !keep[i] {
				return
			}
			b := text(v)
			s, ok := known[string(b)]
			if !ok {
				s = string(b)
				known[s] = s
			}
			d.out.Labels[c] = append(d.out.Labels[c], s)
		})
		if err != nil {
			return err
		}
	}
	for c, name := range d.q.Values {
		err := d.each(g, name, keep, func(i int, v *parquet.Value) {
			if keep[i] {
				d.out.Values[c] = append(d.out.Values[c], number(v))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted marks the rows that have the values asked for.
func (d *decoder) wanted(g parquet.RowGroup, keep []bool) error {
	for i := range keep {
		keep[i] = true
	}
	for name, want := range d.q.Text {
		if err := d.each(g, name, keep, func(i int, v *parquet.Value) { keep[i] = keep[i] && string(text(v)) == want }); err != nil {
			return err
		}
	}
	for name, want := range d.q.Number {
		if err := d.each(g, name, keep, func(i int, v *parquet.Value) { keep[i] = keep[i] && number(v) == want }); err != nil {
			return err
		}
	}
	for _, k := range keep {
		if k {
			d.out.N++
		}
	}
	return nil
}

// each visits the values of a column, one for every row.
func (d *decoder) each(g parquet.RowGroup, name string, keep []bool, visit func(i int, v *parquet.Value)) error {
	at, ok := d.at[name]
	if !ok {
		if !slices.Contains(d.q.Optional, name) {
			return fmt.Errorf("column %q: %w", name, errNoColumn)
		}
		var none parquet.Value
		for i := range keep {
			visit(i, &none)
		}
		return nil
	}
	pages := g.ColumnChunks()[at].Pages()
	defer pages.Close() //nolint:errcheck // it holds no file
	var buffer [512]parquet.Value
	row := 0
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
		values := p.Values()
		for {
			n, err := values.ReadValues(buffer[:])
			if row+n > len(keep) {
				return fmt.Errorf("column %q: more values than rows", name)
			}
			for i := range buffer[:n] {
				visit(row+i, &buffer[i])
			}
			row += n
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("column %q: %w", name, err)
			}
			if n == 0 {
				return fmt.Errorf("column %q: %w", name, io.ErrNoProgress)
			}
		}
		parquet.Release(p)
	}
	if row != len(keep) {
		return fmt.Errorf("column %q has %d values for %d rows", name, row, len(keep))
	}
	return nil
}

// text is a value as bytes, nothing for another kind.
func text(v *parquet.Value) []byte {
	if !v.IsNull() && (v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray) {
		return v.ByteArray()
	}
	return nil
}

// number is a value as a number: 0 for none, not a number for another kind.
func number(v *parquet.Value) float64 {
	if v.IsNull() {
		return 0
	}
	switch v.Kind() {
	case parquet.Int64:
		return float64(v.Int64())
	case parquet.Int32:
		return float64(v.Int32())
	case parquet.Double:
		return v.Double()
	case parquet.Float:
		return float64(v.Float())
	case parquet.Boolean, parquet.Int96, parquet.ByteArray, parquet.FixedLenByteArray:
	}
	return math.NaN()
}
