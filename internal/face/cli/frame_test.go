package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
)

// result is what a run of the program leaves behind.
type result struct {
	Code           int
	Stdout, Stderr string
}

// testEnv returns a world of its own: no variables but those given, an empty directory, a fixed clock.
func testEnv(t *testing.T, args []string, vars map[string]string) (env *Env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &Env{
		Args:    args,
		Stdin:   strings.NewReader(""),
		Stdout:  stdout,
		Stderr:  stderr,
		Getenv:  func(name string) string { return vars[name] },
		WorkDir: t.TempDir(),
		Now:     func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}, stdout, stderr
}

// runProbe runs the program with the probe command and a command line split at spaces.
func runProbe(t *testing.T, line string, vars map[string]string) result {
	env, stdout, stderr := testEnv(t, strings.Fields(line), vars)
	code := run(env, func(e *Env) []*cobra.Command { return []*cobra.Command{newProbeCmd(e)} })
	return result{code, stdout.String(), stderr.String()}
}

// newProbeCmd makes a command with everything the frame offers. It prints its arguments, and fails as --fail says.
func newProbeCmd(env *Env) *cobra.Command {
	var req struct {
		Model   string
		Devices []string
		TP      []int
		Action  string
		Scale   float64
		Fail    string
	}
	cmd := &cobra.Command{
		Use:     "probe MODEL",
		Short:   "Print the request",
		Long:    "Print the request that the flags make.\n\nA second paragraph.\n  indented stays",
		Example: "  plimsoll probe M --device A B",
		GroupID: groupPlan,
		Args:    modelArg,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.Model, err = theModel(cmd, args); err != nil {
				return err
			}
			switch req.Fail {
			case "panic":
				panic("the probe broke")
			case "worker":
				return pool.Each(cmd.Context(), 3, 2, func(int) { panic("the probe's worker broke") })
			case "plain":
				return withHint(errors.New("the probe failed"), "try without --fail")
			case "joined":
				return errors.Join(usagef("first problem"), withHint(usagef("second problem"), "mend it"))
			}
			env.Note("probed")
			return env.JSON(req)
		},
	}
	section(cmd.Flags(), "Hardware", func(fs *pflag.FlagSet) {
		nargs.ListVar(fs, &req.Devices, "device", nargs.OneOrMore, nargs.Text, "devices to plan for, by `name`")
		nargs.ListVar(fs, &req.TP, "tp-sizes", nargs.ZeroOrMore, nargs.Int,
			"tensor-parallel sizes to search, which is a long enough text to wrap in help; alone, all powers of two")
	})
	section(cmd.Flags(), "Numbers", func(fs *pflag.FlagSet) {
		req.Action = "DISABLED"
		nargs.Var(fs, &req.Action, "action", nargs.OneOf("DISABLED", "W8A8_DYNAMIC"), "quantization `action`")
		fs.Float64Var(&req.Scale, "scale", 1.5, "a number")
	})
	cmd.Flags().StringVar(&req.Fail, "fail", "", "how to fail")
	return cmd
}

func TestRequest(t *testing.T) {
	got := runProbe(t, "probe Qwen/Qwen3-32B --system A B --tp_sizes --action w8a8-dynamic --scale -2", nil)
	want := result{Stdout: `{
  "Model": "Qwen/Qwen3-32B",
  "Devices": [
    "A",
    "B"
  ],
  "TP": [],
  "Action": "W8A8_DYNAMIC",
  "Scale": -2,
  "Fail": ""
}
`, Stderr: "plimsoll: note: probed\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		line   string
		code   int
		stderr []string
	}{
		{"prboe M", 2, []string{`error: unknown command "prboe"`, `hint: did you mean "plimsoll probe"?`}},
		{"prboe --device A", 2, []string{`error: unknown command "prboe"`, `hint: did you mean "plimsoll probe"?`}},
		{"probe M --devcie A", 2, []string{"error: unknown flag --devcie for plimsoll probe", "hint: did you mean --device?"}},
		{"probe M --zzz", 2, []string{
			"error: unknown flag --zzz for plimsoll probe", `hint: "plimsoll probe --help" lists the flags`,
		}},
		{"probe M -z", 2, []string{
			"error: unknown flag -z for plimsoll probe", `hint: "plimsoll probe --help" lists the flags`,
		}},
		{"probe M --device", 2, []string{"error: --device needs at least one value"}},
		{"probe M --device --fail x", 2, []string{"error: --device needs at least one value"}},
		{"probe M --scale", 2, []string{"error: --scale needs a value"}},
		{"probe M --scale x", 2, []string{`error: invalid value "x" for --scale: want a number`}},
		{"probe M --scale 1e999", 2, []string{`error: invalid value "1e999" for --scale: out of range`}},
		{"probe M --tp-sizes 1 2.5", 2, []string{`error: invalid value "2.5" for --tp-sizes: want a whole number`}},
		{"probe M --action W8A8_DYNAMC", 2, []string{
			`error: invalid value "W8A8_DYNAMC" for --action: want one of DISABLED, W8A8_DYNAMIC`,
			"hint: did you mean W8A8_DYNAMIC?",
		}},
		{"probe", 2, []string{"error: plimsoll probe: no MODEL given", "hint: usage: plimsoll probe MODEL [flags]"}},
		{"probe --device A M", 2, []string{
			"error: plimsoll probe: no MODEL given", "hint: --device takes all words up to the next flag: put MODEL first",
		}},
		{"probe M N", 2, []string{`error: plimsoll probe: unexpected argument "N" after MODEL "M"`}},
		{"probe M --fail plain", 1, []string{"error: the probe failed", "hint: try without --fail"}},
		{"probe M --fail joined", 2, []string{"error: first problem", "error: second problem", "hint: mend it"}},
		{"probe M --fail panic", 70, []string{
			"internal error: the probe broke", "hint: this is a bug in plimsoll; PLIMSOLL_DEBUG=1 prints the stack",
		}},
		{"probe M --fail worker", 70, []string{
			"internal error: the probe's worker broke", "hint: this is a bug in plimsoll; PLIMSOLL_DEBUG=1 prints the stack",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			want := result{Code: tt.code}
			for _, line := range tt.stderr {
				want.Stderr += "plimsoll: " + line + "\n"
			}
			if d := cmp.Diff(want, runProbe(t, tt.line, nil)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestPanicShowsStackWhenAsked(t *testing.T) {
	for _, fail := range []string{"panic", "worker"} {
		got := runProbe(t, "probe M --fail "+fail, map[string]string{"PLIMSOLL_DEBUG": "1"})
		if got.Code != ExitInternal || !strings.Contains(got.Stderr, "frame_test.go") {
			t.Errorf("want code %d and a stack, got %d and %q", ExitInternal, got.Code, got.Stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	narrow := map[string]string{"COLUMNS": "72"}
	golden.Check(t, "testdata/help-command.golden", []byte(runProbe(t, "probe --help", narrow).Stdout))
	golden.Check(t, "testdata/help-root.golden", []byte(runProbe(t, "", nil).Stdout))
	if d := cmp.Diff(runProbe(t, "probe -h", nil), runProbe(t, "help probe", nil)); d != "" {
		t.Errorf("help probe (-probe -h +help probe):\n%s", d)
	}
}

// Completion of the second word of a list completes the list's flag.
func TestCompletionOfLists(t *testing.T) {
	env, stdout, _ := testEnv(t, []string{cobra.ShellCompNoDescRequestCmd, "probe", "M", "--device", "A", ""}, nil)
	run(env, func(e *Env) []*cobra.Command {
		cmd := newProbeCmd(e)
		err := cmd.RegisterFlagCompletionFunc("device", cobra.FixedCompletions([]string{"H200"}, cobra.ShellCompDirectiveNoFileComp))
		if err != nil {
			t.Fatal(err)
		}
		return []*cobra.Command{cmd}
	})
	if !strings.HasPrefix(stdout.String(), "H200\n") {
		t.Errorf("want H200, got %q", stdout)
	}
}

func TestProfiles(t *testing.T) {
	env, _, stderr := testEnv(t, strings.Fields("--cpuprofile cpu.prof probe M --memprofile mem.prof"), nil)
	if code := run(env, func(e *Env) []*cobra.Command { return []*cobra.Command{newProbeCmd(e)} }); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, name := range []string{"cpu.prof", "mem.prof"} {
		if data, err := env.ReadFile(name, bound.Record); err != nil || len(data) == 0 {
			t.Errorf("%s: want a profile, got %d bytes, %v", name, len(data), err)
		}
	}
}

// failingWriter is a full disk.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLostAnswerIsAnError(t *testing.T) {
	env, _, stderr := testEnv(t, []string{"version"}, nil)
	env.Stdout = failingWriter{}
	code := Main(env)
	if want := "plimsoll: error: writing the result: no space left\n"; code != ExitFailure || stderr.String() != want {
		t.Errorf("want %d and %q, got %d and %q", ExitFailure, want, code, stderr)
	}
}

func TestCreate(t *testing.T) {
	env, stdout, _ := testEnv(t, nil, nil)
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, _ = io.WriteString(w, text)
			return err
		}
	}
	check := func(name, want string) {
		t.Helper()
		got, err := env.ReadFile(name, bound.Record)
		if err != nil || string(got) != want {
			t.Errorf("%s: want %q, got %q, %v", name, want, got, err)
		}
	}
	if err := env.create("out", "a", write("one", nil)); err != nil {
		t.Fatal(err)
	}
	check("a", "one")
	if err := env.create("out", "a", write("half", errors.New("stop"))); err == nil {
		t.Error("want the error of the writing function")
	}
	check("a", "one")
	if err := env.create("out", "a", write("two", nil)); err != nil {
		t.Fatal(err)
	}
	check("a", "two")
	for link, to := range map[string]string{"link": "a", "dangling": "b"} {
		at := filepath.Join(env.WorkDir, link)
		if err := errors.Join(os.Symlink(to, at), env.create("out", link, write(link, nil))); err != nil {
			t.Fatal(err)
		}
		check(to, link)
		if got, err := os.Readlink(at); err != nil || got != to {
			t.Errorf("%s: want a link to %s, got %s, %v", link, to, got, err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(env.WorkDir, "b")); err != nil {
		t.Fatal(err)
	}
	if err := env.create("out", "-", write("out", nil)); err != nil || stdout.String() != "out" {
		t.Errorf("-: want the text on stdout, got %q, %v", stdout, err)
	}
	if err := env.create("out", ".", write("x", nil)); err == nil {
		t.Error("a directory: want an error")
	}
	entries, err := os.ReadDir(env.WorkDir)
	if err != nil || len(entries) != 1 {
		t.Errorf("want one entry left, got %v, %v", entries, err)
	}
}
