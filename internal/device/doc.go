// Package device knows the hardware: arithmetic peaks by number format, memory,
// efficiencies, fixed costs, the grid of links between devices, price and power.
//
// In: YAML profiles, embedded or a user's own. Out: a Profile, immutable after
// return. It knows no model and no operator. Start with profile.go; the embedded
// profiles are in profiles/.
package device
