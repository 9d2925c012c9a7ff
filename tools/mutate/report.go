package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// report prints the score of each package and of all, and what lived.
func report(w io.Writer, o *options, places map[string]int, chosen []*mutant, verdicts []verdict) {
	type score struct{ mutants, killed, unreached int }
	var all score
	by := map[string]*score{}
	var order []string
	for i, m := range chosen {
		s := by[m.pkg]
		if s == nil {
			s = &score{}
			by[m.pkg] = s
			order = append(order, m.pkg)
		}
		for _, x := range []*score{s, &all} {
			x.mutants++
			if verdicts[i].killedBy != "" {
				x.killed++
			} else if !verdicts[i].reached {
				x.unreached++
			}
		}
	}
	fmt.Fprintf(w, "seed %d, at most %d changes of a package\n\n", o.seed, o.sample)
	fmt.Fprintln(w, "| package | places | mutants | killed | lived | of these reached by no test | score |\n|---|---|---|---|---|---|---|")
	line := func(name string, places int, s *score) {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %.0f %% |\n", name, places, s.mutants, s.killed, s.mutants-s.killed, s.unreached,
			100*float64(s.killed)/float64(max(1, s.mutants)))
	}
	total := 0
	for _, pkg := range order {
		line(pkg, places[pkg], by[pkg])
		total += places[pkg]
	}
	line("all", total, &all)
	fmt.Fprintln(w, "\nlived:")
	root, _ := filepath.Abs(o.root)
	for i, m := range chosen {
		if v := verdicts[i]; v.killedBy == "" {
			note := ""
			if !v.reached {
				note = " (reached by no test)"
			}
			fmt.Fprintf(w, "%s %s: %s%s\n", m.key, strings.TrimPrefix(m.where, root+"/"), m.change, note)
		}
	}
}
