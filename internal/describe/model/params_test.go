package model

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
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

// docs/models.md ends in tables of what is in this package.
func TestTables(t *testing.T) {
	const file = "../../../docs/models.md"
	docs, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(docs), familiesIntro)
	if !ok {
		t.Fatalf("%s lacks %q", file, familiesIntro)
	}
	shapes, froms := readShapes(t)
	var b strings.Builder
	b.WriteString(before + familiesIntro)
	writeFamilies(&b, shapes)
	b.WriteString(sourcesIntro)
	writeSources(&b, shapes, froms)
	b.WriteString(parametersIntro)
	writeParameters(t, &b, shapes)
	golden.Check(t, file, []byte(b.String()))

	models, of := 0, map[string]bool{}
	for r := range rows {
		if r.aliasOf == "" {
			models, of[r.family] = models+1, true
		}
	}
	count := fmt.Sprintf("%d models of %d families", models, len(of))
	for _, file := range []string{"../../../README.md", "../../../CHANGELOG.md"} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), count) {
			t.Errorf("%s does not say %q: %v", file, count, err)
		}
	}
}

// writeFamilies lists the families, each with a model and what its shapes were
// compared with.
func writeFamilies(b *strings.Builder, shapes map[string]shapeSource) {
	first, keys := map[string]string{}, map[string]map[string]bool{}
	for r := range rows {
		if r.aliasOf != "" {
			continue
		}
		if first[r.family] == "" {
			first[r.family], keys[r.family] = r.id, map[string]bool{}
		}
		for _, key := range shapes[r.shape].keys {
			keys[r.family][key] = true
		}
	}
	for _, f := range families() {
		if first[f.name] == "" {
			continue // generic
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", f.name, strings.ReplaceAll(f.architectures, " ", ", "), first[f.name],
			strings.Join(slices.Sorted(maps.Keys(keys[f.name])), ", "))
	}
}

// writeSources counts the shapes by what they were compared with, at best.
func writeSources(b *strings.Builder, shapes map[string]shapeSource, froms []from) {
	by, best := map[string]int{}, map[string]int{}
	var unchecked []string
	for name, s := range shapes {
		kind := "unchecked"
		for _, key := range s.keys {
			by[key]++
			for _, f := range froms {
				if f.key == key && (kind == "unchecked" || slices.Index(kinds, f.kind) < slices.Index(kinds, kind)) {
					kind = f.kind
				}
			}
		}
		best[kind]++
		if kind == "unchecked" {
			unchecked = append(unchecked, name)
		}
	}
	slices.Sort(unchecked)
	fmt.Fprintf(b, "Of %d shapes, %d agree with a config.json (%d of them are cut from one), %d with sizes, %d with a total; %d are\n"+
		"unchecked: %s.\n\n| key | has | source | shapes |\n|---|---|---|---|\n",
		len(shapes), best["config"], cuts(shapes), best["sizes"], best["total"], len(unchecked), strings.Join(unchecked, ", "))
	for _, f := range froms {
		fmt.Fprintf(b, "| %s | %s | %s | %d |\n", f.key, f.kind, f.text, by[f.key])
	}
}

func cuts(shapes map[string]shapeSource) int {
	n := 0
	for _, s := range shapes {
		if s.cut {
			n++
		}
	}
	return n
}

// writeParameters lists a model of every shape, and every published count.
func writeParameters(t *testing.T, b *strings.Builder, shapes map[string]shapeSource) {
	t.Helper()
	of, listed := map[string][]published{}, readPublished(t)
	for _, p := range listed {
		r, _ := find(p.id)
		of[r.shape] = append(of[r.shape], p)
	}
	for r := range rows {
		if r.aliasOf == "" && of[r.shape] == nil {
			of[r.shape] = []published{{id: r.id}}
		}
	}
	for _, shape := range slices.Sorted(maps.Keys(of)) {
		for _, p := range of[shape] {
			total, active := p.ours(t)
			row := []string{p.id, billions(total), "", "", "", "", strings.Join(shapes[shape].keys, ", ")}
			if p.total > 0 {
				row[2], row[3], row[5] = billions(p.total), fmt.Sprintf("%+.2f %%", 100*(total/p.total-1)), p.source
			}
			if p.active > 0 {
				row[4] = billions(active) + " of " + billions(p.active)
			}
			if p.why != "" {
				row[5] += "; " + p.why
			}
			fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		}
	}
}

const familiesIntro = `## Families

| family | architectures | a model | its shapes were compared with |
|---|---|---|---|
`

const sourcesIntro = `
## Where shapes come from

A shape is what the program reads of a config.json. Hugging Face itself was not read: shapes were cut from copies of its files,
or written by hand and compared with what these sources have. *config* is a copy of the config.json: what both have agrees, but
for the number of positions. *sizes* are widths, layers, heads and experts; *total* is the number of parameters alone. Patterns
of layers, windows and image towers are compared only with a config. An answer for a model whose shape is unchecked says so;
pass a folder with its config.json to be sure.

`

const parametersIntro = `
## Parameters

What our reading of each shape adds up to, against counts that were seen somewhere, in billions (10⁹). Prediction modules are
left out and image towers counted, unless the count is of the text model or has the modules. Counted by: *llmfit* has the totals
that Hugging Face reads off checkpoints, *keras-hub* counts its presets, *name* is the model's name, which rounds. "Active" is
ours of what the maker's README or the name gives.

| model | ours | published | difference | active | counted by | shape compared with |
|---|---|---|---|---|---|---|
`

func billions(n float64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.4f", n/1e9)
	}
	return fmt.Sprintf("%.2f", n/1e9)
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
