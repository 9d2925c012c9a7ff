package strictyaml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

func form() strictyaml.Form {
	return strictyaml.Form{Holds: "thing", Kind: bound.Answers, Aliases: "no aliases", Mapping: true}
}

func TestDocumentRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f:1: the file is empty"},
		{strings.Repeat("#", 65537), "f:1: too large with 64.1 KiB; a file of answers may have at most 64 KiB"},
		{"a: 1\nb: \xff\n", "f:2: not valid UTF-8"},
		{"a: 1\n\nb: \x01\n", "f:3: control character '\\x01'"},
		{"a: 1\n---\nb: 2\n", "f:2: a second document; a file holds one thing"},
		{"- 1\n", "f:1: must be a mapping of keys to values, got a list"},
		{"&x word\n", "f:1: must be a mapping of keys to values, got the text word"},
		{"a: 1\nb: &x 2\n", "f:2: no aliases"},
		{"a: 1\nb: *x\n", "f:2: not valid YAML: unknown anchor 'x' referenced"},
		{"a: 1\nb: [1\nc: 2\n", "f:2: not valid YAML: did not find expected ',' or ']'"},
	} {
		ps := &strictyaml.Problems{File: "f", Most: 5}
		if root := ps.Document([]byte(c.text), form()); root != nil {
			t.Errorf("%q: want nothing, got a document", c.text)
		}
		err := ps.Err()
		if err == nil {
			t.Errorf("%q: want %s, got no error", c.text, c.want)
			continue
		}
		if d := cmp.Diff(c.want, err.Error()); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, d)
		}
		if _, ok := errors.AsType[*strictyaml.Problem](err); !ok {
			t.Errorf("%q: %v is not a *Problem", c.text, err)
		}
	}
}

// TestAliases: where they are not refused, aliases and merge keys are written out, within
// bounds.
func TestAliases(t *testing.T) {
	free := form()
	free.Aliases = ""
	var laughs strings.Builder
	laughs.WriteString("a: &a [x, x, x, x, x, x, x, x, x, x]\n")
	for c := 'b'; c < 'h'; c++ {
		laughs.WriteString(string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 9) + "*" + string(c-1) + "]\n")
	}
	for _, c := range []struct{ text, want, problem string }{
		{"a: &x [1, 2]\nb: *x\n", "a: &x [1, 2]\nb: &x [1, 2]\n", ""},
		{"a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3, m: 4}\n", "a: &x {k: 1, l: 2}\nb: {l: 3, m: 4, k: 1}\n", ""},
		{"a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y]}\n", "a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {k: 1, l: 2}\n", ""},
		{"a: &x 3\nb: {<<: *x}\n", "", "f:1: << must have a mapping or a list of mappings, got 3"},
		{"a: &x [*x]\n", "", "f:1: more than 100 values inside each other"},
		{laughs.String(), "", "f:1: more than 500,000 values, with those that aliases stand for"},
	} {
		ps := &strictyaml.Problems{File: "f", Most: 5}
		root := ps.Document([]byte(c.text), free)
		if c.problem != "" {
			if err := ps.Err(); root != nil || err == nil || err.Error() != c.problem {
				t.Errorf("%s: want %s, got %v", c.text, c.problem, err)
			}
			continue
		}
		if root == nil {
			t.Errorf("%s: %v", c.text, ps.Err())
			continue
		}
		var got, want any
		if err := errors.Join(root.Decode(&got), yaml.Unmarshal([]byte(c.want), &want)); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, d)
		}
	}
}

func TestKeys(t *testing.T) {
	ps := &strictyaml.Problems{File: "f", Most: 5}
	root := ps.Document([]byte("a: 1\nb c: x\na: 2\n[d]: 3\n"), form())
	var got []string
	seen := ps.Keys("top", root, func(at string, _, value *yaml.Node) {
		got = append(got, at)
		ps.Number(at, value)
	})
	if d := cmp.Diff([]string{"top.a", `top."b c"`}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"a": 1, "b c": 2}, seen); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	want := "f:2: top.\"b c\": must be a number, got the text x\n" +
		"f:3: top.a: given twice, first on line 1\n" +
		"f:4: top: a key must be a word, got a list"
	if d := cmp.Diff(want, ps.Err().Error()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestKeysOfNoMapping: the problem is reported, and nothing read.
func TestKeysOfNoMapping(t *testing.T) {
	ps := &strictyaml.Problems{File: "f", Most: 5}
	seen := ps.Keys("top", &yaml.Node{Kind: yaml.SequenceNode, Line: 3}, func(string, *yaml.Node, *yaml.Node) { t.Error("a key is read") })
	if seen != nil {
		t.Errorf("want no keys, got %v", seen)
	}
	if d := cmp.Diff("f:3: top: must be a mapping of keys to values, got a list", ps.Err().Error()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestProblemsAreBoundedAndInOrder(t *testing.T) {
	ps := &strictyaml.Problems{File: "f", Most: 2}
	if err := ps.Err(); err != nil {
		t.Errorf("want no error, got %v", err)
	}
	ps.Add(3, "x", "late")
	ps.Add(0, "", "early")
	ps.Add(2, "", "one too many")
	if !ps.Full() {
		t.Error("want full")
	}
	if d := cmp.Diff("f:1: early\nf:3: x: late", ps.Err().Error()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestShow(t *testing.T) {
	for _, c := range []struct{ text, also, want string }{
		{"", "", `""`},
		{"a,b", "", "a,b"},
		{"a,b", ",", `"a,b"`},
		{"a b", "", `"a b"`},
		{"a\nb", "", `"a\nb"`},
		{strings.Repeat("é", 40), "", strings.Repeat("é", 40)},
		{strings.Repeat("é", 41), "", strings.Repeat("é", 40) + "…"},
		{strings.Repeat("𝄞", 50), "", strings.Repeat("𝄞", 40) + "…"},
	} {
		if got := strictyaml.Show(c.text, c.also); got != c.want {
			t.Errorf("%q: want %s, got %s", c.text, c.want, got)
		}
	}
}

// FuzzDocuments: what is read has no aliases, and no more values than there may be, none of them too deep.
func FuzzDocuments(f *testing.F) {
	for _, text := range []string{
		"a: &x [1, 2]\nb: *x\n", "a: &x {k: 1}\nb: {<<: *x, l: 3}\n---\n- a\n...\n", "a: &a [*a]\n", "? [a]\n: b\n", "<<: 3\n", "!!merge <<: {a: b}\n", "a: |\n  b\n", strings.Repeat("- ", 200),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := strictyaml.Documents([]byte(text))
		if err != nil {
			return
		}
		values := 0
		var visit func(n *yaml.Node, depth int)
		visit = func(n *yaml.Node, depth int) {
			if values++; n.Kind == yaml.AliasNode || depth > bound.YAMLDepth || values > bound.YAMLValues {
				t.Fatalf("an alias, or value %d at depth %d, in %q", values, depth, text)
			}
			for _, c := range n.Content {
				visit(c, depth+1)
			}
		}
		for _, n := range all {
			visit(n, 1)
		}
	})
}

// TestDocuments: each of a file has its aliases and merge keys written out; those that are empty are left out.
func TestDocuments(t *testing.T) {
	all, err := strictyaml.Documents([]byte("a: &x {k: 1}\nb: {<<: *x, l: *x}\n---\n---\n[1]\n"))
	if err != nil || len(all) != 3 { // the second is null
		t.Fatalf("%d documents, %v", len(all), err)
	}
	var got any
	if err := all[0].Decode(&got); err != nil {
		t.Fatal(err)
	}
	x := map[string]any{"k": 1}
	if d := cmp.Diff(map[string]any{"a": x, "b": map[string]any{"k": 1, "l": x}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for text, want := range map[string]string{
		"a: [\n":                      "yaml: line 1: did not find expected node content",
		"b: {<<: 3}\n":                "line 1: << must have a mapping or a list of mappings",
		"a: 1\n---\nb: &x\n  c: *x\n": "line 4: more than 100 values inside each other",
		strings.Repeat("---\n["+strings.Repeat("1,", 60_000)+"]\n", 9): "more than 500,000 values, with those that aliases stand for",
	} {
		if _, err := strictyaml.Documents([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.40q: want %s, got %v", text, want, err)
		}
	}
}
