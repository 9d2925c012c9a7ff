// Package prices chooses how operators are priced: by which model of their cost,
// and by which measured kernels before that.
//
// In: a device, a pricing and, where there is one, a directory of kernel tables.
// Out: a cost.Coster, how well its prices are known, and what was read of the
// tables. It knows no model and no graph. Start with pricing.go, then prices.go.
package prices
