// Package lint checks a launch command or launch files: errors in them, the number of requests
// that fit, the predicted figures, and single settings that would raise throughput.
//
// In: a [Request] (files or a command). Out: a [Response]; an error in the files is a
// [Finding], not a Go error. Start with lint.go; findings.go has the rules, better.go tries
// other settings.
package lint
