package sweep

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// Format is how a table is written.
type Format string

// The formats, which are also the extensions of files.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
)

// FormatOf is the format of a file by its extension.
func FormatOf(file string) (Format, error) {
	f := Format(strings.ToLower(file[strings.LastIndexByte(file, '.')+1:]))
	return f, field.OneOf("format", f, CSV, JSONL, Parquet)
}

// table writes rows in their order.
type table struct {
	write func(*Row) error
	close func() error
}

func newTable(out io.Writer, format Format, h *Heading) (*table, error) {
	switch format {
	case JSONL:
		return &table{func(r *Row) error {
			text, err := r.Line()
			if err == nil {
				_, err = out.Write(text)
			}
			return err
		}, func() error { return nil }}, nil
	case Parquet:
		// Groups of a fixed number of rows, so that bytes do not depend on how rows arrive; the heading says what made them.
		const group = 100_000
		w := parquet.NewGenericWriter[Row](out, parquet.MaxRowsPerRowGroup(group), parquet.Compression(&parquet.Snappy),
			parquet.KeyValueMetadata("plimsoll.program", h.Program), parquet.KeyValueMetadata("plimsoll.data", h.Data), parquet.KeyValueMetadata("plimsoll.grid", h.Grid))
		return &table{func(r *Row) error {
			_, err := w.Write([]Row{*r})
			return err
		}, w.Close}, nil
	case CSV:
	}
	w := csv.NewWriter(out)
	var names []string
	for f := range reflect.TypeFor[Row]().Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	if err := w.Write(names); err != nil {
		return nil, err
	}
	return &table{func(r *Row) error { return w.Write(values(r)) }, func() error {
		w.Flush()
		return w.Error()
	}}, nil
}

// values are the fields of a row as CSV has them; "" is null.
func values(r *Row) []string {
	v := reflect.ValueOf(r).Elem()
	out := make([]string, v.NumField())
	for i := range out {
		x := v.Field(i)
		if x.Kind() == reflect.Pointer {
			if x.IsNil() {
				continue
			}
			x = x.Elem()
		}
		switch x := x.Interface().(type) {
		case float64:
			out[i] = strconv.FormatFloat(x, 'g', -1, 64)
		case json.RawMessage:
			out[i] = string(x)
		default:
			out[i] = fmt.Sprint(x)
		}
	}
	return out
}
