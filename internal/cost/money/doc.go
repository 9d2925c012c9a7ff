// Package money is what a deployment costs: the price of devices and of energy, by tokens,
// requests and months.
//
// In: prices, devices, rates and joules. Out: US dollars. It knows no device and no
// deployment. Start with money.go.
package money
