// Package arch holds the order of the packages and the test that keeps imports pointing one way.
//
// In: layers.txt and the source of the root package and of every package under internal. Out: a failed test for an import that points back, for a
// package that has no place in the order, and for a pair that must not meet. It holds no code of the program.
// Start at layers.txt.
package arch
