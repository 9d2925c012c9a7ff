// Mutate measures what the tests see: it makes small changes to the program, one at a time, and counts how many of them
// make a test fail.
//
// All changes of a run are compiled into the test binaries at once (mutant schemata): the packages are written again with
// every chosen place wrapped in a switch, go builds them through an overlay, and an environment variable turns one change
// on. A first run without any change says which tests reach which place, so that a change is tried on those alone.
//
// In: packages to change, packages whose tests are to notice, a sample size and a seed; or a file of named changes. Out: a
// table by package and the changes that no test noticed. Start with [measure], then sites.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// options are those of the command line.
type options struct {
	root     string
	packages []string // to change
	killers  []string // whose tests are to notice
	sample   int      // changes for each package
	seed     uint64
	only     string // keys of single changes
	named    string // file of named changes
	workers  int
}

func main() {
	o := options{}
	flag.StringVar(&o.root, "root", ".", "root `DIR` of the module to change")
	packages := flag.String("packages", "", "`PACKAGES` to change, as go list names them, with commas between")
	killers := flag.String("killers", "", "`PACKAGES` whose tests must fail")
	flag.IntVar(&o.sample, "n", 60, "changes tried for each package; 0 tries all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.StringVar(&o.only, "only", "", "try only the changes with these `KEYS` of a report")
	flag.StringVar(&o.named, "named", "", "try the changes of a `FILE` instead")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "maximum parallel changes")
	flag.Parse()
	o.packages, o.killers = words(*packages), words(*killers)
	run := measure
	if o.named != "" {
		run = tryNamed
	}
	if err := run(&o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
