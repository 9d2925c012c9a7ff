// Package constants fits the constants of operator forms to measured kernels, and those of device power to measured energy.
//
// In: samples of measured kernels (package cost/table); rows with an energy (package measured). Out: constants in the form
// that is shipped, and their errors on rows that were held out. Start with kernels.go and power.go; descent.go minimizes, and
// selection.go says which fitted forms are taken.
package constants
