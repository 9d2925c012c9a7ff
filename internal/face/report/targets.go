package report

import (
	"io"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// Targets prints the targets of deployment files, a line for each.
func Targets(w io.Writer, all []files.About) {
	t := table.New("target", "files", "written for", "engines")
	for _, a := range all {
		t.Row(string(a.Target), a.Files, a.For, a.Engines)
	}
	put(w, t, "")
}
