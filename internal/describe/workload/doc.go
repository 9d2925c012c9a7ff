// Package workload describes the load of a deployment: the lengths of prompts and
// outputs, the arrivals of a trace, and the limits.
//
// In: numbers, YAML, CSV or traces of requests. Out: a fixed length or bins of
// lengths, dealt into batches and chunks, and the requests of a trace. It knows
// neither model nor device.
//
// # Where to start reading
//
//   - lengths.go: one length, or bins of lengths
//   - trace.go and session.go: requests in order of arrival, and conversations
//   - limits.go: what times may be, and statistic.go of what
//
// Files are read in read.go, their requests in rows.go, for [ReadDistribution] and [ReadTrace] alike; bins.go reads bins written by hand,
// tally.go makes bins of lengths, chunks.go cuts prompts into the pieces of steps. preset.go has typical uses: a new one is a line there.
package workload
