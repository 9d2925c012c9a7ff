// Package calibrate fits a user's measured deployments: multipliers of operator and host times for the model, engine and
// device that they ran, on top of a calibration that stays as it is.
//
// In: prepared rows of measured deployments (package measured) and a base. Out: an overlay (package calibration) with the
// fitted multipliers, predictions of held-out rows, and their errors. What is shipped is fitted with the same equations
// (system.go, linear.go) by fit/deployments. Start with fit.go.
package calibrate
