package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/provenance"
)

// versionInfo identifies the build of the program.
type versionInfo struct {
	Version  string `json:"version"`            // of the module, "(devel)" for a build outside a release
	Revision string `json:"revision,omitempty"` // of the source, if it is known
	Time     string `json:"time,omitempty"`     // of the revision
	Modified bool   `json:"modified,omitempty"` // the source differed from the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`

	Data     []provenance.Entry `json:"data,omitempty"`     // the data behind predictions
	Releases []knownReleases    `json:"releases,omitempty"` // of engines
}

// knownReleases are the releases of an engine whose flags and keys the program knows.
type knownReleases struct {
	Engine   string   `json:"engine"`
	Newest   string   `json:"newest"`
	Date     string   `json:"date"` // of the newest
	Versions []string `json:"versions"`
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the embedded data and the releases of engines")
	cmd.Flags().BoolVar(&data, "data", false, "also list the embedded data, with dates and hashes")
	return cmd
}

// printVersion prints the version of this binary.
func printVersion(env *Env, asJSON, data bool) error {
	v := env.version()
	if asJSON || data {
		v.Data, v.Releases = provenance.Shipped(), releasesKnown()
	}
	if asJSON {
		return env.JSON(v)
	}
	fmt.Fprintln(env.Stdout, v)
	for _, e := range v.Data {
		fmt.Fprintf(env.Stdout, "%s  %s  %s\n", e.SHA256, e.Date, e.Path)
	}
	return nil
}

// releasesKnown lists the engines, and Dynamo, that have a table of releases.
func releasesKnown() []knownReleases {
	var out []knownReleases
	for _, name := range engine.Released() {
		all := engine.Releases(name)
		known := knownReleases{Engine: name, Newest: all[len(all)-1].Version, Date: all[len(all)-1].Date}
		for _, r := range all {
			known.Versions = append(known.Versions, r.Version)
		}
		out = append(out, known)
	}
	return out
}

// version is that of this binary.
func (e *Env) version() versionInfo {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info, e.Build)
}

// programVersion is the version of this build in documents.
func (e *Env) programVersion() string {
	v := e.version()
	if v.Revision == "" {
		return v.Version
	}
	return fmt.Sprintf("%s (%s)", v.Version, v.Revision)
}

// versionOf reads what the linker was given, and what the Go tool wrote into a binary; info is nil if it wrote nothing.
func versionOf(info *debug.BuildInfo, b Build) versionInfo {
	v := versionInfo{Version: b.Version, Revision: b.Revision, Time: b.Time, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info != nil {
		v.Version = cmp.Or(v.Version, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = cmp.Or(v.Revision, s.Value)
			case "vcs.time":
				v.Time = cmp.Or(v.Time, s.Value)
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	v.Version = cmp.Or(v.Version, "(devel)")
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
