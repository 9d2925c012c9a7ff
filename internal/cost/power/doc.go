// Package power computes what a device draws: watts when idle, joules for the
// bytes and arithmetic of operators, and the power cap.
//
// In: a device profile and the Activity of operators. Out: joules. It knows no
// models; times are inputs. Its constants are fitted to measured deployments
// (coefficients.yaml). Start with power.go.
package power
