package device

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// minimal is the least a profile without a base must say.
const minimal = `name: mine
vendor: other
peak_tflops:
  matrix: {bf16: 100, f16: 100}
  vector: {f32: 10, bf16: 20, f16: 20}
memory: {size_gib: 24, bandwidth_gb_s: 900}
`

func parse(t testing.TB, text string) *Profile {
	t.Helper()
	p, err := Parse([]byte(text), "my.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseFillsInDefaults(t *testing.T) {
	want := &Profile{
		Name:              "mine",
		Vendor:            Other,
		Tier:              Datasheet,
		Memory:            24 * units.GiB,
		Bandwidth:         900e9,
		ComputeEfficiency: 0.75,
		MemoryEfficiency:  0.8,
		Fixed:             Fixed{3e-6, 3e-6, 10e-6},
		Node:              1,
		Source:            "file my.yaml",
	}
	want.Matrix[dtype.BF16], want.Matrix[dtype.F16] = 100e12, 100e12
	want.Vector[dtype.F32], want.Vector[dtype.BF16], want.Vector[dtype.F16] = 10e12, 20e12, 20e12
	if diff := cmp.Diff(want, parse(t, minimal)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	linked := minimal + "links:\n  - {name: a, size: 4, bandwidth_gb_s: 10, latency_us: 3}\n" +
		"  - {name: b, size: 2, bandwidth_gb_s: 50, latency_us: 0.2}\n"
	got := parse(t, linked)
	links := []Link{{"a", 4, 10e9, 3e-6, 0.8, Clos, ThroughHost}, {"b", 2, 50e9, 2e-7, 0.8, Clos, ThroughHost}}
	if diff := cmp.Diff(links, got.Links); diff != "" || got.Node != 2 {
		t.Errorf("node %d, links (-want +got)\n%s", got.Node, diff)
	}
}

func TestBaseIsInherited(t *testing.T) {
	want := lookup(t, "h100_sxm")
	want.Base, want.Aliases = "h100_sxm", nil
	if diff := cmp.Diff(want, parse(t, "base: H100\n")); diff != "" {
		t.Errorf("no override (-want +got)\n%s", diff)
	}

	got := parse(t, `base: h100-sxm
name: our_h100
memory: {bandwidth_gb_s: 3200}
peak_tflops: {matrix: {fp8: 1500}}
efficiency: {memory: 0.9}
links:
  - {name: inter-node, bandwidth_gb_s: 25}
  - {name: nvlink, size: 4}
node: 4
price: {usd_per_hour: 1.85}
`)
	want.Name = "our_h100"
	want.Bandwidth = 3200e9
	want.Matrix[dtype.FP8] = 1500e12
	want.MemoryEfficiency = 0.9
	want.Links[0].Bandwidth = 25e9
	want.Links[1].Size = 4
	want.Node = 4
	want.Price = Price{USDPerHour: 1.85, Source: "file my.yaml", Class: Yours}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if lookup(t, "h100_sxm").Links[0].Bandwidth != 50e9 {
		t.Error("the embedded profile changed")
	}
}

// TestParseErrors holds every message to its text and line.
func TestParseErrors(t *testing.T) {
	base := "base: h100_sxm\n"
	for name, c := range map[string]struct{ text, want string }{
		"negative": {
			strings.Replace(minimal, "size_gib: 24", "size_gib: -3", 1),
			`my.yaml:6: memory.size_gib: must be positive, got -3`,
		},
		"reported":    {base + "memory: {reported_gib: 81}", `my.yaml:2: memory.reported_gib: must be at most size_gib (80), got 81`},
		"infinite":    {base + "power_w: .inf", `my.yaml:2: power_w: must be finite, got .inf`},
		"not a count": {base + "power_w: .nan", `my.yaml:2: power_w: must be finite, got .nan`},
		"huge":        {base + "power_w: 1e300", `my.yaml:2: power_w: must be at most 1000000, got 1e300`},
		"share": {
			base + "efficiency:\n  compute: 0\n  memory: 1.1",
			`my.yaml:3: efficiency.compute: must be above 0 and at most 1, got 0` + "\n" +
				`my.yaml:4: efficiency.memory: must be above 0 and at most 1, got 1.1`,
		},
		"negative price":  {base + "price: {usd_per_hour: -1}", `my.yaml:2: price.usd_per_hour: must be at least 0, got -1`},
		"price of text":   {base + "price: {usd_per_hour: free}", `my.yaml:2: price.usd_per_hour: must be a number, got the text free`},
		"quoted number":   {base + `power_w: "700"`, `my.yaml:2: power_w: must be a number, got the text 700`},
		"no price":        {base + "price: {source: me}", `my.yaml:2: price.usd_per_hour: missing`},
		"scalar price":    {base + "price: 2.5", `my.yaml:2: price: must be a mapping of keys to values, got 2.5`},
		"nothing":         {base + "memory:\n", `my.yaml:2: memory: must be a mapping of keys to values, got nothing`},
		"number for text": {base + "source: 12", `my.yaml:2: source: must be text, got 12`},
		"two lines":       {base + `source: "a\nb"`, `my.yaml:2: source: must be one line of plain text`},
		"near key":        {base + "\nmemory:\n  size_gb: 80", `my.yaml:4: memory.size_gb: unknown key; nearest: size_gib`},
		"far key": {
			base + "efficiency: {turbo_button: 1}",
			`my.yaml:2: efficiency.turbo_button: unknown key; keys here: compute, memory`,
		},
		"odd key":      {base + `"a b": 1`, `my.yaml:2: "a b": unknown key; keys here: ` + rootKeys},
		"case of key":  {base + "Power_W: 1", `my.yaml:2: Power_W: unknown key; nearest: power_w`},
		"list as key":  {base + "? [a]\n: 1", `my.yaml:2: a key must be a word, got a list`},
		"merge key":    {base + "<<: {node: 1}", `my.yaml:2: <<: unknown key; keys here: ` + rootKeys},
		"twice":        {base + "node: 8\nnode: 4", `my.yaml:3: node: given twice, first on line 2`},
		"format":       {base + "peak_tflops: {matrix: {fp16: 1}}", `my.yaml:2: peak_tflops.matrix.fp16: unknown key; nearest: f16`},
		"unknown base": {"base: h10O_sxm", `my.yaml:1: base: unknown device "h10O_sxm"; nearest: h100_sxm (plimsoll devices lists all 73)`},
		"base of list": {"base: [a]", `my.yaml:1: base: must be text, got a list`},
		"vendor":       {base + "vendor: NVIDIA", `my.yaml:2: vendor: must be one of nvidia, amd, intel, google, aws, apple, ascend, other, test, got NVIDIA`},
		"tier":         {base + "tier: guess", `my.yaml:2: tier: must be one of measured, calibrated, transferred, datasheet, got guess`},
		"name":         {base + "name: my device", `my.yaml:2: name: must be 1 to 64 letters, digits, '.', '_' or '-', got "my device"`},
		"aliases":      {base + "aliases: h100", `my.yaml:2: aliases: must be a list of at most 16 names, got the text h100`},
		"alias":        {base + "aliases: [a, -b]", `my.yaml:2: aliases[1]: must be 1 to 64 letters, digits, '.', '_' or '-', got -b`},
		"half a node":  {base + "node: 2.5", `my.yaml:2: node: must be a whole number, got 2.5`},
		"no node":      {base + "node: 0", `my.yaml:2: node: must be at least 1, got 0`},
		"odd node":     {base + "node: 7", `my.yaml:2: node: the 7 devices of a node do not divide the 1024 that the links connect`},
		"odd rack":     {base + "rack: 12", `my.yaml:2: rack: the 12 devices of a rack must be a multiple of the node's 8 and divide the 1024 that the links connect`},
		"both bandwidths": {
			base + "memory:\n  bandwidth_gb_s: 1\n  bandwidth_tib_s: 1",
			`my.yaml:4: memory: give bandwidth_gb_s or bandwidth_tib_s, not both`,
		},
		"no 16-bit peak": {
			base + "peak_tflops: {matrix: {bf16: 0, f16: 0}}",
			`my.yaml:2: peak_tflops.matrix: bf16 and f16 are both 0`,
		},
		"node outgrows links": {
			base + "links:\n  - {name: nvlink, size: 4}",
			`my.yaml:2: node: the 8 devices of a node do not divide the 4 that the links connect`,
		},
		"level of one": {base + "links:\n  - {name: nvlink, size: 1}", `my.yaml:3: links[0].size: must be at least 2, got 1`},
		"level unknown to the base": {
			base + "links:\n  - {name: nvlink}\n  - {name: ring}",
			"my.yaml:4: links[1].size: missing\nmy.yaml:4: links[1].bandwidth_gb_s: missing\nmy.yaml:4: links[1].latency_us: missing",
		},
		"same level twice": {base + "links:\n  - {name: nvlink}\n  - {name: nvlink}", `my.yaml:4: links[1].name: two levels have the name nvlink`},
		"nameless level":   {base + "links:\n  - {size: 8, bandwidth_gb_s: 1, latency_us: 1}", `my.yaml:3: links[0].name: missing`},
		"topology":         {base + "links: [{name: nvlink, topology: ring}]", `my.yaml:2: links[0].topology: must be one of clos, full_mesh, got ring`},
		"links":            {base + "links: 8", `my.yaml:2: links: must be a list of levels, outermost first, got 8`},
		"level":            {base + "links: [8]", `my.yaml:2: links[0]: must be a mapping of keys to values, got 8`},
		"seven levels":     {base + "links: [1,2,3,4,5,6,7]", `my.yaml:2: links: must have at most 6 levels, got 7`},
		"vast grid": {
			base + "links: [{name: inter-node, size: 16777216}, {name: nvlink, size: 16777216}]",
			`my.yaml:2: links: the links connect more than 16777216 devices`,
		},
		"bare": {
			"generation: new\n",
			"my.yaml:1: name: missing\nmy.yaml:1: vendor: missing\nmy.yaml:1: peak_tflops: missing\nmy.yaml:1: memory: missing",
		},
		"bare inside": {
			"name: a\nvendor: other\npeak_tflops:\n  matrix: {bf16: 1}\n  vector: {f32: 1}\nmemory:\n  bandwidth_gib_s: 1\n",
			"my.yaml:4: peak_tflops.matrix.f16: missing\nmy.yaml:5: peak_tflops.vector.bf16: missing\n" +
				"my.yaml:5: peak_tflops.vector.f16: missing\nmy.yaml:7: memory.bandwidth_gib_s: unknown key; nearest: bandwidth_gb_s\n" +
				"my.yaml:7: memory.size_gib: missing\nmy.yaml:7: memory: missing bandwidth_gb_s or bandwidth_tib_s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text), "my.yaml")
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

const rootKeys = "name, base, aliases, vendor, generation, description, source, tier, peak_tflops, memory, " +
	"efficiency, fixed_us, links, node, rack, power_w, throttle, read_again, price"

// TestParseRefusesWhatIsNoProfile holds syntax errors to their lines.
func TestParseRefusesWhatIsNoProfile(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `my.yaml:1: the file is empty`,
		"# only a comment\n":         `my.yaml:1: the file is empty`,
		"just words":                 `my.yaml:1: must be a mapping of keys to values, got the text "just words"`,
		"- a\n- b\n":                 `my.yaml:1: must be a mapping of keys to values, got a list`,
		"name: a\n---\nname: b\n":    `my.yaml:2: a second document; a file holds one profile`,
		"name: a\n---\nb: [\n":       `my.yaml:4: not valid YAML: did not find expected node content`,
		"a: 1\nb: [1, 2\nc: 3\n":     `my.yaml:2: not valid YAML: did not find expected ',' or ']'`,
		"a: 1\n  b: 2\n":             `my.yaml:2: not valid YAML: mapping values are not allowed in this context`,
		"a: b: c\n":                  `my.yaml:1: not valid YAML: mapping values are not allowed in this context`,
		"a: 1\n\tb: 2\n":             `my.yaml:2: not valid YAML: found a tab character that violates indentation`,
		"a: 1\n- b\n":                `my.yaml:2: not valid YAML: did not find expected key`,
		"a: 1\nb: *c\n":              `my.yaml:2: not valid YAML: unknown anchor 'c' referenced`,
		"a: &x 1\nb: 2\n":            `my.yaml:1: anchors and aliases (& and *) are not allowed in a profile`,
		"a: 1\nb: \xff\n":            `my.yaml:2: not valid UTF-8`,
		"a: 1\n\nb: \x01\n":          `my.yaml:3: control character '\x01'`,
		strings.Repeat("a", 1<<20+1): `my.yaml:1: too large with 1.1 MiB; a device profile may have at most 1 MiB`,
	} {
		_, err := Parse([]byte(text), "my.yaml")
		if err == nil {
			t.Errorf("%.20q: no error", text)
		} else if got := err.Error(); got != want {
			t.Errorf("%.20q\nwant %s\ngot  %s", text, want, got)
		}
	}
}

// TestAliasBomb: nine levels of nine aliases would be 400 million values.
func TestAliasBomb(t *testing.T) {
	var text strings.Builder
	text.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c <= 'i'; c++ {
		text.WriteString(string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n")
	}
	if _, err := Parse([]byte(text.String()), "bomb.yaml"); err == nil ||
		err.Error() != "bomb.yaml:1: anchors and aliases (& and *) are not allowed in a profile" {
		t.Errorf("got %v", err)
	}
}

func TestProblemsAreTypedAndBounded(t *testing.T) {
	_, err := Parse([]byte("base: h100_sxm\nnode: 0\n"), "my.yaml")
	p, ok := errors.AsType[*strictyaml.Problem](err)
	if want := (strictyaml.Problem{File: "my.yaml", Line: 2, Field: "node", Text: "must be at least 1, got 0"}); !ok || *p != want {
		t.Errorf("want %+v, got %+v", want, p)
	}
	var text strings.Builder
	for i := range 1000 {
		text.WriteString("k" + strings.Repeat("x", i) + ": 1\n")
	}
	_, err = Parse([]byte(text.String()), "my.yaml")
	if lines := strings.Split(err.Error(), "\n"); len(lines) != maxProblems {
		t.Errorf("want %d problems, got %d", maxProblems, len(lines))
	}
}

// TestUsable: a process sees what the driver reports; another size of memory makes
// the report of the base void.
func TestUsable(t *testing.T) {
	for text, want := range map[string]float64{
		"base: h100_sxm":                                             79.19,
		"base: h100_sxm\nmemory: {size_gib: 96}":                     96,
		"base: h100_sxm\nmemory: {size_gib: 96, reported_gib: 94.5}": 94.5,
		"base: h100_sxm\nmemory: {reported_gib: 79}":                 79,
		"base: mi325x\nmemory: {bandwidth_gb_s: 5000}":               256,
	} {
		if got := parse(t, text).Usable().GiB(); got != want {
			t.Errorf("%q: want %g GiB, got %g", text, want, got)
		}
	}
}
