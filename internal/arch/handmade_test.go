package arch_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestHandMade: DEPENDENCIES.md has every package of basic and draw that the program needs, with about as many lines as it has.
func TestHandMade(t *testing.T) {
	t.Parallel()
	listed := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+/[a-z]+)`(?:: ([a-z., ]+))? \\| (\\d+) \\|").FindAllStringSubmatch(read(t, "../../DEPENDENCIES.md"), -1) {
		n, _ := strconv.Atoi(m[3])
		dir := filepath.Join("..", filepath.FromSlash(m[1]))
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s is listed and does not exist", m[1])
			continue
		}
		if m[2] != "" { // some files of it
			files = nil
			for name := range strings.SplitSeq(m[2], ", ") {
				files = append(files, filepath.Join(dir, name))
			}
		} else {
			listed[m[1]] = n
		}
		got := 0
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				got += strings.Count(read(t, f), "\n")
			}
		}
		const about = 0.15
		if math.Abs(float64(got-n)) > about*float64(n) {
			t.Errorf("%s %s has %d lines, DEPENDENCIES.md says %d", m[1], m[2], got, n)
		}
	}
	for _, storey := range []string{"basic", "draw"} {
		rooms, err := os.ReadDir(filepath.Join("..", storey))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rooms {
			name := storey + "/" + r.Name()
			if _, ok := listed[name]; !ok && name != "basic/golden" && name != "basic/soak" { // for tests
				t.Errorf("%s has no line in DEPENDENCIES.md: lines, why it stays, what was compared", name)
			}
		}
	}
}
