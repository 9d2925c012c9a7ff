// Package server simulates one replica of an engine: its API server, the inbox of its scheduler, the scheduler, the KV store, and the
// device on which steps run.
//
// In: requests, one after the other ([Replica.Deliver]), the settings of the [Engine], and a [Stepper] that says how long a step of a given
// [Batch] takes. Out: when each request got its first and its last token, told to a [Cluster] together with the ends of steps that are to
// come. It knows neither models nor devices, nor who sends requests and why; it has no events of its own and reads no clock.
//
// # Where to start reading
//
//   - step.go: what a step is, and what a step model has to say about it
//   - replica.go: the life of a replica, which begins a step, completes it and begins the next
//   - scheduler.go: the requests of a replica, and what becomes of each: admitted, computed, generating, preempted, released
//
// # What can be added
//
//   - an order in which steps are filled: [BatchFormation] in formation.go. decodefirst.go is vLLM's, prefillfirst.go SGLang's, inflight.go
//     TensorRT-LLM's
//   - a rule of admission: [Admission] in admission.go
//   - a KV store: [KVStore] in kvstore.go. blocks.go has blocks of equal size, prefix.go the prefix cache over them, tier.go its part in
//     the memory of the host
//   - a step model: [Stepper], and beside it [Launcher] where the host launches steps ahead (launchqueue.go) and [Pipeline] where a
//     pipeline has stages that differ (pipeline.go)
//
// A new order or rule has a value of [Policy] and a case in formationOf or admissionOf; the naive simulator in the tests of package sim
// takes every step of it by itself, and so shows whether the two agree.
//
// # Why it is fast
//
// The work is in proportion to the requests, not to the tokens. Requests that generate all gain the same number of tokens per step, so their
// set is a few sums and a wheel of finish times (decode.go, wheel.go). Steps without prefill are not taken one by one: a run of them, up to
// the next finish or until blocks run out, is one call of [Stepper.Decode]; a request that becomes visible in the middle cuts the run at the
// boundary where a scheduler would have seen it (jump.go). In a pipeline every step is taken, since the batches meet in the stages.
package server
