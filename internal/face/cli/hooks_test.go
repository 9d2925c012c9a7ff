package cli_test

import (
	stdjson "encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// runs runs the program in a directory.
func runs(dir string, args ...string) (code int, out, talk string) {
	var o, e strings.Builder
	code = cli.Main(&cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &o, Stderr: &e, Getenv: func(string) string { return "" }, WorkDir: dir, Now: time.Now,
	})
	return code, o.String(), e.String()
}

// bash runs a script with variables and returns what it prints.
func bash(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must writes a file.
func must(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

const (
	brokenLaunch = "#!/bin/bash\nvllm serve Qwen/Qwen3-8B --max-num-sequs 256\n"
	soundLaunch  = "kind: Pod\nspec: {containers: [{command: [vllm, serve, Qwen/Qwen3-8B]}]}\n"
)

// TestAction: the steps of action.yml, in a repository with a change, with a program that notes its arguments; the arguments
// are then given to this program.
func TestAction(t *testing.T) {
	data, err := os.ReadFile("../../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Steps []struct{ Name, Run, Uses string }
		}
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	step := map[string]string{}
	for _, s := range action.Runs.Steps {
		if s.Run == "" && s.Uses == "" {
			t.Errorf("step %q does nothing", s.Name)
		}
		step[s.Name] = s.Run
	}
	dir, temp := t.TempDir(), t.TempDir()
	must(t, filepath.Join(dir, "old.sh"), brokenLaunch, 0o600)
	commit := "git init -q . 2>/dev/null; git add -A && git -c user.name=x -c user.email=x@x commit -qm x && git rev-parse HEAD"
	base, err := bash(t, dir, commit)
	if err != nil {
		t.Fatalf("%v: %s", err, base)
	}
	must(t, filepath.Join(dir, "new file.sh"), brokenLaunch, 0o600)
	must(t, filepath.Join(dir, "deploy/pod.yaml"), soundLaunch, 0o600)
	must(t, filepath.Join(dir, "notes.txt"), "none", 0o600)
	if out, err := bash(t, dir, commit); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, filepath.Join(temp, "plimsoll"), "#!/bin/bash\nprintf '%s\\0' \"$@\" > \"$RUNNER_TEMP/args\"\nexit 1\n", 0o700)
	env := []string{"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"), "FILES=", "SEVERITY=error", "SYSTEM=h200_sxm", "BASE=" + strings.TrimSpace(base)}
	for _, name := range []string{"Files", "Lint"} {
		if out, err := bash(t, dir, step[name], env...); err != nil || out != "" {
			t.Fatalf("step %s: %v: %s", name, err, out)
		}
	}
	noted, err := os.ReadFile(filepath.Join(temp, "args"))
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(strings.TrimSuffix(string(noted), "\x00"), "\x00")
	if got, want := strings.Join(args, " "), "lint --each --static --severity error --system h200_sxm --format sarif ./deploy/pod.yaml ./new file.sh"; got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	code, out, talk := runs(dir, args...)
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID    string `json:"ruleId"`
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := stdjson.Unmarshal([]byte(out), &log); code != 1 || err != nil || len(log.Runs) != 1 || len(log.Runs[0].Results) == 0 {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, talk)
	}
	r := log.Runs[0].Results[len(log.Runs[0].Results)-2]
	if at := r.Locations[0].PhysicalLocation; r.RuleID != "PL001" || at.ArtifactLocation.URI != "new%20file.sh" || at.Region.StartLine != 2 {
		t.Errorf("%+v", log.Runs[0].Results)
	}
	outputs, _ := os.ReadFile(filepath.Join(temp, "output"))
	if !strings.Contains(string(outputs), "status=1\n") || !strings.Contains(string(outputs), "sarif="+temp) {
		t.Errorf("outputs: %s", outputs)
	}
	if _, err := bash(t, dir, step["Verdict"], "STATUS=1"); err == nil {
		t.Error("the job does not fail")
	}
	// No change, patterns, and a new branch.
	for files, want := range map[string]string{"*.txt": "notes.txt\x00", "old.sh new*": "new file.sh\x00old.sh\x00", "": "deploy/pod.yaml\x00new file.sh\x00old.sh\x00"} {
		if out, err := bash(t, dir, step["Files"], append(env, "FILES="+files, "BASE=0000000000000000000000000000000000000000")...); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, _ := os.ReadFile(filepath.Join(temp, "plimsoll-files")); string(got) != want {
			t.Errorf("%q: want %q, got %q", files, want, got)
		}
	}
	must(t, filepath.Join(temp, "plimsoll-files"), "", 0o600)
	if out, err := bash(t, dir, step["Lint"], env...); err != nil || out != "No file to check.\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestActionDiff: a saved plan that changed is compared with what it was, and the comparison is a comment; without a change there is none.
func TestActionDiff(t *testing.T) {
	data, err := os.ReadFile("../../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct{ Steps []struct{ Name, Run string } }
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	step := map[string]string{}
	for _, s := range action.Runs.Steps {
		step[s.Name] = s.Run
	}
	dir, temp := t.TempDir(), t.TempDir()
	commit := "git init -q . 2>/dev/null; git add -A && git -c user.name=x -c user.email=x@x commit -qm x && git rev-parse HEAD"
	must(t, filepath.Join(dir, "fleet/plan.json"), "one\n", 0o600)
	must(t, filepath.Join(dir, "other.json"), "one\n", 0o600)
	base, err := bash(t, dir, commit)
	if err != nil {
		t.Fatalf("%v: %s", err, base)
	}
	must(t, filepath.Join(temp, "plimsoll"), "#!/bin/bash\n[ \"$1\" = diff ] || exit 9\necho \"was $(cat \"$2\"), is $(cat \"$3\")\"\n", 0o700)
	env := []string{
		"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "PLANS=*plan.json",
		"BASE=" + strings.TrimSpace(base),
	}
	if out, err := bash(t, dir, step["Diff"], env...); err != nil || out != "" {
		t.Fatalf("no change: %v: %s", err, out)
	}
	if data, _ := os.ReadFile(filepath.Join(temp, "output")); len(data) > 0 {
		t.Errorf("no change: %s", data)
	}
	must(t, filepath.Join(dir, "fleet/plan.json"), "two\n", 0o600)
	must(t, filepath.Join(dir, "other.json"), "two\n", 0o600)
	if out, err := bash(t, dir, commit); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := bash(t, dir, step["Diff"], env...); err != nil || out != "" {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(temp, "plimsoll-plans.md"))
	if want := "### `fleet/plan.json`\n\n```text\nwas one, is two\n\n```\n\n"; err != nil || string(got) != want {
		t.Errorf("want %q, got %q (%v)", want, got, err)
	}
	if data, _ := os.ReadFile(filepath.Join(temp, "output")); !strings.HasPrefix(string(data), "comparison="+temp) {
		t.Errorf("outputs: %s", data)
	}
	// The comment is what gh is given.
	must(t, filepath.Join(temp, "gh"), "#!/bin/bash\necho \"$@\"\n", 0o700)
	out, err := bash(t, dir, step["Comment"], "PATH="+temp+":"+os.Getenv("PATH"), "PULL=7", "COMPARISON="+filepath.Join(temp, "plimsoll-plans.md"))
	if err != nil || !strings.HasPrefix(out, "pr comment 7 --body-file "+temp) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPreCommit: the commands of .pre-commit-hooks.yaml fail for a broken file, pass over one that starts nothing, and correct one.
func TestPreCommit(t *testing.T) {
	data, err := os.ReadFile("../../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry, Language string }
	if err := yaml.Unmarshal(data, &hooks); err != nil || len(hooks) != 2 {
		t.Fatalf("%v: %v", hooks, err)
	}
	dir := t.TempDir()
	must(t, filepath.Join(dir, "run.sh"), brokenLaunch, 0o600)
	must(t, filepath.Join(dir, "ci.yaml"), "jobs: {}\n", 0o600)
	for i, want := range []int{1, 0} {
		words := strings.Fields(hooks[i].Entry)
		if words[0] != "plimsoll" {
			t.Fatalf("%s runs %s", hooks[i].ID, words[0])
		}
		if code, out, talk := runs(dir, append(words[1:], "run.sh", "ci.yaml")...); code != want {
			t.Errorf("%s: exit %d: %s%s", hooks[i].ID, code, out, talk)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "run.sh")); string(text) != strings.Replace(brokenLaunch, "sequs", "seqs", 1) {
		t.Errorf("corrected to %s", text)
	}
}
