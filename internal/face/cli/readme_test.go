package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestReadme runs the commands shown in the README and in docs, and compares what
// they print with what the pages say. With -update it rewrites the pages. The
// commands of a page share a folder: one may read what another wrote.
func TestReadme(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, known := 0, memo()
	for _, file := range append(pages, "../../../README.md") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, n := replayPage(t, known, string(data))
		commands += n
		if golden.Update() {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(string(data), text); d != "" {
			t.Errorf("%s (-said +printed); go test ./internal/face/cli -run TestReadme -update rewrites it:\n%s", file, d)
		}
	}
	if commands < 20 {
		t.Errorf("the pages show %d commands, want at least 20", commands)
	}
}

// TestNamedCommands: commands that pages name without their output, in text and in other blocks, exist with all flags they have there.
func TestNamedCommands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("(?m)(?:`|^ {4}|^)plimsoll( [^`\n|>;&#]*)")
	help, commands := map[string]string{}, 0
	for _, file := range append(pages, "../../../README.md", "../../../CONTRIBUTING.md", "../../../python/README.md") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(data), -1) {
			words, _, _ := strings.Cut(m[1], " -- ") // what follows is another program's
			command, flags, _ := strings.Cut(words, " -")
			text, ok := help[command]
			if !ok {
				args := slices.DeleteFunc(strings.Fields(command), func(w string) bool { return w == "…" })
				var code int
				var wrong string
				if text, code, wrong = tryIn(t.TempDir(), nil, append(args, "--help")); code != 0 {
					t.Errorf("%s: plimsoll%s: %s", filepath.Base(file), command, wrong)
				}
				help[command] = text
			}
			commands++
			for word := range strings.FieldsSeq("-" + flags) {
				flag, _, _ := strings.Cut(word, "=")
				if strings.HasPrefix(flag, "--") && !regexp.MustCompile(regexp.QuoteMeta(flag)+`\b`).MatchString(text) {
					t.Errorf("%s: plimsoll%s has no %s", filepath.Base(file), command, flag)
				}
			}
		}
	}
	if commands < 100 {
		t.Errorf("the pages name %d commands, want at least 100", commands)
	}
}

// replayPage returns a page with what its commands print now, and their number.
func replayPage(t *testing.T, known *session.Memo, text string) (page string, commands int) {
	t.Helper()
	const open, end = "```console\n$ ", "```\n"
	var out strings.Builder
	for dir := t.TempDir(); ; commands++ {
		before, rest, ok := strings.Cut(text, open)
		out.WriteString(before)
		if !ok {
			return out.String(), commands
		}
		command, rest, _ := strings.Cut(rest, "\n")
		_, after, ok := strings.Cut("\n"+rest, "\n"+end)
		if !ok {
			t.Fatalf("the block of %q does not end", command)
		}
		out.WriteString(open + command + "\n" + shell(t, dir, known, command) + end)
		text = after
	}
}

// shell runs a command of a page in a folder: plimsoll or cat, then head, tail or
// sed, then perhaps a file to write to.
func shell(t *testing.T, dir string, known *session.Memo, command string) string {
	t.Helper()
	command, file, _ := strings.Cut(command, " > ")
	stages := strings.Split(command, " | ")
	words := strings.Fields(stages[0])
	var text string
	switch words[0] {
	case "plimsoll":
		out, code, wrong := tryIn(dir, known, words[1:])
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", command, code, wrong)
		}
		text = out
	case "cat":
		data, err := os.ReadFile(filepath.Join(dir, words[1]))
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	default:
		t.Fatalf("the pages run plimsoll and cat, not %q", command)
	}
	for _, filter := range stages[1:] {
		text = cut(t, text, filter)
	}
	if file != "" {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	return text
}

// cut returns the lines that a filter keeps: head -N, tail -N, or sed -n FROM,TOp.
func cut(t *testing.T, text, filter string) string {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	from, to := 1, len(lines)
	var n int
	switch {
	case scan(filter, "head -%d", &n):
		to = n
	case scan(filter, "tail -%d", &n):
		from = len(lines) - n + 1
	case scan(filter, "sed -n %d,%dp", &from, &to):
	default:
		t.Fatalf("unknown filter %q", filter)
	}
	from, to = max(from, 1), min(to, len(lines))
	if from > to {
		t.Fatalf("%s: nothing is left of %d lines", filter, len(lines))
	}
	return strings.TrimSuffix(strings.Join(lines[from-1:to], ""), "\n") + "\n"
}

// scan says whether a text has a format.
func scan(text, format string, values ...any) bool {
	n, err := fmt.Sscanf(text, format, values...)
	return err == nil && n == len(values)
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
func answered(t *testing.T, known *session.Memo, args []string) string {
	t.Helper()
	text, code, wrong := tryIn(t.TempDir(), known, args)
	if code > 1 || text == "" {
		t.Fatalf("plimsoll %s: exit %d: %s", strings.Join(args, " "), code, wrong)
	}
	return text
}

// try runs a command in a folder of its own.
func try(t *testing.T, args []string) (text string, code int, wrong string) {
	t.Helper()
	return tryIn(t.TempDir(), nil, args)
}

// tryIn runs a command in a folder.
func tryIn(dir string, known *session.Memo, args []string) (text string, code int, wrong string) {
	var stdout, stderr bytes.Buffer
	code = cli.Main(&cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, WorkDir: dir, Now: time.Now, Memo: known,
	})
	return stdout.String(), code, stderr.String()
}
