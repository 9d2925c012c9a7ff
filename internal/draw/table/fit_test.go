package table_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

// TestFit: words are wrapped before columns are dropped, the least important first, and nothing else is lost.
func TestFit(t *testing.T) {
	x := table.New("name", ">GPUs", "deployment", ">TTFT", "note")
	x.Row("one", 8, "4 replicas of TP 2", 12.5, "far within the limits")
	x.Rule()
	x.Row("two", 16, "one", 3, "over")
	x.Least("TTFT")
	for _, c := range []struct {
		width, lines int
		hidden       string
	}{{0, 5, ""}, {100, 5, ""}, {56, 6, ""}, {45, 6, "TTFT"}, {30, 6, "TTFT note"}, {3, 5, "TTFT note deployment GPUs"}} {
		text, hidden := x.Fit(c.width)
		if got := strings.Join(hidden, " "); got != c.hidden || strings.Count(text, "\n")+1 != c.lines {
			t.Errorf("%d: hidden %q, want %q, in\n%s", c.width, got, c.hidden, text)
		}
	}
	framed, hidden := x.FitFramed(40, 2)
	if want := "TTFT note"; strings.Join(hidden, " ") != want || !strings.Contains(framed, "\x1b[1mone\x1b[0m") {
		t.Errorf("hidden %v in\n%s", hidden, framed)
	}
}

// TestFits: a table is never wider than asked, unless a single column is, and no word is cut.
func TestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "columns")
		word := rapid.StringMatching(`[a-z0-9,]{1,12}`)
		cell := rapid.Map(rapid.SliceOfN(word, 0, 6), func(words []string) string { return strings.Join(words, " ") })
		heads := rapid.SliceOfN(rapid.StringMatching(`>?[a-z]{1,9}`), n, n).Draw(t, "heads")
		x := table.New(heads...)
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			x.Row(rapid.SliceOfN(cell, 0, n).Draw(t, "row"))
		}
		width := rapid.IntRange(1, 120).Draw(t, "width")
		whole := map[string]bool{}
		for w := range strings.FieldsSeq(x.String()) {
			whole[w] = true
		}
		for _, framed := range []bool{false, true} {
			text, hidden := x.Fit(width)
			if framed {
				text, hidden = x.FitFramed(width, -1)
			}
			for line := range strings.SplitSeq(text, "\n") {
				if got := utf8.RuneCountInString(line); got > width && n-len(hidden) > 1 {
					t.Fatalf("a line of %d in %d:\n%s", got, width, text)
				}
				for w := range strings.FieldsSeq(strings.Trim(line, "+-|─")) {
					if !framed && !whole[w] && !strings.HasPrefix(w, "─") {
						t.Fatalf("the word %q was cut:\n%s", w, text)
					}
				}
			}
		}
	})
}
