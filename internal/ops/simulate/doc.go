// Package simulate runs requests through a given deployment and summarizes their
// latencies, the throughput and the energy.
//
// In: a [Request] (deployment, traffic, limits). Out: a [Response] with the errors to
// expect. It does not search: searches call it for every candidate. Start with
// simulate.go; traffic.go describes the load, response.go what JSON has.
package simulate
