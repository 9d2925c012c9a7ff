package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
)

// versionInfo identifies the build of the program.
type versionInfo struct {
	Version  string `json:"version"`            // of the module, "(devel)" for a build outside a release
	Revision string `json:"revision,omitempty"` // of the source, if it was built in its repository
	Time     string `json:"time,omitempty"`     // of the revision
	Modified bool   `json:"modified,omitempty"` // the source differed from the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`

	Data []provenance.Entry `json:"data,omitempty"` // the data behind predictions, with --data
}

// newVersionCmd makes "plimsoll version".
func newVersionCmd(env *Env) *cobra.Command {
	var asJSON, data bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: groupAbout,
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return printVersion(env, asJSON, data) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&data, "data", false, "also list the embedded data, with hashes")
	return cmd
}

// printVersion prints the version of this binary.
func printVersion(env *Env, asJSON, data bool) error {
	info, _ := debug.ReadBuildInfo()
	v := versionOf(info)
	if data {
		v.Data = slices.DeleteFunc(provenance.Entries(), func(e provenance.Entry) bool {
			return strings.Contains(e.Path, "/testdata") || strings.HasPrefix(e.Path, "internal/face/")
		})
	}
	if asJSON {
		return env.JSON(v)
	}
	fmt.Fprintln(env.Stdout, v)
	for _, e := range v.Data {
		fmt.Fprintf(env.Stdout, "%s  %s\n", e.SHA256, e.Path)
	}
	return nil
}

// versionOf reads what the Go tool wrote into a binary; info is nil if it wrote nothing.
func versionOf(info *debug.BuildInfo) versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String prints one line.
func (v versionInfo) String() string {
	s := "plimsoll " + v.Version
	if v.Revision != "" {
		s += " " + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			s += " (modified)"
		}
	}
	return s + " " + v.Go + " " + v.Platform
}
