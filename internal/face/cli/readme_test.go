package cli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// TestReadme runs the commands shown in the README and compares what they print
// with what it says they print. With -update it rewrites the README.
func TestReadme(t *testing.T) {
	const file = "../../../README.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const open, end = "```console\n$ plimsoll ", "```\n"
	text := string(data)
	var out strings.Builder
	commands := 0
	for {
		before, rest, ok := strings.Cut(text, open)
		out.WriteString(before)
		if !ok {
			break
		}
		command, rest, _ := strings.Cut(rest, "\n")
		_, after, ok := strings.Cut("\n"+rest, "\n"+end)
		if !ok {
			t.Fatalf("the block of %q does not end", command)
		}
		out.WriteString(open + command + "\n" + run(t, strings.Fields(command)) + end)
		text = after
		commands++
	}
	if commands < 5 {
		t.Errorf("the README shows %d commands, want at least 5", commands)
	}
	if golden.Update() {
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(data), out.String()); d != "" {
		t.Errorf("README.md (-said +printed); go test ./internal/face/cli -update rewrites it:\n%s", d)
	}
}

// run returns what a command line prints, and fails the test if it fails.
func run(t *testing.T, args []string) string {
	t.Helper()
	text, code, wrong := try(t, args)
	if code != 0 {
		t.Fatalf("plimsoll %s: exit %d: %s", strings.Join(args, " "), code, wrong)
	}
	return text
}

// answered runs a command that may report failures beside its answer.
func answered(t *testing.T, args []string) string {
	t.Helper()
	text, code, wrong := try(t, args)
	if code > 1 || text == "" {
		t.Fatalf("plimsoll %s: exit %d: %s", strings.Join(args, " "), code, wrong)
	}
	return text
}

// try runs a command.
func try(t *testing.T, args []string) (text string, code int, wrong string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Main(&cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, WorkDir: t.TempDir(), Now: time.Now,
	})
	return stdout.String(), code, stderr.String()
}
