package device

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// compiled is the schema, checked against its own draft.
func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("profile.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("profile.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestEmbeddedProfilesFitTheSchema(t *testing.T) {
	s := compiled(t)
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaAndParserAgree gives both the same documents. What only the parser
// can know (does the base exist, do nodes fit the links) is not among them.
func TestSchemaAndParserAgree(t *testing.T) {
	s := compiled(t)
	const base = "base: h100_sxm\n"
	const links = minimal + "links:\n  - {name: a, size: 2, bandwidth_gb_s: 10, latency_us: 3"
	edit := func(old, replacement string) string {
		if !strings.Contains(minimal, old) {
			t.Fatalf("minimal has no %q", old)
		}
		return strings.Replace(minimal, old, replacement, 1)
	}
	for text, good := range map[string]bool{
		minimal:       true,
		base:          true,
		links + "}\n": true,
		links + ", efficiency: 1, topology: full_mesh}\n": true,
		base + "node: 8.0\n":                              true,
		base + "node: 4\nrack: 8\n":                       true,
		base + "power_w: 0\n":                             true,
		base + "price: {usd_per_hour: 2, source: us}\n":   true,
		base + "links: []\nnode: 1\n":                     true,
		base + "links: [{name: nvlink}]\n":                true,
		base + "memory: {}\n":                             true,
		base + "peak_tflops: {vector: {int4: 1}}\n":       true,
		base + "tier: measured\naliases: [a, B.c-d_1]\n":  true,
		base + "fixed_us: {communication: 0}\n":           true,
		edit("bandwidth_gb_s: 900", "bandwidth_tib_s: 1"): true,

		"base: 3\n":                                                false,
		edit("name: mine\n", ""):                                   false,
		edit("name: mine", "name: a b"):                            false,
		edit("name: mine", "name: ''"):                             false,
		edit("vendor: other\n", ""):                                false,
		edit("vendor: other", "vendor: acme"):                      false,
		edit("bf16: 100, ", ""):                                    false,
		edit("f32: 10, ", ""):                                      false,
		edit("bf16: 100", "bf16: -1"):                              false,
		edit("bf16: 100", "bf16: 10000001"):                        false,
		edit("bf16: 100", "bf16: true"):                            false,
		edit("bf16: 100", "fp64: 1, bf16: 1"):                      false,
		edit("size_gib: 24, ", ""):                                 false,
		edit("size_gib: 24", "size_gib: 0"):                        false,
		edit("size_gib: 24", "size_gib: '9'"):                      false,
		edit(", bandwidth_gb_s: 900", ""):                          false,
		edit("900}", "900, bandwidth_tib_s: 1}"):                   false,
		base + "memory: {bandwidth_gb_s: 1, bandwidth_tib_s: 1}\n": false,
		base + "efficiency: {compute: 0}\n":                        false,
		base + "efficiency: {memory: 1.01}\n":                      false,
		base + "fixed_us: {vector: -1}\n":                          false,
		base + "tier: rumour\n":                                    false,
		base + "colour: red\n":                                     false,
		base + "node: 0\n":                                         false,
		base + "node: 1.5\n":                                       false,
		base + "price: {source: us}\n":                             false,
		base + "price: 3\n":                                        false,
		base + "power_w:\n":                                        false,
		base + "source: [a]\n":                                     false,
		base + "source: \"a\\tb\"\n":                               false,
		base + "aliases: a\n":                                      false,
		base + "links: {}\n":                                       false,
		base + "links: [{size: 8}]\n":                              false,
		base + "links: [{name: nvlink, size: 1}]\n":                false,
		base + "links: [{name: nvlink, topology: ring}]\n":         false,
		links + ", efficiency: 0}\n":                               false,
		links + ", colour: red}\n":                                 false,
		strings.Replace(links, ", latency_us: 3", "}\n", 1):        false,
		"just words\n":                                             false,
		"[]\n":                                                     false,
	} {
		_, err := Parse([]byte(text), "my.yaml")
		if (err == nil) != good {
			t.Errorf("parser: want good=%v of\n%s\ngot %v", good, text, err)
		}
		if err := validate(t, s, text); (err == nil) != good {
			t.Errorf("schema: want good=%v of\n%s\ngot %v", good, text, err)
		}
	}
}
