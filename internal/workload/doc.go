// Package workload knows what is asked of a deployment: how long prompts and
// answers are, how much of a prompt is cached, and the limits to keep.
//
// In: numbers, YAML, CSV or traces of requests. Out: a fixed length or bins of
// lengths, dealt into batches and chunks, and the requests of a trace. It knows
// neither model nor device. Start with lengths.go; files are read in read.go,
// their requests in rows.go, for [ReadDistribution] and [ReadTrace] alike.
package workload
