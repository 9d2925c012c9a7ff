// Package graph turns a model, a layout, a quantization and a batch into the
// ordered list of operators one device runs in one forward pass.
//
// In: a Spec, once, and a Batch per step, or the Sums of one. Out: operators with
// repeat counts, each saying what of the batch its size follows.
// It knows no device: what an operator costs is package cost's to say. It counts what
// kernels and engines do. Another cost model is a Policy: choices (policy.go)
// and a Rewriter, which is offered each part of a step and emits those that differ.
// Start with graph.go and walk.go; then attention.go, ffn.go, moe.go, and rewrite.go for
// the parts.
package graph
