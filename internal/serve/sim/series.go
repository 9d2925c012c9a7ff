package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Point is the state of a cluster at one time.
type Point struct {
	At      units.Seconds
	Waiting int     // requests no scheduler has admitted
	Running int     // requests that are prefilled or generate
	KV      float64 // share of the blocks that requests hold
}

// maxPoints bounds a series.
const maxPoints = 512

// recorder is what is noted of a simulation while it runs.
type recorder struct {
	series   series
	timeline timelineRecorder
	inFlight inFlightMeter
	last     Levels    // requests in flight until the last one of a trace
	gaps     histogram // between tokens
	records  []Record  // of a run without end, if requested
}

// series is the state at evenly spaced times. When it is full every second
// point is dropped and the spacing doubled.
type series struct {
	points []Point
	every  units.Seconds
	next   units.Seconds
}

func newSeries() series { return series{every: units.Millisecond, points: make([]Point, 0, maxPoints)} }

func (s *series) add(p Point) {
	s.points = append(s.points, p)
	if len(s.points) == maxPoints {
		for i := range maxPoints / 2 {
			s.points[i] = s.points[2*i]
		}
		s.points = s.points[:maxPoints/2]
		s.every *= 2
	}
	s.next = s.every * units.Seconds(len(s.points))
}
