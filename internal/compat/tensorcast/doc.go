// Package tensorcast implements TensorCast, Ascend's own cost model, as a policy for graphs:
// where it deviates from kernels and engines.
//
// In: the parts of a graph, as package cost/graph hands them over. Out: a graph.Policy,
// and the list of its artefacts, each of which can be left out. An artefact is a choice
// of the graph (a size, a format, a sharding) or a form: operators that this package
// emits. The package knows neither devices nor prices.
// The source is msmodeling, where TensorCast traces a model's PyTorch code; goldens of
// its steps hold this package to the digit. Start with artefacts.go, then rewrite.go.
package tensorcast
