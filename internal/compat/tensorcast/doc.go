// Package tensorcast implements TensorCast, Ascend's own cost model, as a policy for graphs:
// where it deviates from kernels and engines.
//
// In: the parts of a graph, as package cost/graph hands them over. Out: a graph.Policy,
// and the list of its deviations, each of which can be left out. A deviation is a choice
// of the graph (a size, a format, a sharding) or a form: operators that this package
// emits. The package knows neither devices nor prices.
// The source is msmodeling, where TensorCast traces a model's PyTorch code; goldens of
// its steps hold this package to the digit.
//
// # Where to start reading
//
//   - deviations.go: the deviations, with names and descriptions
//   - rewrite.go: the table of the parts of a graph whose operators differ, each with the method that emits them
//   - when.go: for which models and settings each part is TensorCast's
//
// Each family of operators is a type: [tower], [mixture] (moe.go, experts.go, dispatch.go), [router], [grouped] (attention.go), [latent]
// (latent.go, sparse.go), [compressed], [delta], [streams] and [contextParallel] (context.go). A new deviation is a form in forms.go with
// its line in deviations.go, a line in the table, and a method of a family.
package tensorcast
