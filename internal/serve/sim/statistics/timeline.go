package statistics

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Timeline is what replicas do over a minute of a run, or over the run if it is shorter, in at most 120 frames that are evenly spaced. In
// steady state it begins after the warm-up. Of many replicas it has the first eight, of two pools the first four of each.
type Timeline struct {
	From     units.Seconds  `json:"from_s"` // in the run
	Every    units.Seconds  `json:"every_s"`
	Replicas []ReplicaState `json:"replicas"`
}

// ReplicaState is a replica, a value for each frame.
type ReplicaState struct {
	Role string `json:"role"` // prefill, decode or both
	// Alike is the number of replicas that do the same at the same time.
	Alike int `json:"alike"`
	// Queued are requests that wait for the scheduler, Prefill those whose prompts are computed, Decode those that generate, and
	// Moving those whose KV cache is on the way to a decode replica.
	Queued  []int `json:"queued"`
	Prefill []int `json:"prefill"`
	Decode  []int `json:"decode"`
	Moving  []int `json:"moving"`
	// KVUse is the share of the KV cache that requests hold.
	KVUse []float64 `json:"kv_use"`
}

const (
	// timelineLength is how long frames are taken.
	timelineLength units.Seconds = 60
	// maxFrames bounds the frames; two a second can be followed.
	maxFrames = 120
	// maxWatched bounds the replicas; more are too many to follow.
	maxWatched = 8
)

// Frame is a replica at one time: its requests by what they wait for, and the share of its KV blocks that they hold.
type Frame struct {
	Queued, Prefill, Decode, Moving int
	KVUse                           float64
}

// Watched is a replica that a timeline watches.
type Watched struct {
	Role    string // prefill, decode or both
	Replica interface{ Frame() Frame }
}

// TimelineRecorder takes the frames. When it is full every second one is dropped and the spacing doubled.
type TimelineRecorder struct {
	Next units.Seconds // when the next frames are due

	from, every units.Seconds
	watched     []Watched
	frames      []Frame // of all that are watched, one time after the other
}

// WatchReplicas watches the first replicas of each pool; without any it never takes a frame.
func WatchReplicas(pools ...[]Watched) TimelineRecorder {
	m := TimelineRecorder{Next: units.Seconds(math.Inf(1))}
	for _, pool := range pools {
		m.watched = append(m.watched, pool[:min(maxWatched/len(pools), len(pool))]...)
	}
	m.frames = make([]Frame, 0, maxFrames*len(m.watched))
	m.start(0)
	return m
}

// start begins the timeline at a time and drops what was seen before.
func (m *TimelineRecorder) start(now units.Seconds) {
	if m.watched == nil {
		return
	}
	m.from, m.Next, m.every, m.frames = now, now, units.Millisecond, m.frames[:0]
}

// Look takes the frames of all times passed since the last event.
func (m *TimelineRecorder) Look(now units.Seconds) {
	for m.Next <= now {
		for _, r := range m.watched {
			m.frames = append(m.frames, r.Replica.Frame())
		}
		n := len(m.watched)
		if len(m.frames) == maxFrames*n {
			for i := range maxFrames / 2 {
				copy(m.frames[i*n:(i+1)*n], m.frames[2*i*n:])
			}
			m.frames = m.frames[:maxFrames/2*n]
			m.every *= 2
		}
		m.Next = m.from + m.every*units.Seconds(len(m.frames)/n)
		if m.Next > m.from+timelineLength {
			m.Next = units.Seconds(math.Inf(1))
		}
	}
}

// Result is the timeline; nil if nobody asked.
func (m *TimelineRecorder) Result() *Timeline {
	if m.watched == nil {
		return nil
	}
	n := len(m.watched)
	out := &Timeline{From: m.from, Every: m.every, Replicas: make([]ReplicaState, n)}
	for i, r := range m.watched {
		x := &out.Replicas[i]
		x.Role, x.Alike = r.Role, 1
		for at := i; at < len(m.frames); at += n {
			f := &m.frames[at]
			x.Queued, x.Prefill, x.Decode, x.Moving = append(x.Queued, f.Queued), append(x.Prefill, f.Prefill), append(x.Decode, f.Decode), append(x.Moving, f.Moving)
			x.KVUse = append(x.KVUse, math.Round(1000*f.KVUse)/1000) // a tenth of a per cent can be seen
		}
	}
	return out
}

// WriteCSV writes the frames, one line for each replica and time; alike is the number of replicas that a line stands for.
func (m *Timeline) WriteCSV(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "second,replica,role,queued,prefill,decode,moving,kv_use,alike")
	for i := range m.Replicas {
		r := &m.Replicas[i]
		for at := range r.Queued {
			fmt.Fprintf(b, "%.4g,%d,%s,%d,%d,%d,%d,%g,%d\n", float64(m.Every)*float64(at), i+1, r.Role, r.Queued[at], r.Prefill[at], r.Decode[at], r.Moving[at], r.KVUse[at], r.Alike)
		}
	}
	return b.Flush()
}
