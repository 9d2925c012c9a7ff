// Package units holds the quantities every other package speaks in: seconds,
// bytes, operations, rates; how they are parsed and how they are printed.
//
// In: plain numbers at the rim (files, flags). Out: typed values and the text
// shown to people. It does not know models or devices. Start with units.go.
package units
