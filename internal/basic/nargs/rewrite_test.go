package nargs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// line is what a command line means.
type line struct {
	Words   []string
	Device  []string
	TPSizes []int
	Deploy  string
	N       int
	Temp    float64
	Note    string
	JSON    bool
}

// flags returns a flag set with one flag of each kind, filling the line.
func flags(l *line) *pflag.FlagSet {
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	fs.SetOutput(&strings.Builder{})
	nargs.ListVar(fs, &l.Device, "device", nargs.OneOrMore, nargs.Text, "").Shorthand = "d"
	nargs.ListVar(fs, &l.TPSizes, "tp-sizes", nargs.ZeroOrMore, nargs.Int, "")
	fs.StringVar(&l.Deploy, "deploy", "", "")
	nargs.MarkOptional(fs.Lookup("deploy"), "all")
	fs.IntVar(&l.N, "n", 0, "")
	nargs.Var(fs, &l.Temp, "temp", nargs.Float, "")
	fs.StringVar(&l.Note, "note", "", "")
	fs.BoolVarP(&l.JSON, "json", "j", false, "")

	out := pflag.NewFlagSet("test", pflag.ContinueOnError)
	out.SetOutput(&strings.Builder{})
	out.AddFlagSet(fs)
	out.SetNormalizeFunc(nargs.Normalizer(map[string]string{"devices": "device"}))
	return out
}

// parse reads a command line through Rewrite and pflag.
func parse(args []string) (line, error) {
	var l line
	fs := flags(&l)
	err := fs.Parse(nargs.Rewrite(args, fs))
	if words := fs.Args(); len(words) > 0 {
		l.Words = words
	}
	return l, err
}

// The expectations were produced by Python 3.11's argparse with the same flags; the two lines
// marked "ours" are where this package decides otherwise.
func TestRewriteAgreesWithArgparse(t *testing.T) {
	tests := []struct {
		args    string
		want    line
		wantErr string
	}{
		{args: "M", want: line{Words: []string{"M"}}},
		{args: "M --device A B C --n 8", want: line{Words: []string{"M"}, Device: []string{"A", "B", "C"}, N: 8}},
		{args: "--device A B C --n 8 M", want: line{Words: []string{"M"}, Device: []string{"A", "B", "C"}, N: 8}},
		{args: "--device A B M", want: line{Device: []string{"A", "B", "M"}}},
		{args: "--device A -- M", want: line{Words: []string{"M"}, Device: []string{"A"}}},
		{args: "--device=A B", want: line{Words: []string{"B"}, Device: []string{"A"}}},
		{args: "--device", wantErr: "flag needs an argument: --device"},
		{args: "--device --n 4", wantErr: "flag needs an argument: --device"},
		{args: "--device A --device B C", want: line{Device: []string{"A", "B", "C"}}}, // ours: argparse keeps B C
		{args: "--tp-sizes", want: line{TPSizes: []int{}}},
		{args: "--tp-sizes --n 4", want: line{TPSizes: []int{}, N: 4}},
		{args: "--tp-sizes 1 2 4 --n 4", want: line{TPSizes: []int{1, 2, 4}, N: 4}},
		{args: "--tp-sizes -1 -2", want: line{TPSizes: []int{-1, -2}}},
		{args: "--tp-sizes -- M", want: line{Words: []string{"M"}, TPSizes: []int{}}},
		{args: "--tp-sizes x", wantErr: `invalid argument "x" for "--tp-sizes" flag: want a whole number`},
		{args: "--tp-sizes= M", wantErr: `invalid argument "" for "--tp-sizes" flag: want a whole number`},
		{args: "--deploy --n 4", want: line{Deploy: "all", N: 4}},
		{args: "--deploy X --n 4", want: line{Deploy: "X", N: 4}},
		{args: "--deploy= M", want: line{Words: []string{"M"}}},
		{args: "--temp -0.5", want: line{Temp: -0.5}},
		{args: "--temp -1e-3", want: line{Temp: -1e-3}}, // ours: argparse takes -1e-3 for a flag
		{args: "--n=4 M --json", want: line{Words: []string{"M"}, N: 4, JSON: true}},
		{args: "--n --json", wantErr: "flag needs an argument: --n"},
		{args: "--note --json", wantErr: "flag needs an argument: --note"},
		{args: "--note - M", want: line{Words: []string{"M"}, Note: "-"}},
		{args: "--tp_sizes 2 --devices A B", want: line{TPSizes: []int{2}, Device: []string{"A", "B"}}},
		{args: "--dev A", want: line{Device: []string{"A"}}},
		{args: "--dev A B --no=x --js M", want: line{Words: []string{"M"}, Device: []string{"A", "B"}, Note: "x", JSON: true}},
		{args: "--tp_si 2 -- --dev", want: line{TPSizes: []int{2}, Words: []string{"--dev"}}},
		{args: "--de A", wantErr: "unknown flag: --de"}, // --device or --deploy
		{args: "--n 4 --t 1", wantErr: "unknown flag: --t"},
		{args: "-d A B --json", want: line{Device: []string{"A", "B"}, JSON: true}},
		{args: "-jd A B", want: line{Device: []string{"A", "B"}, JSON: true}},
		{args: "-dA M", want: line{Words: []string{"M"}, Device: []string{"A"}}},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got, err := parse(strings.Fields(tt.args))
			if tt.wantErr != "" {
				if err == nil || err.Error() != tt.wantErr {
					t.Fatalf("error: want %q, got %v", tt.wantErr, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("meaning (-want +got):\n%s", d)
			}
		})
	}
}

// A command line written from a meaning, in any order of its parts, is read back as that meaning.
func TestRewriteReadsBackWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9=_./-]{0,8}|-[0-9]{1,3}|-`)
		want := line{
			Device:  rapid.SliceOfN(word, 0, 3).Draw(t, "device"),
			TPSizes: rapid.SliceOfN(rapid.IntRange(-9, 9), 0, 3).Draw(t, "tp"),
			N:       rapid.IntRange(-99, 99).Draw(t, "n"),
			JSON:    rapid.Bool().Draw(t, "json"),
			Words:   []string{rapid.StringMatching(`[A-Za-z][A-Za-z0-9/.-]{0,8}`).Draw(t, "model")},
		}
		parts := [][]string{append([]string{"--tp-sizes"}, words(want.TPSizes)...), {"--n", fmt.Sprint(want.N)}}
		if len(want.Device) > 0 {
			parts = append(parts, append([]string{"--device"}, want.Device...))
		} else {
			want.Device = nil
		}
		if want.JSON {
			parts = append(parts, []string{"--json"})
		}
		var args []string
		for _, p := range rapid.Permutation(parts).Draw(t, "order") {
			args = append(args, p...)
		}
		if rapid.Bool().Draw(t, "model first") {
			args = append(slices.Clone(want.Words), args...)
		} else {
			args = append(append(args, "--"), want.Words...)
		}

		got, err := parse(args)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q (-want +got):\n%s", args, d)
		}
	})
}

func words(numbers []int) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, fmt.Sprint(n))
	}
	return out
}

// Whatever is typed, rewriting ends, and rewriting again changes nothing.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{"M --device A B", "--tp-sizes\n--n", "-jd A -- --device", "- -- -1 --=", "-\xff --\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fs := flags(&line{})
		once := nargs.Rewrite(strings.Fields(text), fs)
		if d := cmp.Diff(once, nargs.Rewrite(once, fs)); d != "" {
			t.Errorf("rewriting twice (-once +twice):\n%s", d)
		}
	})
}

func TestComplete(t *testing.T) {
	tests := []struct{ args, want []string }{
		{[]string{"M", "--device", ""}, []string{"M", "--device", ""}},
		{[]string{"M", "--device", "A", "B"}, []string{"M", "--device=A", "--device", "B"}},
		{[]string{"--device", "A", "--"}, []string{"--device=A", "--"}},
		{[]string{"--device", "A", "--", "M"}, []string{"--device=A", "--", "M"}},
		{[]string{"--n", "4", ""}, []string{"--n=4", ""}},
		{[]string{"--n", ""}, []string{"--n", ""}},
		{[]string{"-jd", "A", ""}, []string{"-j", "-d=A", "-d", ""}},
		{[]string{"-jd", ""}, []string{"-j", "-d", ""}},
		{[]string{"--json", ""}, []string{"--json", ""}},
		{[]string{""}, []string{""}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, nargs.Complete(tt.args, flags(&line{}))); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.args, d)
		}
	}
}

func TestWords(t *testing.T) {
	got := nargs.Words(strings.Fields("A --n 4 B --json C --unknown D --device E F -- G --n"), flags(&line{}))
	want := []string{"A", "B", "C", "D", "G", "--n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
