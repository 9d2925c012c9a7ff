package sim

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tableKind names the columns of a table we can read.
type tableKind struct{ arrival, input, output string }

func tableKinds() []tableKind {
	return []tableKind{
		{arrivalColumn, inputColumn, outputColumn},
		{"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
		{"Timestamp", "Request tokens", "Response tokens"},
		{"arrived_at", "num_prefill_tokens", "num_decode_tokens"},
	}
}

// table is where the columns stand.
type table struct {
	kind                   tableKind
	arrival, input, output int
}

// csv reads a table. The error is one of reading only.
func (t *tracer) csv(r io.Reader) error {
	lines := csv.NewReader(r)
	lines.ReuseRecord = true
	lines.FieldsPerRecord = -1
	lines.Comment = '#'
	var columns *table
	for !t.full() {
		cells, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if mistake, ok := errors.AsType[*csv.ParseError](err); ok {
			t.wrong(mistake.StartLine, "", "%s", mistake.Err)
			continue
		}
		if err != nil {
			return err
		}
		line, _ := lines.FieldPos(0)
		if columns == nil {
			if columns = findColumns(cells); columns == nil {
				t.wrong(line, "", "the first line must name the columns %s, or those of Azure, BurstGPT or Vidur",
					strings.Join([]string{arrivalColumn, inputColumn, outputColumn}, ", "))
				return nil
			}
			continue
		}
		t.cells(line, columns, cells)
	}
	return nil
}

// findColumns is nil for a table of no known kind.
func findColumns(cells []string) *table {
	at := func(name string) int {
		return slices.IndexFunc(cells, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), name) })
	}
	for _, k := range tableKinds() {
		c := table{k, at(k.arrival), at(k.input), at(k.output)}
		if c.arrival >= 0 && c.input >= 0 && c.output >= 0 {
			return &c
		}
	}
	return nil
}

// cells reads one line.
func (t *tracer) cells(line int, c *table, cells []string) {
	if len(cells) <= max(c.arrival, c.input, c.output) {
		t.wrong(line, "", "only %d values", len(cells))
		return
	}
	var r row
	var errs [3]error
	r.at, errs[0] = seconds(strings.TrimSpace(cells[c.arrival]))
	r.input, errs[1] = strconv.Atoi(strings.TrimSpace(cells[c.input]))
	r.output, errs[2] = strconv.Atoi(strings.TrimSpace(cells[c.output]))
	sound := true
	for i, name := range []string{c.kind.arrival, c.kind.input, c.kind.output} {
		if errs[i] != nil {
			t.wrong(line, name, "%s", what(errs[i]))
			sound = false
		}
	}
	if sound {
		t.add(line, r)
	}
}

// what shortens a number's error to its cause and a bounded quote.
func what(err error) string {
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		const longest = 40
		return "must be a whole number, got " + strconv.Quote(e.Num[:min(len(e.Num), longest)])
	}
	return err.Error()
}

// seconds reads a time: a number of seconds, or a date as Azure writes it.
func seconds(text string) (float64, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.Unix()) + float64(at.Nanosecond())/1e9, nil
		}
	}
	const longest = 40
	return 0, errors.New("must be a number of seconds or a date and time, got " + strconv.Quote(text[:min(len(text), longest)]))
}
