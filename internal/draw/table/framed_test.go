package table_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

// TestCentre: of an odd number of blanks the extra one goes right of a cell of
// odd length and left of one of even length.
func TestCentre(t *testing.T) {
	for _, c := range []struct {
		cell  string
		width int
		want  string
	}{
		{"", 0, ""},
		{"a", 1, "a"},
		{"a", 3, " a "},
		{"a", 2, "a "},
		{"a", 4, " a  "},
		{"ab", 3, " ab"},
		{"ab", 5, "  ab "},
		{"ab", 4, " ab "},
		{"×", 2, "× "}, // a character, two bytes
		{"×·", 3, " ×·"},
	} {
		if got := table.Centre(c.cell, c.width); got != c.want {
			t.Errorf("%q in %d: want %q, got %q", c.cell, c.width, c.want, got)
		}
	}
}

// TestFramedIsPrettyTable redraws tables that the vendor's program printed from
// their cells.
func TestFramedIsPrettyTable(t *testing.T) {
	data, err := os.ReadFile("testdata/vendor-tables.txt")
	if err != nil {
		t.Fatal(err)
	}
	tables := strings.Split(string(data), "# ")[1:]
	if len(tables) < 7 {
		t.Fatalf("%d tables, want 7", len(tables))
	}
	for _, text := range tables {
		name, want, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n")
		var framed *table.Table
		rule, body, _ := strings.Cut(want, "\n")
		for line := range strings.SplitSeq(body, "\n") {
			switch {
			case line[0] == '+':
			case framed == nil:
				framed = table.New(cells(line, rule)...)
			default:
				framed.Row(cells(line, rule))
			}
		}
		if d := cmp.Diff(want, framed.Framed(-1)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// cells cuts a line where the rule has its crossings.
func cells(line, rule string) []string {
	var out []string
	at := 1
	for i := 1; i < len(rule); i++ {
		if rule[i] == '+' {
			out = append(out, strings.TrimSpace(line[at:i]))
			at = i + 1
		}
	}
	return out
}

func TestFramedBold(t *testing.T) {
	framed := table.New("a", "b")
	framed.Row(1, 1)
	const want = "+---+---+\n| a | \x1b[1mb\x1b[0m |\n+---+---+\n| 1 | \x1b[1m1\x1b[0m |\n+---+---+"
	if got := framed.Framed(1); got != want {
		t.Errorf("want\n%q\ngot\n%q", want, got)
	}
	if got := framed.Framed(-1); strings.Contains(got, "\x1b") {
		t.Errorf("unexpected colour: %q", got)
	}
}
