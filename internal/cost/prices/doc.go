// Package prices selects the cost model of operators, and the kernel tables that take
// precedence over it. The price of an operator is its predicted time.
//
// In: a device, a pricing and, where there is one, a directory of kernel tables.
// Out: a cost.Coster, how well its prices are known, and what was read of the
// tables. It knows no model and no graph. Start with pricing.go, then prices.go.
package prices
