// Package graph turns a model, a layout, a quantization and a batch into the
// ordered list of operators one device runs in one forward pass.
//
// In: a Spec, once, and a Batch per step, or the Sums of one. Out: operators with
// repeat counts, each with the batch quantity that its size depends on.
// It knows no device: package cost prices the operators. It models what
// kernels and engines do. Another cost model is a Policy: choices (policy.go)
// and a Rewriter, which is offered each part of a step and emits those that differ.
// Start with graph.go and walk.go; then attention.go, ffn.go, moe.go, and rewrite.go for
// the parts.
package graph
