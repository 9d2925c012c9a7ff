// Package chart draws scatter plots into a PNG or SVG file.
//
// In: charts, which are series of points with their names, and a format. Out: one picture with all charts, the
// same bytes for the same charts. It does not know what the numbers mean, where the file is, or that termplot draws the
// same plots in a terminal; the two packages agree in what a marked point and a limit are and how much room is left around
// the points. Start at [Write].
//
// Text is set in Liberation Sans, which has the letters of Latin, Greek and Cyrillic script. A PNG shows a box for any other
// character; an SVG leaves it to the viewer, as it does not carry the font.
package chart
