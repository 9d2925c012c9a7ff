package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	fits "github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/measure"
)

// diagnosis is what doctor found.
type diagnosis struct {
	Version versionInfo `json:"version"`
	Checks  []checkup   `json:"checks"`
}

// checkup is one thing that was looked at. Only "fail" keeps the program from working.
type checkup struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, note or fail
	Detail string `json:"detail"`
}

// newDoctorCmd makes "plimsoll doctor".
func newDoctorCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check the installation",
		GroupID: groupAbout,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			d := diagnosis{env.version(), []checkup{
				checkBuild(env), checkData(provenance.Entries(), shippedFiles()), checkHub(env), checkFolder(env), checkTerminal(env), checkBrowser(env), checkEngines(env),
			}}
			if err := show(env, asJSON, &d, printDiagnosis); err != nil {
				return err
			}
			for _, c := range d.Checks {
				if c.Status == "fail" {
					return fmt.Errorf("doctor: %s: %s", c.Check, c.Detail)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printDiagnosis prints a line for each check.
func printDiagnosis(w io.Writer, d *diagnosis) {
	for _, c := range d.Checks {
		fmt.Fprintf(w, "%-5s %-9s %s\n", c.Status, c.Check, c.Detail)
	}
}

// checkBuild says which build this is.
func checkBuild(env *Env) checkup {
	v := env.version()
	c := checkup{"program", "ok", strings.TrimPrefix(v.String(), "plimsoll ") + ", " + units.Counted(runtime.NumCPU(), "core")}
	if v.Modified || v.Version == "(devel)" {
		c.Status, c.Detail = "note", c.Detail+"; not a release"
	}
	return c
}

// shippedFiles are the data behind predictions, by package.
func shippedFiles() map[string]embedded.Files {
	return map[string]embedded.Files{
		"internal/compat/nvidia":   nvidia.Embedded(),
		"internal/cost/calibrated": calibrated.Embedded(), "internal/cost/power": power.Embedded(), "internal/cost/table": table.Embedded(),
		"internal/describe/device": device.Embedded(), "internal/describe/draft": draft.Embedded(), "internal/describe/engine": engine.Embedded(),
		"internal/describe/model": model.Embedded(), "internal/describe/workload": workload.Embedded(), "internal/evidence/calibration": fits.Embedded(),
		"internal/evidence/measured": measured.Embedded(), "internal/ops/lint": lint.Embedded(), "internal/ops/measure": measure.Embedded(),
	}
}

// checkData compares the embedded data with the hashes of the manifest: a build with other data gives other answers.
func checkData(entries []provenance.Entry, files map[string]embedded.Files) checkup {
	same, other := 0, []string{}
	for _, e := range entries {
		for dir, f := range files {
			name, ok := strings.CutPrefix(e.Path, dir+"/")
			if !ok {
				continue
			}
			if hash, found := f.Hash(name); found && hash == e.SHA256 {
				same++
			} else if found {
				other = append(other, e.Path)
			}
		}
	}
	if len(other) > 0 || same == 0 {
		return checkup{"data", "fail", fmt.Sprintf("%s differ from the release: %s", units.Counted(len(other), "data set"), strings.Join(other, ", "))}
	}
	return checkup{"data", "ok", units.Counted(same, "data set") + " with the hashes of the release"}
}

// checkHub looks for the cache that models outside the catalog come from.
func checkHub(env *Env) checkup {
	dir := plimsoll.HubCache(env.Getenv)
	if dir == "" {
		return checkup{"cache", "note", "no Hugging Face cache: HF_HUB_CACHE, HF_HOME and the home directory are not set; models outside the catalog need a config.json"}
	}
	found, err := filepath.Glob(filepath.Join(env.path(dir), "models--*"))
	if err != nil || len(found) == 0 {
		return checkup{"cache", "note", "no models in the Hugging Face cache " + dir + "; models outside the catalog need a config.json"}
	}
	return checkup{"cache", "ok", fmt.Sprintf("%s in the Hugging Face cache %s", units.Counted(len(found), "model"), dir)}
}

// checkFolder tries to write where --out and --save-dir would.
func checkFolder(env *Env) checkup {
	if err := env.disk().TryIn(env.path(".")); err != nil {
		return checkup{"folder", "note", fmt.Sprintf("the working directory is not writable: %v", err)}
	}
	return checkup{"folder", "ok", "the working directory is writable"}
}

// checkTerminal says how results are shown.
func checkTerminal(env *Env) checkup {
	if !env.IsTerminal(env.Stdout) {
		return checkup{"terminal", "note", "standard output is not a terminal: no colours, no dialogue, no wrapping"}
	}
	detail := units.Counted(env.Width(), "column")
	if !env.Color(env.Stdout) {
		detail += ", no colours (NO_COLOR or TERM=dumb)"
	}
	return checkup{"terminal", "ok", detail}
}

// checkBrowser looks for a program that opens the pages.
func checkBrowser(env *Env) checkup {
	if runtime.GOOS != "linux" {
		return checkup{"browser", "ok", "the system opens report.html and the page of plimsoll serve"}
	}
	if at := look(env, "xdg-open", "firefox", "chromium", "chromium-browser", "google-chrome"); at != "" {
		return checkup{"browser", "ok", at + " opens report.html and the page of plimsoll serve"}
	}
	return checkup{"browser", "note", "no browser found: open report.html and the page of plimsoll serve on another machine"}
}

// checkEngines looks for engines, which plans do not need.
func checkEngines(env *Env) checkup {
	var found []string
	for _, name := range []string{"vllm", "sglang", "trtllm-serve"} {
		if at := look(env, name); at != "" {
			found = append(found, at)
		}
	}
	if len(found) == 0 {
		return checkup{"engines", "ok", "none installed; plans do not need one"}
	}
	return checkup{"engines", "ok", "found " + strings.Join(found, ", ")}
}

// look finds the first of some programs in the PATH.
func look(env *Env, names ...string) string {
	for _, name := range names {
		for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
			at := filepath.Join(dir, name)
			if info, err := os.Stat(at); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				return at
			}
		}
	}
	return ""
}
