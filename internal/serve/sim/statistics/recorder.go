package statistics

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Recorder is what is noted of a simulation while it runs.
type Recorder struct {
	Series   Series
	Timeline TimelineRecorder
	InFlight InFlight
	Gaps     Histogram // between the tokens of a request
	Records  []Record  // of a run without end, if requested
}

// NewRecorder makes a recorder that watches no replica.
func NewRecorder() Recorder { return Recorder{Series: newSeries(), Timeline: WatchReplicas()} }

// BeginWindow forgets what was noted before the window, but for the series; the records so far are of the warm-up.
func (r *Recorder) BeginWindow(now units.Seconds) {
	r.Timeline.start(now)
	for i := range r.Records {
		r.Records[i].Warmup = true
	}
	r.InFlight.restart(now)
	r.Gaps = Histogram{}
}
