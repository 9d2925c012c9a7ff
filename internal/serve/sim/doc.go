// Package sim simulates clients and engine replicas event by event: queues,
// schedulers, KV space, prefix reuse, the transfer of a cache from a prefill to
// a decode pool. It shows what steady-state formulas cannot: percentiles,
// queues under bursts, the first wave of a benchmark, a full cache.
//
// In: a [Config]: a [traffic.Client] (closed loop, open loop or trace), pools of
// replicas with the scheduling rules of their [server.Engine], and a [server.Stepper] that
// says how long a step of a given [server.Batch] takes. Out: a [statistics.Result]: of all the
// client's requests, as a benchmark has it, or with [statistics.Steady] of a load that lasts.
// It does not depend on models, devices or engine names; it reads no clock, and
// the same configuration and seed give the same bytes.
//
// # Where to start reading
//
//   - config.go: what is simulated
//   - run.go: the event loop, and the way of a request through it
//   - route.go: who gets a request
//
// Three packages below do the work, and know nothing of each other but what their words say:
//
//   - server: one replica, with its queue, scheduler, KV store and device
//   - traffic: the requests that clients send
//   - statistics: figures of requests that have ended, and when a run is long enough
//
// This one has the cluster (cluster.go), the order of events (event.go), what clients see of a request (view.go), and identical replicas, of
// which one represents all (identical.go).
//
// # What can be added
//
// A routing is a [Router], a value of [Routing] with its name, and a case in Routing.router. Orders of scheduling, rules of admission, KV
// stores and step models are interfaces of package server, arrivals and clients of package traffic.
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
