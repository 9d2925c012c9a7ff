package cli

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// writeManPages writes the manual pages of a command and those below it into a directory. Their date is that of the source, so
// that the same source gives the same pages.
func writeManPages(env *Env, dir string, cmd *cobra.Command) error {
	pages := map[string]*cobra.Command{}
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		c.DisableAutoGenTag = true
		pages[strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"] = c
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				collect(below)
			}
		}
	}
	collect(cmd)
	made, err := time.Parse(time.RFC3339, cmp.Or(env.Build.Time, "1970-01-01T00:00:00Z"))
	if err != nil {
		return err
	}
	return env.createAll("man-dir", dir, slices.Sorted(maps.Keys(pages)), func(name string, w io.Writer) error {
		return doc.GenMan(pages[name], &doc.GenManHeader{Section: "1", Date: &made, Source: "Plimsoll", Manual: "Plimsoll manual"}, w)
	})
}
