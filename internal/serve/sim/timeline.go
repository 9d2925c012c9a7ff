package sim

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
	// minuteLong is how long frames are taken.
	timelineLength units.Seconds = 60
	// maxFrames bounds the frames; two a second can be followed.
	maxFrames = 120
	// maxWatched bounds the replicas; more are too many to follow.
	maxWatched = 8
)

// frame is a replica at one time.
type frame struct {
	waiting, prefill, decode, moving int
	kv                               float64
}

// timelineRecorder takes the frames. When it is full every second one is dropped and the spacing doubled.
type timelineRecorder struct {
	from, every, next units.Seconds
	watched           []*replica
	frames            []frame // of all that are watched, one time after the other
	pools             bool    // there are two
}

// newTimeline watches replicas, of both pools where there are two.
func newTimeline(workers, decode []replica) timelineRecorder {
	m := timelineRecorder{pools: len(decode) > 0}
	most := maxWatched
	if m.pools {
		most /= 2
	}
	for _, pool := range [][]replica{workers, decode} {
		for i := range pool[:min(most, len(pool))] {
			m.watched = append(m.watched, &pool[i])
		}
	}
	m.frames = make([]frame, 0, maxFrames*len(m.watched))
	m.start(0)
	return m
}

// start begins the minute at a time and drops what was seen before.
func (m *timelineRecorder) start(now units.Seconds) {
	if m.watched == nil {
		return
	}
	m.from, m.next, m.every, m.frames = now, now, units.Millisecond, m.frames[:0]
}

// look takes the frames of all times passed since the last event.
func (m *timelineRecorder) look(now units.Seconds) {
	for m.next <= now {
		for _, r := range m.watched {
			m.frames = append(m.frames, r.frame())
		}
		n := len(m.watched)
		if len(m.frames) == maxFrames*n {
			for i := range maxFrames / 2 {
				copy(m.frames[i*n:(i+1)*n], m.frames[2*i*n:])
			}
			m.frames = m.frames[:maxFrames/2*n]
			m.every *= 2
		}
		m.next = m.from + m.every*units.Seconds(len(m.frames)/n)
		if m.next > m.from+timelineLength {
			m.next = units.Seconds(math.Inf(1))
		}
	}
}

// role is what a replica is for.
func (m *timelineRecorder) role(r *replica) string {
	switch {
	case !m.pools:
		return "both"
	case r.scheduler.decodes:
		return "decode"
	}
	return "prefill"
}

// result is the minute; nil if nobody asked.
func (m *timelineRecorder) result() *Timeline {
	if m.watched == nil {
		return nil
	}
	n := len(m.watched)
	out := &Timeline{From: m.from, Every: m.every, Replicas: make([]ReplicaState, n)}
	for i, r := range m.watched {
		x := &out.Replicas[i]
		x.Role, x.Alike = m.role(r), 1
		for at := i; at < len(m.frames); at += n {
			f := &m.frames[at]
			x.Queued, x.Prefill, x.Decode, x.Moving = append(x.Queued, f.waiting), append(x.Prefill, f.prefill), append(x.Decode, f.decode), append(x.Moving, f.moving)
			x.KVUse = append(x.KVUse, math.Round(1000*f.kv)/1000) // a tenth of a per cent can be seen
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
