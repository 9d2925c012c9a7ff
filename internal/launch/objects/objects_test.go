package objects_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
)

// read is what a file describes, nil if it is not YAML.
func read(text string) []objects.Object {
	all, err := strictyaml.Documents([]byte(text))
	if err != nil {
		return nil
	}
	var out []objects.Object
	for _, root := range all {
		out = append(out, objects.Read("x.yaml", root)...)
	}
	return out
}

// said is an object in a line: kind, name, and its pods with part, nodes, accelerator and containers.
func said(o *objects.Object) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s/%s:%d", o.Kind, o.Name, o.Line)
	for i := range o.Pods {
		p := &o.Pods[i]
		fmt.Fprintf(&text, " %s×%d(%s)", p.Part, p.Nodes, p.Accelerator())
		for _, c := range p.Containers {
			fmt.Fprintf(&text, " %s=%s", c.Name, c.Image)
			if c.Init {
				text.WriteString(" first")
			}
		}
	}
	return text.String()
}

// TestRead: pods are found wherever an object has them.
func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"Deployment", `
kind: Deployment
metadata: {name: a}
spec: {template: {metadata: {labels: {app: a}}, spec: {initContainers: [{name: i, image: x}], containers: [{name: c, image: y, resources: {limits: {amd.com/gpu: 1}}}]}}}`,
			"Deployment/a:2 template×1(amd.com/gpu) c=y i=x first",
		},
		{
			"LeaderWorkerSet", `
kind: LeaderWorkerSet
metadata: {name: a}
spec: {leaderWorkerTemplate: {size: 4, leaderTemplate: {spec: {containers: [{name: l}]}}, workerTemplate: {spec: {containers: [{name: w}]}}}}`,
			"LeaderWorkerSet/a:2 leaderTemplate×4() l= workerTemplate×4() w=",
		},
		{
			"component of Dynamo", `
kind: DynamoGraphDeployment
metadata: {name: a}
spec: {services: {Worker: {multinode: {nodeCount: 2}, resources: {limits: {gpu: "8"}}, extraPodSpec: {mainContainer: {image: x}}}}}`,
			"DynamoGraphDeployment/a:2 extraPodSpec×2(gpu) =x",
		},
		{
			"KServe", `
kind: LLMInferenceService
spec: {template: {containers: [{name: main}]}, worker: {containers: [{name: main}]}}`,
			"LLMInferenceService/:2 template×2() main= worker×2() main=",
		},
		{"Compose", `services: {engine: {image: x}, router: {image: y}}`, "/:1 engine×1() engine=x router×1() router=y"},
		{"list", "kind: List\nitems: [{kind: Service, metadata: {name: a}}, {kind: Service, metadata: {name: b}}]", "Service/a:2|Service/b:2"},
		{"picker in a text", "kind: ConfigMap\nmetadata: {name: a}\ndata:\n  c.yaml: |\n    # a comment\n    kind: EndpointPickerConfig\n", "ConfigMap/a:1|EndpointPickerConfig/:6"},
		{"picker in an object", "kind: LLMInferenceService\nspec:\n  inline:\n    kind: EndpointPickerConfig\n", "LLMInferenceService/:1|EndpointPickerConfig/:4"},
		{"no mapping", "- a", ""},
	} {
		var got []string
		for _, o := range read(c.text) {
			got = append(got, said(&o))
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// FuzzRead: whatever a document is, reading ends, and what is found stands in it.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"kind: Pod\nspec: {containers: [{name: a, image: b}]}", "services: {a: {image: b}}", "kind: List\nitems: [[], 1, {kind: List, items: [x]}]",
		"data: {a: 'kind: EndpointPickerConfig'}", "a: &x {containers: [*y]}", "spec: {containers: {}, mainContainer: []}", "kind: []\nmetadata: 1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range read(text) {
			if slices.ContainsFunc(o.Pods, func(p objects.Pod) bool { return len(p.Containers) == 0 || p.Nodes < 1 }) || o.Line < 1 {
				t.Errorf("%s", said(&o))
			}
		}
	})
}
