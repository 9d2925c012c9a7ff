// Package statistics makes figures of what happens in a simulation: percentiles, rates, sampling errors, and when a run is long enough.
//
// In: an [Outcome] of each request that has ended, gaps between tokens, requests in flight, frames of replicas. Out: a [Result].
// It knows neither requests in progress nor replicas: of the simulation it asks what its interfaces say, [System] and the Replica of
// [Watched]. A new figure is a field of [Result], and the place that sums it up in [Tally] or [Recorder].
//
// # Where to start reading
//
//   - result.go: all that a run yields, with units
//   - tally.go: requests that have ended, and what is summed up of them
//   - steadyrule.go: the rule by which a run without end is long enough; steady.go follows it, from warm-up to window to end
//
// Then sampling.go (standard errors by batch means, warm-up by MSER-5), controls.go (chance in arrivals taken out of the times),
// histogram.go (gaps between tokens), levels.go (requests in flight), series.go and timeline.go (states over time), record.go (one
// request as a line of CSV).
package statistics
