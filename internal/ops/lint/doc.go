// Package lint says what a launch command or deployment files will do: what is wrong with
// them, how many requests fit, the figures to expect, and which single settings would be
// better.
//
// In: a [Request] (files or a command). Out: a [Response]; what is wrong with the files is
// a [Finding], not an error. Start with lint.go; findings.go has the rules, better.go the
// settings that are tried.
package lint
