package document

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// Tables is the measured kernels behind an answer.
type Tables struct {
	Dir   string      `json:"dir"`
	Files []TableFile `json:"files"`
	// Without are devices of which there are no tables. Only measured rows may be
	// of such.
	Without []string `json:"devices_without,omitempty"`
}

// TableFile is what was taken of one table.
type TableFile struct {
	Path     string `json:"path"`
	Kept     int    `json:"rows_kept"`
	Of       int    `json:"rows"`
	Rejected int    `json:"rows_rejected"`
	Distrust int    `json:"rows_distrusted"`
	Worst    string `json:"worst_rejected,omitempty"`
}

func tablesOf(u *prices.Use) *Tables {
	if u == nil {
		return nil
	}
	out := &Tables{Dir: u.Dir, Files: []TableFile{}, Without: u.Without}
	for i := range u.Files {
		f := &u.Files[i]
		out.Files = append(out.Files, TableFile{f.Path, f.Rows, f.Of, f.Rejected, f.Distrust, f.Worst})
	}
	return out
}

// Interval is an 80 % interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// interval is null for a quantity there is none of.
func interval(e calibration.Error, predicted float64) *Interval {
	if predicted == 0 {
		return nil
	}
	low, high := e.Interval(predicted)
	return &Interval{low, high}
}
