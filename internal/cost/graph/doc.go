// Package graph turns a model, a layout, a quantization and a batch into the
// ordered list of operators one device runs in one forward pass.
//
// In: a Spec, once, and a Batch per step, or the Sums of one. Out: operators with
// repeat counts, each saying what of the batch its size follows.
// It knows no device: what an operator costs is package cost's to say. The
// peculiarities of TensorCast, Ascend's own model, are entries of a Policy.
// Start with graph.go and walk.go; then attention.go, ffn.go, moe.go.
package graph
