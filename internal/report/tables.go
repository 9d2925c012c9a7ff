package report

import (
	"fmt"
	"io"

	"plimsoll/internal/app"
)

// TablesJSON is the measured kernels behind an answer.
type TablesJSON struct {
	Dir   string          `json:"dir"`
	Files []TableFileJSON `json:"files"`
	// Without are devices of which there are no tables. Only measured rows may be
	// of such.
	Without []string `json:"devices_without,omitempty"`
}

// TableFileJSON is what was taken of one table.
type TableFileJSON struct {
	Path     string `json:"path"`
	Kept     int    `json:"rows_kept"`
	Of       int    `json:"rows"`
	Rejected int    `json:"rows_rejected"`
	Distrust int    `json:"rows_distrusted"`
	Worst    string `json:"worst_rejected,omitempty"`
}

func newTablesJSON(u *app.TableUse) *TablesJSON {
	if u == nil {
		return nil
	}
	out := &TablesJSON{Dir: u.Dir, Files: []TableFileJSON{}, Without: u.Without}
	for i := range u.Files {
		f := &u.Files[i]
		out.Files = append(out.Files, TableFileJSON{f.Path, f.Rows, f.Of, f.Rejected, f.Distrust, f.Worst})
	}
	return out
}

// tables says which measured kernels were read.
func tables(w io.Writer, u *app.TableUse) {
	if u == nil {
		return
	}
	rows := 0
	for i := range u.Files {
		rows += u.Files[i].Rows
	}
	fmt.Fprintf(w, "Tables          %d rows of %d tables in %s\n", rows, len(u.Files), u.Dir)
	for i := range u.Files {
		f := &u.Files[i]
		fmt.Fprintf(w, "                %s: %d of %d rows\n", f.Path, f.Rows, f.Of)
	}
}
