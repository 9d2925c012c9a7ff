package simulate

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
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

func timelineOf(m *sim.Minute) *Timeline {
	if m == nil {
		return nil
	}
	out := &Timeline{From: m.From, Every: m.Every, Replicas: []ReplicaState{}}
	for i := range m.Replicas {
		x := &m.Replicas[i]
		out.Replicas = append(out.Replicas, ReplicaState{x.Role, x.Alike, x.Waiting, x.Prefill, x.Decode, x.Moving, x.KV})
	}
	return out
}
