package files_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// texts are the files of a plan by their paths.
func texts(t *testing.T, p *launch.Plan, targets ...files.Target) map[string]string {
	t.Helper()
	all, _, err := files.Write(p, targets...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range all {
		out[f.Path] = string(f.Data)
	}
	return out
}

// TestStorage: the volume holds the checkpoint, with room, and is no larger than needed.
func TestStorage(t *testing.T) {
	for model, want := range map[string]string{
		"deepseek-ai/DeepSeek-V3": "800Gi", // 671e9 parameters in FP8 and 14e9 of MTP: 640 GiB
		"Qwen/Qwen3-32B":          "100Gi", // 32.8e9 in BF16: 61 GiB
		"Qwen/Qwen3-0.6B":         "50Gi",
	} {
		layout := tp(1)
		if model == "deepseek-ai/DeepSeek-V3" {
			layout = wide(8)
		}
		for path, text := range texts(t, planned(t, "vllm", "0.24.0", model, "h200_sxm", []int{8}, both(1, layout))) {
			switch path {
			case "kubernetes/deploy.yaml", "k8s_deploy.yaml":
				if !strings.Contains(text, "storage: "+want+"\n") {
					t.Errorf("%s, %s: want %s in\n%s", model, path, want, text)
				}
			case "llm-d/values.yaml":
				if !strings.Contains(text, "size: "+want+"\n") {
					t.Errorf("%s, %s: want %s in\n%s", model, path, want, text)
				}
			}
		}
	}
}

// TestNodeSelectors: every pool selects nodes with its GPUs, or a comment says that their label is not known.
func TestNodeSelectors(t *testing.T) {
	p := planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "h200_sxm", []int{1, 32}, prefill(1, tp(2)), decode(2, tp(4)))
	manifests := []string{"kubernetes/deploy.yaml", "k8s_deploy.yaml", "llm-d/values.yaml"}
	for system, want := range map[string][2]string{
		"b200_sxm": {"nvidia.com/gpu.product: NVIDIA-B200\n", ""},
		"rtx_4090": {"", "# Add a nodeSelector to the prefill pods: no label of nodes with rtx_4090 is known.\n"},
	} {
		p.Deployment.Pools[0].System = system
		resolve(t, p)
		for _, path := range manifests {
			text := texts(t, p)[path]
			for _, w := range append(want[:], "nvidia.com/gpu.product: NVIDIA-H200\n") {
				if !strings.Contains(text, w) {
					t.Errorf("%s, %s: no %q in\n%s", system, path, w, text)
				}
			}
		}
	}
}

// TestBenchmarkAsksWhatRuns: the job asks the service of the manifests that were written with it, and names one that is there.
func TestBenchmarkAsksWhatRuns(t *testing.T) {
	plans := cases(t)
	for _, c := range []struct {
		plan    string
		targets []files.Target
		want    string
	}{
		{"vllm-agg-dense", nil, "http://qwen3-32b-fp8-frontend:8000"},
		{"vllm-agg-dense", []files.Target{files.Bench, files.Dynamo}, "http://qwen3-32b-fp8-frontend:8000"},
		{"vllm-agg-dense", []files.Target{files.Kubernetes, files.Bench}, "http://qwen3-32b-fp8:9000"},
		{"vllm-agg-dense", []files.Target{files.Bench}, "http://qwen3-32b-fp8:9000"},
		{"sglang-disagg-moe", nil, "http://deepseek-v3-frontend:8000"},
	} {
		p := plans[c.plan]
		p.Site.Port = 9000 // of our own servers; Dynamo's service has its own
		if text := texts(t, p, c.targets...)["k8s_bench.yaml"]; !strings.Contains(text, "--url "+c.want+" ") {
			t.Errorf("%s for %v: want %s in\n%s", c.plan, c.targets, c.want, text)
		}
	}
}

// TestNames: whatever the model, the served name and the namespace are called, files are written that the API server and Compose accept,
// or the name is refused.
func TestNames(t *testing.T) {
	base := cases(t)
	word := rapid.StringMatching(`[-A-Za-z0-9_./:@+= é]{1,90}`)
	space := rapid.OneOf(rapid.StringMatching(`[-a-z0-9.A-Z]{0,66}`), rapid.Just(""))
	written := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := *base[rapid.SampledFrom([]string{"vllm-disagg-dense", "sglang-disagg-moe", "trtllm-agg-dense"}).Draw(rt, "plan")]
		p.Deployment.Model = word.Draw(rt, "model")
		p.Site = launch.Site{Namespace: space.Draw(rt, "namespace"), ServedName: rapid.OneOf(word, rapid.Just("")).Draw(rt, "served")}
		all, _, err := files.Write(&p)
		if err != nil {
			if !strings.Contains(err.Error(), "must be") {
				rt.Fatalf("refused without a rule: %v", err)
			}
			return
		}
		written++
		for _, f := range all {
			for _, why := range fits(t, f) {
				rt.Fatalf("%s", why)
			}
		}
	})
	if written == 0 {
		t.Error("no name was accepted")
	}
}

// TestLongNames: names stay different within what Kubernetes allows, with their suffixes.
func TestLongNames(t *testing.T) {
	p := cases(t)["sglang-disagg-moe"]
	for _, model := range []string{strings.Repeat("a", 300), "4bit/1.5-b", "x/---", "ünï/çødé", fmt.Sprintf("x/%s-%s", strings.Repeat("b", 38), "tail")} {
		p.Deployment.Model, p.Site.ServedName = model, "m"
		for path, text := range texts(t, p) {
			for _, why := range fits(t, launch.File{Path: path, Data: []byte(text)}) {
				t.Error(why)
			}
		}
	}
}

// TestOwnNames: objects have names of the plan's own, so that two plans in a namespace change nothing of each other.
func TestOwnNames(t *testing.T) {
	for name, p := range cases(t) {
		p.Deployment.Model, p.Site.ServedName = "x/their-own", "m"
		for path, text := range texts(t, p) {
			if !strings.HasSuffix(path, "deploy.yaml") {
				continue
			}
			for _, doc := range documents(t, launch.File{Path: path, Data: []byte(text)}) {
				if got := fmt.Sprint(doc["metadata"].(map[string]any)["name"]); !strings.HasPrefix(got, "their-own") {
					t.Errorf("%s, %s: %v %s", name, path, doc["kind"], got)
				}
			}
		}
	}
}

// TestReferences: what an object refers to by name is in the same manifest, and a service finds pods.
func TestReferences(t *testing.T) {
	checked := 0
	for name, p := range cases(t) {
		for path, text := range texts(t, p) {
			if !strings.HasSuffix(path, "deploy.yaml") {
				continue
			}
			there := map[string]bool{}
			var pods []map[string]any
			all := documents(t, launch.File{Path: path, Data: []byte(text)})
			for _, doc := range all {
				there[fmt.Sprint(doc["kind"], " ", doc["metadata"].(map[string]any)["name"])] = true
				for _, template := range found(doc, "template", "leaderTemplate", "workerTemplate", "podTemplate") {
					if meta, ok := template["metadata"].(map[string]any); ok {
						pods = append(pods, meta["labels"].(map[string]any))
					}
				}
			}
			want := func(kind string, name any) {
				if checked++; name != nil && !there[fmt.Sprint(kind, " ", name)] {
					t.Errorf("%s, %s: no %s %v", name, path, kind, name)
				}
			}
			for _, doc := range all {
				for _, m := range found(doc, "persistentVolumeClaim") {
					want("PersistentVolumeClaim", m["claimName"])
				}
				for _, m := range found(doc, "configMap") {
					want("ConfigMap", m["name"])
				}
				for _, m := range found(doc, "spec") {
					want("ServiceAccount", m["serviceAccountName"])
				}
				if doc["kind"] == "Service" && !slices.ContainsFunc(pods, func(labels map[string]any) bool { return selects(doc, labels) }) {
					t.Errorf("%s, %s: service %v finds no pods", name, path, doc["metadata"])
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d references", checked)
	}
}

// selects reports whether a service's selector matches labels.
func selects(service, labels map[string]any) bool {
	for key, value := range service["spec"].(map[string]any)["selector"].(map[string]any) {
		if labels[key] != value {
			return false
		}
	}
	return true
}
