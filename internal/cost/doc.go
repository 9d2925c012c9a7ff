// Package cost defines the cost of an operator on a device: its time, where the
// time goes, and how accurate it is.
//
// In: an op.Op. Out: an Estimate. It knows no model. This package holds the
// vocabulary; the ways of estimating are packages below it: roofline (peaks and
// efficiencies from a profile), calibrated (fitted forms) and table (measured
// kernels).
package cost
