package files_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// published are the schemas of testdata/schemas by the kind they are of: "apps/v1/Deployment"; Compose files have "compose".
var published = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	paths, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil {
		return nil, err
	}
	out := map[string]*jsonschema.Schema{}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // the API server's dialect; Compose names its own
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		if err := c.AddResource(path, doc); err != nil {
			return nil, err
		}
		kinds := map[string]string{}
		defs, _ := doc["$defs"].(map[string]any)
		for name := range defs {
			if strings.Contains(name, "/") { // others are parts
				kinds[name] = path + "#/$defs/" + strings.ReplaceAll(name, "/", "~1")
			}
		}
		if len(kinds) == 0 {
			kinds[strings.TrimSuffix(filepath.Base(path), ".json")] = path
		}
		for name, at := range kinds {
			if out[name], err = c.Compile(at); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
})

// fits are the reasons why the documents of a YAML file are not what those who read it accept: objects of Kubernetes by their kind,
// Compose files, values of llm-d's chart and services of SkyPilot. Another file is not looked at.
func fits(t *testing.T, f launch.File) []string {
	t.Helper()
	all, err := published()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(f.Path, "compose.yaml") {
		return wrong(f.Path, all["compose"].Validate(plain(t, documents(t, f)[0])))
	}
	for end, name := range map[string]string{"llm-d/values.yaml": "llm-d-modelservice", "skypilot/service.yaml": "skypilot"} {
		if strings.HasSuffix(f.Path, end) {
			return wrong(f.Path, all[name].Validate(plain(t, documents(t, f)[0])))
		}
	}
	var out []string
	if !strings.HasSuffix(f.Path, ".yaml") {
		return nil
	}
	for _, doc := range documents(t, f) {
		version, _ := doc["apiVersion"].(string)
		kind, _ := doc["kind"].(string)
		if kind == "" {
			continue // settings of an engine, values of a chart
		}
		s, ok := all[version+"/"+kind]
		if !ok {
			out = append(out, fmt.Sprintf("%s: %s %s has no schema in testdata/schemas, which has %s", f.Path, version, kind, slices.Sorted(maps.Keys(all))))
			continue
		}
		out = append(out, wrong(f.Path+", "+kind, s.Validate(plain(t, doc)))...)
		out = append(out, misnamed(f.Path, kind, doc)...)
	}
	return out
}

// wrong are the reasons of a validation.
func wrong(where string, err error) []string {
	if err == nil {
		return nil
	}
	return []string{where + ": " + err.Error()}
}

// plain is a document of the types that JSON has.
func plain(t *testing.T, doc map[string]any) any {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The rules of names that no schema holds: RFC 1123 for objects, RFC 1035 for what becomes a DNS name (Services, and the sets and
// graphs for which an operator makes some), and the values of labels.
var (
	dnsName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	hostName   = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

// misnamed are names of an object that the API server refuses.
func misnamed(path, kind string, doc map[string]any) []string {
	var out []string
	rule := dnsName
	if slices.Contains([]string{"Service", "LeaderWorkerSet", "DynamoGraphDeployment", "InferenceService", "LLMInferenceService"}, kind) {
		rule = hostName
	}
	if kind == "DynamoGraphDeployment" {
		out = append(out, longPods(path, doc)...)
	}
	meta, _ := doc["metadata"].(map[string]any)
	if name, _ := meta["name"].(string); !rule.MatchString(name) {
		out = append(out, fmt.Sprintf("%s: %s cannot be named %q", path, kind, name))
	}
	if space, ok := meta["namespace"].(string); ok && !dnsName.MatchString(space) {
		out = append(out, fmt.Sprintf("%s: %s cannot be in namespace %q", path, kind, space))
	}
	for _, labels := range found(doc, "labels", "matchLabels", "selector", "nodeSelector") {
		for key, v := range labels {
			if text, ok := v.(string); ok && !labelValue.MatchString(text) {
				out = append(out, fmt.Sprintf("%s: %s has label %s=%q", path, kind, key, text))
			}
		}
	}
	return out
}

// longPods are components whose pods would have names above the limit of Dynamo's operator, which shortens the graph's name to 8
// characters at least (deploy/operator 1.4.1: PCSNameForDGD and the webhook's dgdComponentResourceNameLength).
func longPods(path string, doc map[string]any) []string {
	const most, graph, suffix = 45, 8, "-ldr"
	var out []string
	spec, _ := doc["spec"].(map[string]any)
	services, _ := spec["services"].(map[string]any)
	for name, s := range services {
		n := graph + len(name)
		if c, _ := s.(map[string]any); c["multinode"] != nil {
			n += len(name) + len(suffix)
		}
		if n > most {
			out = append(out, fmt.Sprintf("%s: pods of %s have names of %d characters, more than %d", path, name, n, most))
		}
	}
	return out
}

// found are the mappings with one of some keys at any depth.
func found(n any, keys ...string) []map[string]any {
	var out []map[string]any
	switch v := n.(type) {
	case []any:
		for _, c := range v {
			out = append(out, found(c, keys...)...)
		}
	case map[string]any:
		for k, c := range v {
			if m, ok := c.(map[string]any); ok && slices.Contains(keys, k) {
				out = append(out, m)
			}
			out = append(out, found(c, keys...)...)
		}
	}
	return out
}

// TestSchemas: every object and every Compose file is what the API server, an operator or Compose accepts.
func TestSchemas(t *testing.T) {
	checked := 0
	for name, p := range cases(t) {
		p.Site.Namespace = "serving"
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			for _, why := range fits(t, f) {
				t.Errorf("%s: %s", name, why)
			}
			if strings.HasSuffix(f.Path, "deploy.yaml") || strings.HasSuffix(f.Path, "compose.yaml") {
				checked++
			}
		}
	}
	if checked < 3*len(cases(t))-3 {
		t.Errorf("only %d manifests", checked)
	}
}

// TestSchemasRefuse: the check finds an unknown field, a wrong type and a name that the API server refuses.
func TestSchemasRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replica: 1, selector: {}, template: {}}\n":                        "replica",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: two, selector: {}, template: {}}\n":                     "replicas",
		"apiVersion: v1\nkind: Service\nmetadata: {name: 4bit}\n":                                                                             `named "4bit"`,
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_b}\n":                                                                            `named "A_b"`,
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {app: a b}}\n":                                                          `app="a b"`,
		"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n":                                                                      "no schema",
		"apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: a}\nspec: {services: {F: {replicas: 1, image: x}}}\n": "image",
	} {
		got := strings.Join(fits(t, launch.File{Path: "deploy.yaml", Data: []byte(text)}), "\n")
		if !strings.Contains(got, want) {
			t.Errorf("want %q in %q, of\n%s", want, got, text)
		}
	}
	for path, text := range map[string]string{
		"llm-d/values.yaml": "routing: {servicePrt: 8000}\n", "skypilot/service.yaml": "service: {replica: 1}\nrun: x\n",
	} {
		if got := fits(t, launch.File{Path: path, Data: []byte(text)}); len(got) != 1 {
			t.Errorf("%s: an unknown key was not found: %v", path, got)
		}
	}
	if got := fits(t, launch.File{Path: "compose.yaml", Data: []byte("services: {a: {image: x, comand: y}}\n")}); len(got) == 0 {
		t.Error("Compose: an unknown key was not found")
	}
}
