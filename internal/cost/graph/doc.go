// Package graph turns a model, a layout, a quantization and a batch into the
// ordered list of operators one device runs in one forward pass.
//
// In: a [Spec], once, and a [Batch] per step, or the [Sums] of one. Out: operators with
// repeat counts, each with the batch quantity that its size depends on.
// It knows no device: package cost prices the operators. It models what
// kernels and engines do. Another cost model is a [Policy]: choices (policy.go)
// and a [Rewriter], which is offered each part of a step and emits those that differ.
//
// # Where to start reading
//
//   - graph.go: the Spec, and what is prepared of it once
//   - forward.go: a step from token ids to logits, and behind it mtp.go for tokens that are drafted
//   - layer.go: a decoder layer, and the list of its mixers
//
// A [Walk] has the words that the rest is written in: walk.go (one operator), products.go, collective.go, norm.go, and span.go for what
// attention sees of a batch. Then a type for each part: grouped.go, latent.go, cross.go and recurrent.go are mixers, selector.go and
// context.go what they share; ffn.go dense parts; moe.go mixtures of experts, with router.go, dispatch.go, meet.go and experts.go;
// vision.go the image tower. rewrite.go names the parts that a policy may replace.
//
// # What can be added
//
//   - a mixer: a type with the methods of mixer in layer.go
//   - a part for policies: a [Place], offered where its operators begin
//
// A step is walked without allocating, thousands of times in a search: a part is a value that holds the walk, not an interface.
package graph
