// Package traffic makes the requests of a simulation: how long their prompts and answers are, when they come, and what their prompts have in
// common.
//
// In: a [Client], such as a closed loop, an open loop or a trace. Out: a [Source] of requests, all drawn beforehand or one after the other
// without end. It knows no cluster and no clock: it is told when a request has ended, and says what its client does then.
//
// # Where to start reading
//
//   - client.go: the clients and their settings
//   - source.go: what a simulation asks of them, a request at a time
//   - mix.go: kinds of requests in one stream, each with lengths.go, session.go (requests that follow each other) or replay.go (prompts of
//     a trace, over and over)
//
// Then arrival.go (gaps between arrivals), trace.go (recorded traffic), moments.go and facts.go (what statistics are to know of the load).
//
// # What can be added
//
//   - a process of arrivals: a value of [Process] and its gaps in arrival.go
//   - a client: a type with the methods of [Client]
//
// Every draw has a stream of random numbers of its own, so that more of one thing leaves the others as they were.
package traffic
