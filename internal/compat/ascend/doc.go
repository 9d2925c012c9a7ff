// Package ascend evaluates candidates by the formulas of Ascend's guide.
//
// In: candidates of a search, and a load as the guide has it. Out: the best batch of each, as package search ranks them, and pairs of
// prefill and decode that match. The search knows an evaluator, and none of these formulas; package formulas has them. Start with
// formulas.go: steps.go times engine steps, batch.go finds the best batch, pairs.go matches phases.
package ascend
