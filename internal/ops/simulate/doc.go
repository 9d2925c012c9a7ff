// Package simulate runs requests through a given deployment and summarizes their
// latencies, the throughput and the energy.
//
// In: a [Request] (deployment, traffic, limits). Out: a [Response] with expected
// errors. It does not search: searches call it for every candidate. Start with
// simulate.go; traffic.go describes the load, response.go the JSON.
package simulate
