package sim

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// clock is the time of a simulation.
type clock struct{ now units.Seconds }

// site is what the replicas of a simulation share.
type site struct {
	clock    *clock
	cluster  Cluster
	requests []request             // by identity
	gaps     *statistics.Histogram // between tokens
	link     *Link                 // from prefill to decode replicas; nil without them
	single   bool                  // every step is taken by itself; for tests
}

// role is which part of a request a replica computes.
type role int

const (
	wholeRequest role = iota // prompts, and the answers to them
	prefillOnly              // prompts, whose caches go to other replicas
	decodeOnly               // answers, to prompts whose caches come over a link
)

// newReplicas makes the replicas of a pool, the first of which has a place among all.
func newReplicas(replicas []replica, first int, settings *Engine, model Stepper, does role, around *site) {
	engine, recent := settings.normal(), new(stepMemo)
	decodes := does != prefillOnly
	admission, formation := admissionOf(&engine), formationOf(&engine)
	batches, stores := make([]microBatch, engine.Stages*len(replicas)), make([]blockStore, len(replicas))
	for i := range batches {
		batches[i] = microBatch{
			number: uint8(i % engine.Stages),
			decode: newDecodeSet(&engine, admission.Grows(), around.requests), gaps: gapMeter{all: around.gaps, requests: around.requests},
		}
	}
	line := queue{requests: around.requests}
	for i := range replicas {
		own := batches[i*engine.Stages : (i+1)*engine.Stages]
		stores[i] = newBlockStore(&engine)
		replicas[i] = replica{
			place: int32(first + i), index: i, does: does, cluster: around.cluster, single: around.single,
			device: device{stepper: model, launches: newLaunchQueue(settings, model, decodes), pipeline: newPipeline(model, engine.Stages), recent: recent},
			inbox:  inbox{incoming: line},
			scheduler: scheduler{
				engine: &engine, clock: around.clock, kv: &stores[i], admission: admission, formation: formation,
				decodes: decodes, tokensPerStep: engine.tokensPerStep(),
				waiting: line, running: running{requests: around.requests}, decodeQueue: decodeQueue{queue: line},
			},
		}
		replicas[i].scheduler.microBatch, replicas[i].scheduler.all = &own[0], own
		switch does {
		case prefillOnly:
			replicas[i].outbox = newOutbox(around.link)
		case decodeOnly:
			replicas[i].heldTokens = engine.Held
		}
	}
}
