// Package money computes what a deployment costs: devices and energy, per token,
// request and month.
//
// In: prices, devices, rates and joules. Out: US dollars. It knows no device and no
// deployment. Start with money.go.
package money
