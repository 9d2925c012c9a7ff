package cli_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestMain lets the test binary stand in for the program in scripts that need a process.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"process": asProcess,
	})
}

// TestScripts runs testdata/script/*.txtar: whole command lines, what they print and how they exit. "plimsoll ARGS..."
// runs inside the test, "exec process ARGS..." is a process of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       golden.Update(),
		Setup: func(env *testscript.Env) error {
			// The race detector lets every process sleep a second before it exits.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Values[memoKey{}] = memo()
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"plimsoll": succeeds,
			"exits":    exits,
			"refuses":  refuses,
			"tables":   tables,
			"row":      row,
			"damage":   damage,
		},
	})
}

// memo remembers simulations, for tests that ask the same question several times; answers do not depend on it.
func memo() *session.Memo { return &session.Memo{Size: 4096} }

// memoKey is the key of a script's memo.
type memoKey struct{}

// program runs the program inside a script and returns how it ends and what it prints.
func program(ts *testscript.TestScript, args []string) (code int, stdout, stderr string) {
	var out, talk bytes.Buffer
	code = cli.Main(&cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk,
		Getenv: ts.Getenv, WorkDir: ts.MkAbs("."), Now: time.Now, Memo: ts.Value(memoKey{}).(*session.Memo),
	})
	fmt.Fprint(ts.Stdout(), out.String())
	fmt.Fprint(ts.Stderr(), talk.String())
	return code, out.String(), talk.String()
}

// succeeds is the script command "plimsoll ARGS...".
func succeeds(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("use exits or refuses, which say how it fails")
	}
	if code, _, _ := program(ts, args); code != 0 {
		ts.Fatalf("exit code %d", code)
	}
}

// exits is the script command "exits CODE plimsoll ARGS...": the exit code it must end with.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "plimsoll" {
		ts.Fatalf("usage: exits CODE plimsoll ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got, _, _ := program(ts, args[2:]); got != want {
		ts.Fatalf("exit code: want %d, got %d", want, got)
	}
}

// refuses is the script command "refuses MESSAGE plimsoll ARGS...": the program exits with 2, prints no answer, and says
// MESSAGE in its one line of error; hints may follow.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "plimsoll" {
		ts.Fatalf("usage: refuses MESSAGE plimsoll ARGS...")
	}
	code, answer, talk := program(ts, args[2:])
	switch {
	case code != cli.ExitUsage:
		ts.Fatalf("exit code: want %d, got %d", cli.ExitUsage, code)
	case answer != "":
		ts.Fatalf("bad input has an answer: %q", answer)
	}
	said := strings.Split(strings.TrimSuffix(talk, "\n"), "\n")
	if want := "plimsoll: error: " + args[0]; said[0] != want {
		ts.Fatalf("(-want +got)\n-%s\n+%s", want, said[0])
	}
	for _, line := range said[1:] {
		if !strings.HasPrefix(line, "plimsoll: hint: ") {
			ts.Fatalf("more than one error: %s", line)
		}
	}
}

// damage is the script command "damage FILE OLD NEW": it replaces one text in a file by another.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: damage FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, args[1]) != 1 {
		ts.Fatalf("%q is in %s %d times", args[1], args[0], strings.Count(text, args[1]))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

// row is the script command "row RESULT FILE": it writes the deployment of the first row of a result of "plimsoll cli".
func row(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: row RESULT FILE")
	}
	var result struct {
		Experiments []struct {
			Rows []struct{ Deployment stdjson.RawMessage }
		}
	}
	ts.Check(stdjson.Unmarshal([]byte(ts.ReadFile(args[0])), &result))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), result.Experiments[0].Rows[0].Deployment, 0o600))
}
