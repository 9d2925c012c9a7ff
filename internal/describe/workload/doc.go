// Package workload describes the load of a deployment: the lengths of prompts and
// outputs, the arrivals of a trace, and the limits.
//
// In: numbers, YAML, CSV or traces of requests. Out: a fixed length or bins of
// lengths, dealt into batches and chunks, and the requests of a trace. It knows
// neither model nor device. Start with lengths.go; files are read in read.go,
// their requests in rows.go, for [ReadDistribution] and [ReadTrace] alike.
package workload
