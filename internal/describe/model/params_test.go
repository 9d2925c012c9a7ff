package model

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// published is a parameter count as a model's maker gives it, a line of
// testdata/published.txt, which says where each was seen.
type published struct {
	id            string
	total, active float64 // active: 0 where nothing is published
	counted       string
	source        string
	why           string // why ours is off by more than 1 %
}

func readPublished(t *testing.T) []published {
	t.Helper()
	b, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []published
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line+strings.Repeat("|", 5), "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		p := published{id: f[0], counted: f[3], source: f[4], why: f[5]}
		if p.total, err = strconv.ParseFloat(f[1], 64); err != nil || p.source == "" {
			t.Fatalf("%s: %v", line, err)
		}
		if f[2] != "" {
			if p.active, err = strconv.ParseFloat(f[2], 64); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		all = append(all, p)
	}
	return all
}

// ours are our counts of what the makers count.
func (p *published) ours(t *testing.T) (total, active float64) {
	n := lookup(t, p.id).Parameters()
	total, active = n.Total(), n.active()
	if lists(p.counted, "text") {
		total -= n.Vision
	}
	if lists(p.counted, "mtp") {
		total += n.MTP
	}
	if lists(p.counted, "rows") {
		active -= n.Embedding
	}
	return total, active
}

// rounds reports counts that only a name gives: Qwen3-30B-A3B has 30.5 billion
// parameters, of which a token uses 3.3.
func (p *published) rounds() (total, active bool) {
	total = p.source == "name" || p.source == "slime"
	return total, total || regexp.MustCompile(`-A[0-9.]+B`).MatchString(p.id)
}

func TestPublishedParameters(t *testing.T) {
	for _, p := range readPublished(t) {
		most, mostActive := 0.01, 0.03
		if total, active := p.rounds(); active {
			mostActive = 0.2
			if total {
				most = 0.15
			}
		}
		total, active := p.ours(t)
		off := total/p.total - 1
		if (math.Abs(off) > most) != (p.why != "") {
			t.Errorf("%s: want %.10g parameters, got %.10g (%+.2f %%)", p.id, p.total, total, 100*off)
		}
		if off := active/p.active - 1; p.active > 0 && math.Abs(off) > mostActive {
			t.Errorf("%s: want %.3g active parameters, got %.4g (%+.2f %%)", p.id, p.active, active, 100*off)
		}
	}
}

// TestCounts: docs/models.md says how many shapes were compared with what, and it, the
// README and the changelog how many models and families there are.
func TestCounts(t *testing.T) {
	models, of := 0, map[string]bool{}
	for _, r := range index() {
		if r.aliasOf == "" {
			models, of[r.family] = models+1, true
		}
	}
	count := fmt.Sprintf("%d models of %d families", models, len(of))
	for file, want := range map[string][]string{
		"README.md": {count}, "CHANGELOG.md": {count}, "docs/models.md": {count, compared(t)},
	} {
		text, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), w) {
				t.Errorf("%s does not say %q", file, w)
			}
		}
	}
}

// compared counts the shapes by the best of what they were compared with.
func compared(t *testing.T) string {
	t.Helper()
	shapes, froms := readShapes(t)
	kindOf := map[string]string{}
	for _, f := range froms {
		kindOf[f.key] = f.kind
	}
	best, cut, unchecked := map[string]int{}, 0, []string{}
	for name, s := range shapes {
		if s.cut {
			cut++
		}
		rank := len(kinds)
		for _, key := range s.keys {
			if i := slices.Index(kinds, kindOf[key]); i >= 0 {
				rank = min(rank, i)
			}
		}
		if rank == len(kinds) {
			unchecked = append(unchecked, name)
			continue
		}
		best[kinds[rank]]++
	}
	slices.Sort(unchecked)
	return fmt.Sprintf("Of %d shapes, %d agree with a config.json (%d of them are cut from one), %d with sizes, %d with a total; %d are unchecked: %s.",
		len(shapes), best["config"], cut, best["sizes"], best["total"], len(unchecked), strings.Join(unchecked, ", "))
}

// DeepSeek's README_WEIGHTS gives the module 11.5 B parameters of its own.
func TestMTPParameters(t *testing.T) {
	m, err := Lookup("deepseek-ai/DeepSeek-V3")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Parameters().MTP; math.Abs(got/11.5e9-1) > 0.01 {
		t.Errorf("want 11.5 B, got %.4g", got)
	}
}

func TestPartsAddUp(t *testing.T) {
	for _, e := range IDs() {
		m, err := Lookup(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Parameters()
		h := float64(m.Hidden)
		plain, streams := m.Mixing()
		sum := p.Embedding + p.Head + p.Vision + h + plain + streams
		for _, k := range m.Layers {
			sum += m.Kinds[k].parameters(h).decoder()
		}
		if math.Abs(sum-p.Total()) > 0.5 {
			t.Errorf("%s: layers sum to %.0f, total is %.0f", e.ID, sum, p.Total())
		}
		if p.active() > p.Total() || p.active() <= 0 {
			t.Errorf("%s: active %.0f of %.0f", e.ID, p.active(), p.Total())
		}
	}
}
