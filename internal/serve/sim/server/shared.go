package server

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// Clock is the time of a simulation.
type Clock struct{ Now units.Seconds }

// Shared is what the replicas of a simulation share.
type Shared struct {
	Clock      *Clock
	Cluster    Cluster
	Requests   []Request             // by identity
	Gaps       *statistics.Histogram // between tokens
	Link       *Link                 // from prefill to decode replicas; nil without them
	StepByStep bool                  // every step is taken by itself; for tests
}

// Role is which part of a request a replica computes.
type Role int

// The roles.
const (
	WholeRequest Role = iota // prompts, and the answers to them
	PrefillOnly              // prompts, whose caches go to other replicas
	DecodeOnly               // answers, to prompts whose caches come over a link
)

// NewReplicas makes the replicas of a pool, the first of which has a place among all.
func NewReplicas(replicas []Replica, first int, settings *Engine, model Stepper, does Role, around *Shared) {
	engine, recent := settings.WithDefaults(), new(stepMemo)
	decodes := does != PrefillOnly
	admission, formation := admissionOf(&engine), formationOf(&engine)
	batches, stores := make([]microBatch, engine.Stages*len(replicas)), make([]blockStore, len(replicas))
	for i := range batches {
		batches[i] = microBatch{
			number: uint8(i % engine.Stages),
			decode: newDecodeSet(&engine, admission.Grows(), around.Requests), gaps: gapMeter{all: around.Gaps, requests: around.Requests},
		}
	}
	line := queue{requests: around.Requests}
	for i := range replicas {
		own := batches[i*engine.Stages : (i+1)*engine.Stages]
		stores[i] = newBlockStore(&engine)
		replicas[i] = Replica{
			Place: int32(first + i), Index: i, does: does, cluster: around.Cluster, single: around.StepByStep,
			device: device{stepper: model, launches: newLaunchQueue(settings, model, decodes), pipeline: newPipeline(model, engine.Stages), recent: recent},
			inbox:  inbox{incoming: line},
			scheduler: scheduler{
				engine: &engine, clock: around.Clock, kv: &stores[i], admission: admission, formation: formation,
				decodes: decodes, tokensPerStep: engine.TokensPerStep(),
				waiting: line, running: running{requests: around.Requests}, decodeQueue: decodeQueue{queue: line},
			},
		}
		replicas[i].scheduler.microBatch, replicas[i].scheduler.all = &own[0], own
		switch does {
		case PrefillOnly:
			replicas[i].outbox = newOutbox(around.Link)
		case DecodeOnly:
			replicas[i].heldTokens = engine.Held
		case WholeRequest:
		}
	}
}
