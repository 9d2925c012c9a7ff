package model

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/golden"
)

// published is a parameter count as a model's maker gives it, a line of
// testdata/published.txt.
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
	total, active = n.total(), n.active()
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

func TestPublishedParameters(t *testing.T) {
	const most, mostActive = 0.01, 0.03
	for _, p := range readPublished(t) {
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

// docs/models.md ends in the families and parameters that are in this package.
func TestTables(t *testing.T) {
	const file = "../../docs/models.md"
	docs, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(docs), familiesIntro)
	if !ok {
		t.Fatalf("%s lacks %q", file, familiesIntro)
	}
	var b strings.Builder
	b.WriteString(before + familiesIntro)
	first := map[string]string{}
	for r := range rows {
		if first[r.family] == "" {
			first[r.family] = r.id
		}
	}
	for _, f := range families() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.name, strings.ReplaceAll(f.architectures, " ", ", "), first[f.name])
	}
	b.WriteString(parametersIntro)
	for _, p := range readPublished(t) {
		total, active := p.ours(t)
		row := []string{
			p.id, billions(p.total), billions(total), fmt.Sprintf("%+.2f %%", 100*(total/p.total-1)), "", "", p.source,
		}
		if p.active > 0 {
			row[4], row[5] = billions(p.active), billions(active)
		}
		if p.why != "" {
			row[6] += "; " + p.why
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	golden.Check(t, file, []byte(b.String()))
}

const familiesIntro = `## Families

| family | architectures | a model |
|---|---|---|
`

const parametersIntro = `
## Parameters

What our reading of each config.json adds up to, against what the makers publish, in billions (10⁹). Prediction modules are
left out, image towers counted, unless the source says otherwise. "safetensors" is the total of the checkpoint's index.

| id | published | ours | difference | active, published | ours | source |
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
		if math.Abs(sum-p.total()) > 0.5 {
			t.Errorf("%s: layers sum to %.0f, total is %.0f", e.ID, sum, p.total())
		}
		if p.active() > p.total() || p.active() <= 0 {
			t.Errorf("%s: active %.0f of %.0f", e.ID, p.active(), p.total())
		}
	}
}
