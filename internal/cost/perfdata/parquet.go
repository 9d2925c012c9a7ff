//go:build !js

package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// rowsPerByte limits the rows that a file states, so that a damaged one cannot ask for all memory. Rows of kernel tables
// take three bytes and more after compression.
const rowsPerByte = 64

// parquetFile is an open table. The library trusts the lengths in a file, so they are
// checked here before it allocates.
type parquetFile struct {
	*parquet.File

	data []byte
	read int64 // bytes of pages without compression
}

// open reads a file's footer.
func open(data []byte) (*parquetFile, error) {
	const tail = 8 // the footer's length and the magic number
	if len(data) < tail || !bytes.HasSuffix(data, []byte("PAR1")) {
		return nil, fmt.Errorf("not a Parquet file: %w footer", errDamaged)
	}
	size, end := uint64(binary.LittleEndian.Uint32(data[len(data)-tail:])), len(data)-tail
	if size > uint64(min(end, mostFooter)) {
		return nil, fmt.Errorf("not a Parquet file: %w footer", errDamaged)
	}
	if _, err := describe(data[end-int(size):end], &format.FileMetaData{}); err != nil {
		return nil, fmt.Errorf("not a Parquet file: %w", err)
	}
	lib, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a Parquet file: %w", err)
	}
	f := &parquetFile{File: lib, data: data}
	rows := f.NumRows()
	if rows < 0 || rows > min(bound.TableRows, rowsPerByte*int64(len(data))) {
		return nil, fmt.Errorf("%d rows in %d bytes", rows, len(data))
	}
	var grouped int64
	for _, g := range f.RowGroups() {
		if n := g.NumRows(); n < 0 || n > rows-grouped {
			return nil, fmt.Errorf("row groups with more than %d rows", rows)
		}
		grouped += g.NumRows()
	}
	if grouped != rows {
		return nil, fmt.Errorf("%d of %d rows are in no row group", rows-grouped, rows)
	}
	return f, nil
}

// has reports whether the table has a column; columns inside others do not count.
func (f *parquetFile) has(name string) bool {
	c := f.Root().Column(name)
	return c != nil && c.Leaf()
}

// column reads a column of a row group.
func (f *parquetFile) column(group int, name string) (c *column, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("column %q: %w", name, err)
		}
	}()
	if !f.has(name) {
		return nil, errNoColumn
	}
	leaf := f.Root().Column(name)
	if leaf.Repeated() {
		return nil, errors.New("lists of values are not read")
	}
	rows := f.RowGroups()[group].NumRows()
	if err := f.checkPages(&f.Metadata().RowGroups[group].Columns[leaf.Index()].MetaData, rows); err != nil {
		return nil, err
	}
	pages := f.RowGroups()[group].ColumnChunks()[leaf.Index()].Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	c = &column{}
	kind := leaf.Type().Kind()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := c.add(page, kind); err != nil {
			return nil, err
		}
	}
	if n := int64(max(len(c.texts), len(c.numbers))); n != rows {
		return nil, fmt.Errorf("%d values for %d rows: %w", n, rows, errDamaged)
	}
	return c, nil
}

// checkPages checks the lengths in the headers of a column's pages.
func (f *parquetFile) checkPages(m *format.ColumnMetaData, rows int64) error {
	if m.NumValues != rows {
		return fmt.Errorf("%d values for %d rows: %w", m.NumValues, rows, errDamaged)
	}
	codecs := []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw}
	if !slices.Contains(codecs, m.Codec) {
		return fmt.Errorf("compressed with %v; write it with Snappy, gzip, Zstandard or without compression", m.Codec)
	}
	start := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	size := int64(len(f.data))
	if start < 0 || m.TotalCompressedSize < 0 || start > size || m.TotalCompressedSize > size-start {
		return fmt.Errorf("pages outside of the file: %w", errDamaged)
	}
	rest := f.data[start : start+m.TotalCompressedSize]
	for len(rest) > 0 {
		var h format.PageHeader
		n, err := describe(rest[:min(len(rest), mostHeader)], &h)
		if err != nil {
			return fmt.Errorf("%w page header: %w", errDamaged, err)
		}
		rest = rest[n:]
		if err := checkPage(&h, len(rest), rows); err != nil {
			return err
		}
		if f.read += int64(h.UncompressedPageSize); f.read > bound.TableBytes {
			return bound.Over(bound.TableBytes, "bytes without compression")
		}
		rest = rest[h.CompressedPageSize:]
	}
	return nil
}

// checkPage checks a page's header: the page is within the bytes left, and has no more
// values than rows, or than bytes for a dictionary.
func checkPage(h *format.PageHeader, left int, rows int64) error {
	values, words := max(int64(h.DataPageHeader.V.NumValues), int64(h.DataPageHeaderV2.V.NumValues)), h.DictionaryPageHeader.V.NumValues
	switch {
	case h.CompressedPageSize < 0 || int(h.CompressedPageSize) > left, h.UncompressedPageSize < 0:
		return fmt.Errorf("a page of %d bytes, %d uncompressed: %w", h.CompressedPageSize, h.UncompressedPageSize, errDamaged)
	case values > rows || words > h.UncompressedPageSize:
		return fmt.Errorf("a page of %d values: %w", max(values, int64(words)), errDamaged)
	}
	return nil
}

// add appends the values of a page. A missing value is "" or 0; what is neither text
// nor number (booleans, 96-bit times) is not a number.
func (c *column) add(page parquet.Page, kind parquet.Kind) error {
	values := make([]parquet.Value, page.NumValues())
	if n, err := page.Values().ReadValues(values); n != len(values) || err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%d of %d values: %w", n, len(values), errors.Join(errDamaged, err))
	}
	for _, v := range values {
		switch {
		case kind == parquet.ByteArray || kind == parquet.FixedLenByteArray:
			c.texts = append(c.texts, c.text(v))
		case v.IsNull():
			c.numbers = append(c.numbers, 0)
		case kind == parquet.Int32:
			c.numbers = append(c.numbers, float64(v.Int32()))
		case kind == parquet.Int64:
			c.numbers = append(c.numbers, float64(v.Int64()))
		case kind == parquet.Float:
			c.numbers = append(c.numbers, float64(v.Float()))
		case kind == parquet.Double:
			c.numbers = append(c.numbers, v.Double())
		default:
			c.numbers = append(c.numbers, math.NaN())
		}
	}
	parquet.Release(page)
	return nil
}

// text copies a text out of its page, once for neighbours that are equal: most
// columns of texts are labels that repeat.
func (c *column) text(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	b := v.ByteArray()
	if n := len(c.texts); n > 0 && c.texts[n-1] == string(b) {
		return c.texts[n-1]
	}
	return string(b)
}
