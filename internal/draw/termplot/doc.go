// Package termplot draws scatter plots with the characters of a terminal.
//
// In: a [Plot], which is series of points with their names, and how wide the terminal is. Out: lines of text, the same
// bytes for the same plot. It does not know what the numbers mean, nor what a terminal is: the caller says how wide it is
// and whether it shows colours. Start at [Plot.Render].
//
// A point that is marked is a solid glyph of one character. The others are Braille dots, of which a character holds two
// by four, so that a crowd of points keeps its shape and the marked ones stand out from it. Where two points want the same
// character, a marked one wins over dots, and an earlier series over a later one.
package termplot
