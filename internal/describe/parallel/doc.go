// Package parallel describes layouts: how a model is split over devices.
//
// In: sizes of the parallel dimensions. Out: a Layout whose sizes are complete
// and legal for a model, and the label printed for it. It knows no device; the
// ranks of a group are given as size and stride. Start with layout.go.
package parallel
