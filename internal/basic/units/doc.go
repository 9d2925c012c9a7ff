// Package units defines the quantities that all packages use (seconds, bytes,
// operations, rates), and parses and prints them.
//
// In: plain numbers at the rim (files, flags). Out: typed values and the text
// shown to people. It does not know models or devices. Start with units.go.
package units
