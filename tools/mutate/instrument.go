package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// instrument writes the files of the chosen changes again, with their switches, and returns the overlay for go build.
func instrument(dir string, targets []*target, chosen []*mutant) (overlay string, err error) {
	replace := map[string]string{}
	write := func(name, text string) error {
		at := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[name] = at
		return os.WriteFile(at, []byte(text), 0o666)
	}
	for _, t := range targets {
		changed := false
		for _, s := range t.files {
			sites := slices.DeleteFunc(slices.Clone(chosen), func(m *mutant) bool { return m.file != s })
			if len(sites) == 0 {
				continue
			}
			changed = true
			if err := write(s.name, rewrite(t.fset, s, sites)); err != nil {
				return "", err
			}
		}
		if changed {
			text := fmt.Sprintf("package %s\n%s\nvar mutantSeen [%d]atomic.Bool\n", t.pkg.Name(), switches, len(chosen)+1)
			if err := write(filepath.Join(t.dir, "mutant_switches.go"), text); err != nil {
				return "", err
			}
		}
	}
	return writeOverlay(dir, replace)
}

// writeOverlay writes the file that go build -overlay reads.
func writeOverlay(dir string, replace map[string]string) (string, error) {
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, data, 0o666)
}

// rewrite is a file with switches around the sites, the inner ones inside the outer ones.
func rewrite(fset *token.FileSet, s *source, sites []*mutant) string {
	slices.SortFunc(sites, func(a, b *mutant) int {
		return cmp.Or(cmp.Compare(a.node.Pos(), b.node.Pos()), cmp.Compare(b.node.End(), a.node.End()))
	})
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	var span func(from, to int, self *mutant) string
	span = func(from, to int, self *mutant) string {
		var b strings.Builder
		for _, m := range sites {
			lo, hi := offset(m.node.Pos()), offset(m.node.End())
			if m == self || lo < from || hi > to {
				continue
			}
			b.Write(s.text[from:lo])
			b.WriteString(m.wrap(m.id, func(n ast.Node) string { return span(offset(n.Pos()), offset(n.End()), m) }))
			from = hi
		}
		b.Write(s.text[from:to])
		return b.String()
	}
	return span(0, len(s.text), nil)
}

// switches is added to every package that is changed.
const switches = `
import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

var mutantActive, _ = strconv.Atoi(os.Getenv("MUTANT"))

var mutantTrace = os.Getenv("MUTANT_TRACE")

func mutantOn(id int) bool {
	if mutantTrace != "" && !mutantSeen[id].Swap(true) {
		mutantNote(id)
	}
	return mutantActive == id
}

func mutantNote(id int) {
	f, err := os.OpenFile(mutantTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	f.WriteString(strconv.Itoa(id) + "\n")
	f.Close()
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mutantAdd[T mutantNumber](id int, x, y T) T { if mutantOn(id) { return x - y }; return x + y }
func mutantSub[T mutantNumber](id int, x, y T) T { if mutantOn(id) { return x + y }; return x - y }
func mutantMul[T mutantNumber](id int, x, y T) T { if mutantOn(id) { return x / y }; return x * y }
func mutantDiv[T mutantNumber](id int, x, y T) T { if mutantOn(id) { return x * y }; return x / y }

func mutantLess[T cmp.Ordered](id int, x, y T) bool { if mutantOn(id) { return x <= y }; return x < y }
func mutantMore[T cmp.Ordered](id int, x, y T) bool { if mutantOn(id) { return x >= y }; return x > y }
func mutantAtMost[T cmp.Ordered](id int, x, y T) bool { if mutantOn(id) { return x < y }; return x <= y }
func mutantAtLeast[T cmp.Ordered](id int, x, y T) bool { if mutantOn(id) { return x > y }; return x >= y }

func mutantTwice[T mutantNumber](id int, x T) T { if mutantOn(id) { return x * 2 }; return x }
func mutantThrice[T mutantNumber](id int, x T) T { if mutantOn(id) { return x * 3 }; return x }
func mutantHalf[T mutantNumber](id int, x T) T { if mutantOn(id) { return x / 2 }; return x }
func mutantNext[T mutantNumber](id int, x T) T { if mutantOn(id) { return x + 1 }; return x }

func mutantMin[T cmp.Ordered](id int, x ...T) T { return mutantExtreme(x, !mutantOn(id)) }
func mutantMax[T cmp.Ordered](id int, x ...T) T { return mutantExtreme(x, mutantOn(id)) }

func mutantExtreme[T cmp.Ordered](x []T, least bool) T {
	y := x[0]
	for _, v := range x[1:] {
		if least { y = min(y, v) } else { y = max(y, v) }
	}
	return y
}

func mutantChoose[F any](id int, f, instead F) F { if mutantOn(id) { return instead }; return f }
`
