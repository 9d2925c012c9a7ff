// Package sweep asks the same question for every combination of models, systems, engines, requests, limits and prices.
//
// In: the text of a grid file. Out: a [Row] for each cell of the product, a plan or a prediction, with the request that it answers.
// Cells have a fixed order; the same program gives the same rows for any number of workers and any division into shards, and a
// cell that cannot be served is a row with its reason. Rows leave through a function, in the order in which they end: parts keep
// them ([ReadPart]), and tables are written from parts in the order of the cells ([Merge]). It opens no files. Start at [Read].
package sweep
