// Package memory says what a deployment holds on each device: weights, KV
// cache, recurrent state, activations, and what is left.
//
// In: a graph's Spec, once, and a batch per question. Out: bytes per device, of
// the fullest one. It knows the device only as an amount of memory. Start with
// memory.go; weights.go and kv.go hold the rules.
package memory
