// Package memory computes the memory of a deployment on each device: weights, KV
// cache, recurrent state, activations, and the free rest.
//
// In: a graph's Spec, once, and a batch per question. Out: bytes per device, of
// the fullest one. It knows the device only as an amount of memory. Start with
// memory.go; weights.go and kv.go hold the rules.
package memory
