// Package soak chooses the random questions of laws that hold within a sampling error or the ripple of a simulation.
//
// In: a package's tests. Out: the same questions on every run, others where the command line asks for a number of them or for a seed. A law
// that fails once in thousands of questions is found by a soak (-rapid.checks=5000), not by chance on the machine of someone who changed
// something else. Start at [Main]; laws that simulate much ask [Few]. Only tests import it.
package soak

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

// asked says that the command line chooses the questions.
var asked bool //nolint:gochecknoglobals // the command line has one answer for a package

// Main runs the tests of a package; its TestMain calls it.
func Main(m *testing.M) {
	flag.Parse()
	flag.Visit(func(f *flag.Flag) {
		asked = asked || f.Name == "rapid.checks" || f.Name == "rapid.seed" || f.Name == "rapid.failfile"
	})
	if !asked {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err) // the package has no random tests
		}
	}
	m.Run()
}

// Few checks a law on n questions only, each of which takes long; on all that the command line asks for, if it does.
func Few(t *testing.T, n int, law func(*rapid.T)) {
	t.Helper()
	tried, failed := 0, false
	rapid.Check(t, func(t *rapid.T) {
		if tried++; tried > n && !asked && !failed { // a failed question is tried again until it is small
			return
		}
		held := false
		defer func() { failed = failed || !held || t.Failed() }()
		law(t)
		held = true
	})
}
