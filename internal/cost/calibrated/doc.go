// Package calibrated costs operators on GPUs by compact physical forms whose
// few constants are fitted to measurements: a launch, a soft maximum of
// arithmetic and memory time at fitted efficiencies, and one or two terms an
// operator is known to have. No estimate is below the device's speed of light.
//
// In: a device profile, for its peaks and its generation. Out: cost estimates.
// The constants live in coefficients.yaml with their source. Start with
// calibrated.go, then forms.go.
package calibrated
