package parquet

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	reference "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// row has a column of every type and encoding; the pointers are optional columns.
type row struct {
	Plain    string   `parquet:"plain,plain"`
	Words    *string  `parquet:"words,optional,dict"`
	Lengths  *string  `parquet:"lengths,optional"`
	Prefixes string   `parquet:"prefixes,plain"`
	Fixed    [5]byte  `parquet:"fixed,plain"`
	Int32    int32    `parquet:"int32,delta"`
	Int64    int64    `parquet:"int64,delta"`
	Whole    *int64   `parquet:"whole,optional,dict"`
	Float    float32  `parquet:"float,split"`
	Double   *float64 `parquet:"double,optional,split"`
	Plainest *float64 `parquet:"plainest,optional,plain"`
	Flag     *bool    `parquet:"flag,optional"`
	Nested   struct {
		Inner int64 `parquet:"inner"`
	} `parquet:"nested"`
	List []int64 `parquet:"list"`
	Last int32   `parquet:"last,plain"`
}

func anyRow(t *rapid.T) row {
	word := rapid.OneOf(rapid.SampledFrom([]string{"", "bfloat16", "fp8", "fp8_block"}), rapid.String())
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 0.25, math.Inf(1), 1e-300}))
	whole := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 4096))
	r := row{
		Plain: word.Draw(t, "plain"), Prefixes: word.Draw(t, "prefixes"), Int32: rapid.Int32().Draw(t, "int32"),
		Words: rapid.Ptr(word, true).Draw(t, "words"), Lengths: rapid.Ptr(word, true).Draw(t, "lengths"),
		Int64: whole.Draw(t, "int64"), Whole: rapid.Ptr(whole, true).Draw(t, "whole"),
		Float: rapid.Float32().Draw(t, "float"), Double: rapid.Ptr(number, true).Draw(t, "double"),
		Plainest: rapid.Ptr(number, true).Draw(t, "plainest"), Flag: rapid.Ptr(rapid.Bool(), true).Draw(t, "flag"),
		List: rapid.SliceOfN(rapid.Int64(), 0, 3).Draw(t, "list"), Last: rapid.Int32().Draw(t, "last"),
	}
	copy(r.Fixed[:], word.Draw(t, "fixed"))
	return r
}

// encode writes rows with another implementation.
func encode(t interface{ Fatal(...any) }, rows []row, options ...reference.WriterOption) []byte {
	var b bytes.Buffer
	w := reference.NewGenericWriter[row](&b, options...)
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

// values are a column's, texts or numbers.
type values struct {
	Texts   []string
	Numbers []float64
}

// want is what the columns of some rows should read as.
func want(rows []row) map[string]values {
	out := map[string]values{}
	text := func(name, v string) { c := out[name]; c.Texts = append(c.Texts, v); out[name] = c }
	number := func(name string, v float64) { c := out[name]; c.Numbers = append(c.Numbers, v); out[name] = c }
	for _, r := range rows {
		text("plain", r.Plain)
		text("words", value(r.Words))
		text("lengths", value(r.Lengths))
		text("prefixes", r.Prefixes)
		text("fixed", string(r.Fixed[:]))
		number("int32", float64(r.Int32))
		number("int64", float64(r.Int64))
		number("whole", float64(value(r.Whole)))
		number("float", float64(r.Float))
		number("double", value(r.Double))
		number("plainest", value(r.Plainest))
		if r.Flag == nil {
			number("flag", 0)
		} else {
			number("flag", math.NaN())
		}
		number("last", float64(r.Last))
	}
	return out
}

// read returns all columns at the top of a file, their groups joined.
func read(data []byte) (map[string]values, error) {
	f, err := Open(data)
	if err != nil {
		return nil, err
	}
	out := map[string]values{}
	for i := range f.Groups {
		for _, c := range f.columns {
			if c.repeated {
				continue
			}
			more, err := f.Groups[i].Column(c.name)
			if err != nil {
				return nil, err
			}
			all := out[c.name]
			for row := range f.Groups[i].Rows {
				if c.text() {
					all.Texts = append(all.Texts, more.Text(row))
				} else {
					all.Numbers = append(all.Numbers, more.Number(row))
				}
			}
			out[c.name] = all
		}
	}
	return out, nil
}

// What another implementation writes, in both versions of pages, every codec and every encoding, reads as it was.
func TestTablesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(anyRow), 0, 40).Draw(t, "rows")
		codec := rapid.SampledFrom([]reference.WriterOption{
			reference.Compression(&reference.Uncompressed), reference.Compression(&reference.Snappy),
			reference.Compression(&reference.Gzip), reference.Compression(&reference.Zstd),
		}).Draw(t, "codec")
		data := encode(t, rows, codec, reference.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
			reference.MaxRowsPerRowGroup(rapid.Int64Range(1, 50).Draw(t, "group")), reference.PageBufferSize(rapid.IntRange(32, 4096).Draw(t, "page")))
		got, err := read(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want(rows), got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func example(t interface{ Fatal(...any) }, options ...reference.WriterOption) []byte {
	var rows []row
	for i := range 20 {
		rows = append(rows, row{
			Plain: strings.Repeat("p", i), Words: new([]string{"bfloat16", "fp8"}[i%2]), Int64: int64(i * i),
			Whole: new(int64(i / 7)), Float: float32(i), Double: new(float64(i) / 4), List: []int64{1, 2},
		})
	}
	rows[3].Words, rows[5].Double = nil, nil
	return encode(t, rows, options...)
}

// Texts with shared beginnings, in the encoding made for them, which a struct's tags cannot ask for.
func TestPrefixes(t *testing.T) {
	words := []string{"moe", "moe_fp8", "moe_fp8_block", "mla", "", "gemm"}
	schema := reference.NewSchema("table", reference.Group{"name": reference.Encoded(reference.String(), &reference.DeltaByteArray)})
	var b bytes.Buffer
	w := reference.NewGenericWriter[struct {
		Name string `parquet:"name"`
	}](&b, schema)
	for _, word := range words {
		if _, err := w.Write([]struct {
			Name string `parquet:"name"`
		}{{word}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(words, got["name"].Texts); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	f, err := Open(example(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"k":    `column "k": no such column`,
		"list": `column "list": lists of values are not read`,
	} {
		if _, err := f.Groups[0].Column(name); err == nil || err.Error() != want {
			t.Errorf("%s: want %q, got %v", name, want, err)
		}
	}
	if f.Has("inner") || f.Has("nested") || !f.Has("last") {
		t.Error("columns inside others are not among the table's, all others are")
	}
	for name, codec := range map[string]reference.WriterOption{
		"LZ4": reference.Compression(&reference.Lz4Raw), "Brotli": reference.Compression(&reference.Brotli),
	} {
		_, err := read(example(t, codec))
		if want := "compressed with " + name + "; write it with Snappy"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// Whatever is cut off or changed, the answer is an error or columns of the right length, never a panic.
func TestDamaged(t *testing.T) {
	for _, codec := range []reference.WriterOption{
		reference.Compression(&reference.Uncompressed), reference.Compression(&reference.Snappy), reference.Compression(&reference.Zstd),
	} {
		whole := example(t, codec)
		for n := range len(whole) {
			if _, err := read(whole[:n]); err == nil {
				t.Errorf("%d of %d bytes are accepted", n, len(whole))
			}
			changed := bytes.Clone(whole)
			changed[n] ^= 0xff
			_, _ = read(changed)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, codec := range []reference.WriterOption{
		reference.Compression(&reference.Uncompressed), reference.Compression(&reference.Snappy), reference.Compression(&reference.Zstd),
	} {
		f.Add(example(f, codec))
	}
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(data)
		if err != nil {
			return
		}
		for i := range file.Groups {
			for _, c := range file.columns {
				got, err := file.Groups[i].Column(c.name)
				if err != nil {
					continue
				}
				if n := len(got.at); n != file.Groups[i].Rows {
					t.Errorf("column %q has %d values for %d rows", c.name, n, file.Groups[i].Rows)
				}
				for row := range got.at {
					got.Text(row)
					got.Number(row)
				}
			}
		}
	})
}
