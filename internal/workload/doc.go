// Package workload knows what is asked of a deployment: how long prompts and
// answers are, how much of a prompt is cached, and the limits to keep.
//
// In: numbers, YAML, CSV or traces of lengths. Out: a fixed length or bins of
// lengths, dealt into batches and chunks. It knows neither model nor device.
// Start with lengths.go; files are read in read.go.
package workload
