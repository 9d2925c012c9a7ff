// Package search finds the best deployments: a space of candidates, an evaluator, and
// what is best of it.
//
// In: candidates or branches of a space, an Evaluator, limits. Out: a Result per
// candidate, in the order of enumeration, and of these the rows, whatever the number of
// workers and of rows. It knows no requests of users and no calibration: the caller
// supplies the expected errors.
//
// A search bounds candidates, explores them by short trials, and evaluates only those that may have a row. Start with search.go;
// several.go searches the spaces of several evaluators as one. Spaces: layouts.go enumerates layouts, guide.go by the rules of
// the Ascend guide; packing.go puts workers together to units, workers.go makes
// deployments of them. Evaluators: simulated.go with simulated deployments (over bench.go, which runs them,
// bounds.go, which bounds their load, and climb.go, which finds their best load),
// sized.go by the devices that a load needs; package ascend has another, with the guide's formulas. judge.go alone decides
// what meets the limits; frontier.go ranks.
package search
