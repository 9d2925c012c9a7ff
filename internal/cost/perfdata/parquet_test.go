package perfdata

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

// row has a column of every type we read and some that we do not; the pointers are optional columns.
type row struct {
	Words  *string  `parquet:"words,optional,dict"`
	Plain  string   `parquet:"plain,plain"`
	Fixed  [5]byte  `parquet:"fixed,plain"`
	Int32  int32    `parquet:"int32,delta"`
	Whole  *int64   `parquet:"whole,optional,dict"`
	Float  float32  `parquet:"float,split"`
	Double *float64 `parquet:"double,optional,split"`
	Flag   *bool    `parquet:"flag,optional"`
	Nested struct {
		Inner int64 `parquet:"inner"`
	} `parquet:"nested"`
	List []int64 `parquet:"list"`
	Last int32   `parquet:"last,plain"`
}

func anyRow(t *rapid.T) row {
	word := rapid.OneOf(rapid.SampledFrom([]string{"", "bfloat16", "fp8", "fp8_block"}), rapid.String())
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 0.25, math.Inf(1), 1e-300}))
	r := row{
		Plain: word.Draw(t, "plain"), Int32: rapid.Int32().Draw(t, "int32"), Words: rapid.Ptr(word, true).Draw(t, "words"),
		Whole: rapid.Ptr(rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 4096)), true).Draw(t, "whole"),
		Float: rapid.Float32().Draw(t, "float"), Double: rapid.Ptr(number, true).Draw(t, "double"),
		Flag: rapid.Ptr(rapid.Bool(), true).Draw(t, "flag"),
		List: rapid.SliceOfN(rapid.Int64(), 0, 3).Draw(t, "list"), Last: rapid.Int32().Draw(t, "last"),
	}
	copy(r.Fixed[:], word.Draw(t, "fixed"))
	return r
}

func write(t interface{ Fatal(...any) }, rows []row, options ...parquet.WriterOption) []byte {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Every type of column reads as it was written, in both versions of pages, with every codec, over any row groups and pages.
func TestColumnTypes(t *testing.T) {
	query := &Query{Labels: []string{"words", "plain", "fixed"}, Values: []string{"int32", "whole", "float", "double", "flag", "last"}}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(anyRow), 0, 40).Draw(t, "rows")
		codec := rapid.SampledFrom([]parquet.WriterOption{
			parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Gzip),
			parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Brotli), parquet.Compression(&parquet.Lz4Raw),
		}).Draw(t, "codec")
		data := write(t, rows, codec, parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
			parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 50).Draw(t, "group")), parquet.PageBufferSize(rapid.IntRange(32, 4096).Draw(t, "page")))
		got, err := decode(data, query)
		if err != nil {
			t.Fatal(err)
		}
		want := &Rows{Labels: make([][]string, 3), Values: make([][]float64, 6), N: len(rows), Total: len(rows)}
		for _, r := range rows {
			for i, s := range []string{value(r.Words), r.Plain, string(r.Fixed[:])} {
				want.Labels[i] = append(want.Labels[i], s)
			}
			flag := 0.0
			if r.Flag != nil {
				flag = math.NaN()
			}
			for i, x := range []float64{float64(r.Int32), float64(value(r.Whole)), float64(r.Float), value(r.Double), flag, float64(r.Last)} {
				want.Values[i] = append(want.Values[i], x)
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestColumnRefusals(t *testing.T) {
	f, err := open(write(t, []row{{Last: 1}, {Last: 2}}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"k":      `column "k": no such column`,
		"nested": `column "nested": no such column`,
		"inner":  `column "inner": no such column`,
		"list":   `column "list": lists of values are not read`,
	} {
		if _, err := f.column(0, name); err == nil || err.Error() != want {
			t.Errorf("%s: want %q, got %v", name, want, err)
		}
	}
	chunk := f.Metadata().RowGroups[0].Columns[f.Root().Column("last").Index()].MetaData
	for name, c := range map[string]struct {
		change func(*format.ColumnMetaData)
		want   string
	}{
		"codec":  {func(m *format.ColumnMetaData) { m.Codec = format.LZO }, "compressed with LZO; write it with Snappy"},
		"values": {func(m *format.ColumnMetaData) { m.NumValues = 1 << 40 }, "1099511627776 values for 2 rows"},
		"start":  {func(m *format.ColumnMetaData) { m.DataPageOffset = 1 << 40 }, "pages outside of the file"},
		"size":   {func(m *format.ColumnMetaData) { m.TotalCompressedSize = 1 << 40 }, "pages outside of the file"},
	} {
		changed := chunk
		c.change(&changed)
		if err := f.checkPages(&changed, 2); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", name, c.want, err)
		}
	}
}
