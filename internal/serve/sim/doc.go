// Package sim simulates clients and engine replicas event by event: queues,
// schedulers, KV space, prefix reuse, the transfer of a cache from a prefill to
// a decode pool. It shows what steady-state formulas cannot: percentiles,
// queues under bursts, the first wave of a benchmark, a full cache.
//
// In: a [Config]: a [Client] (closed loop, open loop or [Trace]), pools of
// replicas with the scheduling rules of their [Engine], and a [Stepper] that
// says how long a step of a given [Batch] takes. Out: a [statistics.Result]: of all the
// client's requests, as a benchmark has it, or with [statistics.Steady] of a load that lasts.
// It does not depend on models, devices or engine names; it reads no clock, and
// the same configuration and seed give the same bytes.
//
// # Where to start reading
//
// Three files are the core: step.go defines a step, run.go is the event loop,
// replica.go is the life of a replica, which begins and completes steps. Then:
//
//   - requests: client.go, lengths.go, arrival.go, and trace.go for files
//   - scheduling: decodefirst.go, prefillfirst.go, inflight.go,
//     one per [Policy], with admit.go for what they share
//   - KV cache: blocks.go, and prefix.go for shared prompts
//   - generating requests: decode.go, and wheel.go for the next to finish
//   - several batches in flight, one for each pipeline stage: pipeline.go
//   - several replicas: route.go, transfer.go
//   - figures: result.go and view.go for what is counted, package statistics for percentiles, sampling errors and steady state
//
// # Why it is fast
//
// The work is in proportion to the requests, not to the tokens. Requests that
// generate all gain the same number of tokens per step, so their set is a few
// sums and a wheel of finish times (decode.go). Steps without prefill are not
// taken one by one: a run of them, up to the next finish or until blocks run
// out, is one call of [Stepper.Decode]; a request that becomes visible in the
// middle cuts the run at the boundary where a scheduler would have seen it
// (jump.go). In a pipeline every step is taken, since the batches meet in the stages.
//
// # Laws
//
// Requests in are requests out, finished or refused. Blocks held, cached and
// free add up to the total. The clock never goes back. A single request takes
// as long as the steps it is made of, through however many stages. A full pipeline is as
// fast as its slowest stage. A jump is the sum of its steps. All are
// tested; so are Little's law in every steady state, and agreement with a
// simulator that takes every step (naive_test.go).
package sim
