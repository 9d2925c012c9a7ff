// Package power says what a device draws: watts while it waits, joules for what
// its operators move and compute, and the cap of its power supply.
//
// In: a device profile and the Activity of operators. Out: joules. It knows no
// models; times are inputs. Its constants are fitted to measured deployments
// (coefficients.yaml). Start with power.go.
package power
