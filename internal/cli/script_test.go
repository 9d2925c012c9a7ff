package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/cli"
	"plimsoll/internal/golden"
)

// TestMain lets the test binary stand in for the program in scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"plimsoll": func() { os.Exit(cli.Main(cli.OSEnv())) },
	})
}

// TestScripts runs testdata/script/*.txtar: whole command lines, what they print and how they exit.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       golden.Update(),
		Setup: func(env *testscript.Env) error {
			// The race detector lets every process sleep a second before it exits, and the scripts run hundreds.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"refuses": refuses,
			"tables":  tables,
		},
	})
}

// exits is the script command "exits CODE PROGRAM ARGS...": exec, with the exit code it must end with.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code: want %d, got %d", want, got)
	}
}

// refuses is the script command "refuses MESSAGE PROGRAM ARGS...": the program exits with 2, prints no answer, and says
// MESSAGE in its one line of error; hints may follow.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refuses MESSAGE PROGRAM ARGS...")
	}
	exits(ts, false, append([]string{strconv.Itoa(cli.ExitUsage)}, args[1:]...))
	if answer := ts.ReadFile("stdout"); answer != "" {
		ts.Fatalf("bad input has an answer: %q", answer)
	}
	said := strings.Split(strings.TrimSuffix(ts.ReadFile("stderr"), "\n"), "\n")
	if want := "plimsoll: error: " + args[0]; said[0] != want {
		ts.Fatalf("(-want +got)\n-%s\n+%s", want, said[0])
	}
	for _, line := range said[1:] {
		if !strings.HasPrefix(line, "plimsoll: hint: ") {
			ts.Fatalf("more than one error: %s", line)
		}
	}
}
