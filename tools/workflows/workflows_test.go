package workflows

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"
)

const root = "../.."

// actionlint finds nothing: keys, expressions, contexts, the inputs of known actions.
func TestWorkflowsAreSound(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("found %v (%v)", files, err)
	}
	l, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.LintFiles(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		t.Error(e)
	}
}

// steps are the shell of a workflow by name.
func steps(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	type step struct{ Name, Run string }
	var w struct {
		Jobs map[string]struct{ Steps []step }
		Runs struct{ Steps []step }
	}
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range w.Runs.Steps {
		out[s.Name] = s.Run
	}
	for _, j := range w.Jobs {
		for _, s := range j.Steps {
			out[s.Name] = s.Run
		}
	}
	delete(out, "")
	return out
}

// Bash can read every step.
func TestShellIsReadable(t *testing.T) {
	for _, name := range []string{"action.yml", ".github/workflows/ci.yml", ".github/workflows/release.yml"} {
		for step, run := range steps(t, name) {
			if out, err := exec.Command("bash", "-n", "-c", run).CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v: %s", name, step, err, out)
			}
		}
	}
	for _, name := range []string{"packaging/check.sh", "packaging/prepare.sh"} {
		if out, err := exec.Command("bash", "-n", filepath.Join(root, name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// A release needs a tag that is a version and a section of the changelog.
func TestTags(t *testing.T) {
	run := steps(t, ".github/workflows/release.yml")["The tag is a semantic version that the changelog has"]
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte("# Changelog\n\n## 1.2.0\n\n## 1.2.0-rc.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{
		"v1.2.0": "", "v1.2.0-rc.1": "", "v1.3.0": "no section 1.3.0", "v1.2": "not a version", "1.2.0": "not a version", "v1.2.0-x": "not a version",
	} {
		cmd := exec.Command("bash", "-e", "-c", run)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GITHUB_REF_NAME="+tag)
		out, err := cmd.CombinedOutput()
		if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
			t.Errorf("%s: want %q, got %v: %s", tag, want, err, out)
		}
	}
}

// The forms of issues have what the code host needs of them.
func TestIssueForms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/ISSUE_TEMPLATE/*.yml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("found %v (%v)", files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct{ Label string }
			}
		}
		if err := yaml.Unmarshal(data, &form); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if filepath.Base(name) == "config.yml" {
			continue
		}
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: %+v", name, form)
		}
		for _, b := range form.Body {
			if b.Type == "" || b.Attributes.Label == "" {
				t.Errorf("%s: %+v", name, b)
			}
		}
	}
}
