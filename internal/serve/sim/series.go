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

// series is the state at evenly spaced times. When it is full every second
// point is dropped and the spacing doubled.
type series struct {
	points []Point
	every  units.Seconds
	next   units.Seconds
}

func newSeries() series { return series{every: units.Millisecond, points: make([]Point, 0, maxPoints)} }

// sample records the state since the last event at all the times passed.
func (s *simulation) sample() {
	p := s.state()
	for s.series.next <= s.now {
		p.At = s.series.next
		s.series.add(p)
	}
}

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

// state sums up all replicas.
func (s *simulation) state() Point {
	var p Point
	held, total := 0, 0
	for i := range s.replicas {
		r := &s.replicas[i]
		p.Waiting += r.queued()
		p.Running += r.scheduler.running.n
		held += r.scheduler.kv.Held()
		total += r.scheduler.kv.Total()
	}
	p.KV = float64(held) / float64(total)
	return p
}
