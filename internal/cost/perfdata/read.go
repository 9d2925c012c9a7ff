package perfdata

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

var (
	errNoColumn = errors.New("no such column")
	errDamaged  = errors.New("damaged")
)

// column is the values of a column in a row group, as texts or as numbers.
type column struct {
	texts   []string
	numbers []float64
}

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

// Read returns the rows of a table that a query wants. A file that is no table,
// or a damaged one, is an error that names it.
func (s *System) Read(f File, q *Query) (*Rows, error) {
	data, err := bound.File(s.fsys, f.Path, bound.Table)
	var out *Rows
	if err == nil {
		out, err = decode(data, q)
	}
	if err != nil {
		return nil, fmt.Errorf("reading kernel table %s: %w", f.Path, err)
	}
	return out, nil
}

// decode reads the rows of a Parquet file that a query wants. The library panics on
// some damaged files; that is an error here.
func decode(data []byte, q *Query) (out *Rows, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	f, err := open(data)
	if err != nil {
		return nil, err
	}
	d := decoder{q: q, f: f, out: &Rows{
		Labels: make([][]string, len(q.Labels)), Values: make([][]float64, len(q.Values)), Total: int(f.NumRows()),
	}}
	for i := range f.RowGroups() {
		if err := d.group(i); err != nil {
			return nil, err
		}
	}
	return d.out, nil
}

// decoder collects rows.
type decoder struct {
	q   *Query
	f   *parquetFile
	out *Rows
}

// group reads one row group: first the columns that decide which rows are wanted,
// then the wanted columns of those.
func (d *decoder) group(g int) error {
	keep, err := d.wanted(g)
	if err != nil {
		return err
	}
	d.out.N += len(keep)
	for i, name := range d.q.Labels {
		c, err := d.column(g, name)
		if err != nil {
			return err
		}
		for _, row := range keep {
			d.out.Labels[i] = append(d.out.Labels[i], text(c, row))
		}
	}
	for i, name := range d.q.Values {
		c, err := d.column(g, name)
		if err != nil {
			return err
		}
		for _, row := range keep {
			d.out.Values[i] = append(d.out.Values[i], number(c, row))
		}
	}
	return nil
}

// wanted returns the rows that have the values of the query.
func (d *decoder) wanted(g int) ([]int, error) {
	keep := make([]int, d.f.RowGroups()[g].NumRows())
	for i := range keep {
		keep[i] = i
	}
	for name, want := range d.q.Text {
		c, err := d.column(g, name)
		if err != nil {
			return nil, err
		}
		keep = slices.DeleteFunc(keep, func(row int) bool { return text(c, row) != want })
	}
	for name, want := range d.q.Number {
		c, err := d.column(g, name)
		if err != nil {
			return nil, err
		}
		keep = slices.DeleteFunc(keep, func(row int) bool { return number(c, row) != want })
	}
	return keep, nil
}

// column reads a column; an optional one that the table does not have is nil.
func (d *decoder) column(g int, name string) (*column, error) {
	if !d.f.has(name) && slices.Contains(d.q.Optional, name) {
		return nil, nil //nolint:nilnil // text and number handle a missing column
	}
	return d.f.column(g, name)
}

// text is a row's value as text: "" for a number or a missing column.
func text(c *column, row int) string {
	if c == nil || c.texts == nil {
		return ""
	}
	return c.texts[row]
}

// number is a row's value as a number: 0 for a missing one, not a number for a text.
func number(c *column, row int) float64 {
	switch {
	case c == nil:
		return 0
	case c.numbers == nil:
		return math.NaN()
	}
	return c.numbers[row]
}
