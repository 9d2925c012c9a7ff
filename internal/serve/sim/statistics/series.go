package statistics

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

// Series is the state at evenly spaced times. When it is full every second
// point is dropped and the spacing doubled.
type Series struct {
	Points []Point
	Next   units.Seconds // when the next point is due

	every units.Seconds
}

func newSeries() Series { return Series{every: units.Millisecond, Points: make([]Point, 0, maxPoints)} }

// Record adds the state since the last event at all the times passed.
func (s *Series) Record(p Point, now units.Seconds) {
	for s.Next <= now {
		p.At = s.Next
		s.add(p)
	}
}

func (s *Series) add(p Point) {
	s.Points = append(s.Points, p)
	if len(s.Points) == maxPoints {
		for i := range maxPoints / 2 {
			s.Points[i] = s.Points[2*i]
		}
		s.Points = s.Points[:maxPoints/2]
		s.every *= 2
	}
	s.Next = s.every * units.Seconds(len(s.Points))
}
