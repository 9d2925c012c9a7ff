// Package figures is the record of how a deployment does under a load: how fast, how sure, how much.
//
// In: what an evaluator (the guide's formulas, a simulation) finds. Out: the figures that searches compare, operations explain and faces
// show. It does not know where they come from. Start with [Figures].
package figures
