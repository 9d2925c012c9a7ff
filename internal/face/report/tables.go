package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
)

// tables lists the kernel tables that were read.
func tables(w io.Writer, u *prices.Use) {
	if u == nil {
		return
	}
	rows := 0
	for i := range u.Files {
		rows += u.Files[i].Rows
	}
	fmt.Fprintf(w, "Tables          %d rows from %d kernel tables in %s\n", rows, len(u.Files), u.Dir)
	for i := range u.Files {
		f := &u.Files[i]
		fmt.Fprintf(w, "                %s: %d of %d rows\n", f.Path, f.Rows, f.Of)
	}
}
