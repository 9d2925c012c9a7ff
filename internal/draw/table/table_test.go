package table_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

func TestRender(t *testing.T) {
	w := table.New("model", ">KV per token", "also")
	w.Rule() // nothing to separate
	w.Row("Qwen3-32B", 262144, "")
	w.Rule()
	w.Rule()
	w.Row("µ-model", 1.5)
	w.Row("x", "±2", "y", "a column of its own")
	w.Rule()
	want := strings.Join([]string{
		"model      KV per token  also",
		"────────────────────────────────────────────────────",
		"Qwen3-32B        262144",
		"────────────────────────────────────────────────────",
		"µ-model             1.5",
		"x                    ±2  y     a column of its own",
	}, "\n")
	if got := w.String(); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// Every cell begins, or ends where its column is aligned right, at the same character of its line.
func TestColumnsAreAligned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`[a-zµ±·]{1,9}`)
		columns := rapid.IntRange(1, 5).Draw(t, "columns")
		right := rapid.SliceOfN(rapid.IntRange(1, columns), 0, columns).Draw(t, "right")
		heads := make([]string, columns)
		for _, r := range right {
			heads[r-1] = ">"
		}
		w := table.New(heads...)
		var rows [][]string
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			row := rapid.SliceOfN(cell, columns, columns).Draw(t, "row")
			rows = append(rows, row)
			w.Row(row)
		}
		at := 0
		lines := strings.Split(w.String(), "\n")[2:] // below the head
		for i := range columns {
			wide := 0
			for _, row := range rows {
				wide = max(wide, utf8.RuneCountInString(row[i]))
			}
			for k, row := range rows {
				text := []rune(lines[k] + strings.Repeat(" ", 60))[at : at+wide]
				pad := strings.Repeat(" ", wide-utf8.RuneCountInString(row[i]))
				want := row[i] + pad
				for _, r := range right {
					if r == i+1 {
						want = pad + row[i]
					}
				}
				if string(text) != want {
					t.Errorf("line %d, column %d: want %q, got %q", k, i+1, want, string(text))
				}
			}
			at += wide + 2
		}
	})
}
