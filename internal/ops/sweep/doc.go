// Package sweep evaluates every combination of models, systems, engines, requests, limits and prices.
//
// In: the text of a grid file. Out: a [Row] for each cell of the product, a plan or a prediction, with the request that reproduces it.
// Cells have a fixed order; rows do not depend on the number of workers or shards, and an infeasible cell becomes
// a row with the reason. Rows are passed to a function as they complete: parts store
// them ([ReadPart]), and [Merge] writes tables from parts in cell order. It opens no files. Start at [Read].
package sweep
