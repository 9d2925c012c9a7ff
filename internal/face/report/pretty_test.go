package report

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
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
		if got := centre(c.cell, c.width); got != c.want {
			t.Errorf("%q in %d: want %q, got %q", c.cell, c.width, c.want, got)
		}
	}
}

// TestPrettyIsPrettyTable redraws tables that the vendor's program printed from
// their cells.
func TestPrettyIsPrettyTable(t *testing.T) {
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
		p := &pretty{bold: -1}
		rule, body, _ := strings.Cut(want, "\n")
		for line := range strings.SplitSeq(body, "\n") {
			switch {
			case line[0] == '+':
			case p.header == nil:
				p.header = cells(line, rule)
			default:
				p.rows = append(p.rows, cells(line, rule))
			}
		}
		if d := cmp.Diff(want, p.render(true)); d != "" {
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

func TestPrettyBold(t *testing.T) {
	p := &pretty{header: []string{"a", "b"}, rows: [][]string{{"1", "1"}}, bold: 1}
	const want = "+---+---+\n| a | \x1b[1mb\x1b[0m |\n+---+---+\n| 1 | \x1b[1m1\x1b[0m |\n+---+---+"
	if got := p.render(true); got != want {
		t.Errorf("want\n%q\ngot\n%q", want, got)
	}
	if got := p.render(false); strings.Contains(got, "\x1b") {
		t.Errorf("unexpected colour: %q", got)
	}
}

// TestLimit: limits are printed as Python prints the float that was typed.
func TestLimit(t *testing.T) {
	for ms, want := range map[float64]string{
		50: "50.0", 33.3: "33.3", 0.1: "0.1", 12345.678: "12345.678", 1e6: "1000000.0", 1e-3: "0.001", 0.123: "0.123", 15.629: "15.629",
	} {
		if got := limit(units.Seconds(ms / 1e3)); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
	for _, none := range []units.Seconds{0, units.Seconds(math.Inf(1))} {
		if got := limit(none); got != "None" || document.LimitMs(none) != nil {
			t.Errorf("%g: want None, got %s", none, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		typed := strconv.FormatFloat(float64(rapid.IntRange(1, 1e9).Draw(t, "µs"))/1e3, 'f', -1, 64)
		ms, _ := strconv.ParseFloat(typed, 64)
		s := units.Seconds(ms / 1e3) // as the command line does
		want := typed
		if !strings.Contains(want, ".") {
			want += ".0"
		}
		if got := limit(s); got != want {
			t.Fatalf("want %s, got %s", want, got)
		}
		if got := *document.LimitMs(s); got != ms {
			t.Fatalf("want %v ms, got %v", ms, got)
		}
	})
}

// TestUp: what is printed as the nearest feasible limit is met when it is given
// back.
func TestUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := units.Seconds(rapid.Float64Range(1e-6, 1e4).Draw(t, "s"))
		printed, _ := strconv.ParseFloat(f2(document.UpMs(s)), 64)
		if limit := units.Seconds(printed / 1e3); s > limit || limit-s > 1.01e-5 {
			t.Fatalf("%g s is printed as %g ms", s, printed)
		}
	})
}
