package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/packages"
)

// killer is a package whose tests are to notice.
type killer struct {
	path, dir, binary string
	args              []string
	took              time.Duration
	reaches           map[int]bool // which changes its tests come by
}

// measure tries a sample of changes and reports on it.
func measure(o *options, w io.Writer) error {
	targets, err := load(o)
	if err != nil {
		return err
	}
	places := map[string]int{}
	var chosen []*mutant
	for _, t := range targets {
		all := find(t, o.seed)
		places[t.path] = len(all)
		slices.SortFunc(all, func(a, b *mutant) int { return cmp.Compare(a.rank, b.rank) })
		if o.sample > 0 {
			all = all[:min(o.sample, len(all))]
		}
		if o.only != "" {
			all = slices.DeleteFunc(all, func(m *mutant) bool { return !slices.Contains(words(o.only), m.key) })
		}
		chosen = append(chosen, all...)
	}
	for i, m := range chosen {
		m.id = i + 1
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := instrument(dir, targets, chosen)
	if err != nil {
		return err
	}
	killers, err := build(o, dir, overlay)
	if err != nil {
		return err
	}
	if err := trace(killers, dir); err != nil {
		return err
	}
	verdicts := try(killers, chosen, o.workers)
	report(w, o, places, chosen, verdicts)
	return nil
}

// build compiles the tests of the killers with all changes in them, with the flags of "make test".
func build(o *options, dir, overlay string) ([]*killer, error) {
	all, err := list(o.root, packages.NeedForTest, true, o.killers)
	if err != nil {
		return nil, err
	}
	var out []*killer
	for i, p := range all {
		if p.ForTest != "" || strings.HasSuffix(p.PkgPath, ".test") { // the tests of another
			continue
		}
		k := &killer{path: p.PkgPath, dir: p.Dir, binary: filepath.Join(dir, fmt.Sprintf("%d.test", i)), reaches: map[int]bool{}}
		k.args = []string{"-test.failfast", "-test.count=1"}
		if usesRapid(p.PkgPath, all) {
			// The same draws for every change, and no time spent on a small example.
			k.args = append(k.args, "-rapid.seed=1", "-rapid.shrinktime=1ns", "-rapid.nofailfile")
		}
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-overlay", overlay, "-o", k.binary, p.PkgPath)
		cmd.Dir = o.root
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s with all changes: %w\n%s", p.PkgPath, err, text)
		}
		if _, err := os.Stat(k.binary); err == nil { // a package without tests has none
			out = append(out, k)
		}
	}
	return out, nil
}

// trace runs all tests without a change, notes which changes they come by, and puts the quick ones first.
func trace(killers []*killer, dir string) error {
	for _, k := range killers {
		file := filepath.Join(dir, "trace")
		start := time.Now()
		if text, ok := k.run(time.Hour, "MUTANT_TRACE="+file); !ok {
			return fmt.Errorf("the tests of %s fail without any change:\n%s", k.path, text)
		}
		k.took = time.Since(start)
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for line := range strings.FieldsSeq(string(text)) {
			if id, err := strconv.Atoi(line); err == nil {
				k.reaches[id] = true
			}
		}
		os.Remove(file)
	}
	slices.SortStableFunc(killers, func(a, b *killer) int { return cmp.Compare(a.took, b.took) })
	return nil
}

// memoryKiB bounds a test binary: a changed loop may never stop to allocate.
const memoryKiB = 6 << 20

// run runs the tests in their directory and reports whether they pass.
func (k *killer) run(limit time.Duration, env string) (output []byte, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	shell := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memoryKiB)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", shell, k.binary}, k.args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = k.dir, append(os.Environ(), env), time.Second
	output, err := cmd.CombinedOutput()
	return output, err == nil
}

// verdict is what became of a change: the package that noticed it, if any.
type verdict struct {
	killedBy string
	reached  bool
}

// try turns the changes on, one at a time for each worker.
func try(killers []*killer, chosen []*mutant, workers int) []verdict {
	out := make([]verdict, len(chosen))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() {
			for i := range next {
				out[i] = tryOne(killers, chosen[i])
			}
		})
	}
	for i := range chosen {
		if i%50 == 0 {
			fmt.Fprintf(os.Stderr, "mutate: %d of %d changes tried\n", i, len(chosen))
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// tryOne asks the tests of the changed package first, then the others in their order. One that takes ten times as long as
// it should will not end.
func tryOne(killers []*killer, m *mutant) (v verdict) {
	asked := slices.Clone(killers)
	if own := slices.IndexFunc(asked, func(k *killer) bool { return k.path == m.pkg }); own > 0 {
		asked = slices.Insert(slices.Delete(asked, own, own+1), 0, killers[own])
	}
	for _, k := range asked {
		if !k.reaches[m.id] {
			continue
		}
		v.reached = true
		if _, ok := k.run(10*k.took+10*time.Second, "MUTANT="+strconv.Itoa(m.id)); !ok {
			v.killedBy = k.path
			return v
		}
	}
	return v
}
