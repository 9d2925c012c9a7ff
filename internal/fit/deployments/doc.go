// Package deployments fits the multipliers that are shipped, those of groups and of single deployments, to all measured rows,
// and extends a calibration by groups that it lacks.
//
// In: prepared rows of measured deployments (package measured). Out: an overlay (package calibration) and predictions of rows
// by fits that held them out; from those [Learn] takes the errors that intervals rest on. The equations and their solution are
// in evidence/calibrate, which fits a user's own rows. Start with fit.go, then remember.go, choose.go and validate.go.
package deployments
