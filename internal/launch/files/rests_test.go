package files_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// startsEngines are the targets whose files start engines.
func startsEngines() []files.Target {
	return []files.Target{files.Plain, files.Compose, files.Kubernetes, files.Dynamo, files.LLMD, files.KServe, files.Slurm, files.SkyPilot}
}

// TestHostCacheWritten: host memory that a prediction counts on is in the files of every target, as much as the engine counts in its own
// unit, or they say that it is not.
func TestHostCacheWritten(t *testing.T) {
	const gib = 200
	for name, c := range map[string]struct {
		plan *launch.Plan
		want string // in the files; "" is a sentence instead
	}{
		"vllm":           {planned(t, "vllm", versionOf("vllm"), "Qwen/Qwen3-32B-FP8", "h200_sxm", []int{28}, both(2, tp(4))), "--kv-offloading-size 200"},
		"vllm ranks":     {planned(t, "vllm", versionOf("vllm"), "Qwen/Qwen3-235B-A22B", "h200_sxm", []int{64}, both(1, wide(8))), "--kv-offloading-size 25"},
		"vllm old":       {planned(t, "vllm", "0.10.2", "Qwen/Qwen3-32B-FP8", "h200_sxm", []int{28}, both(2, tp(4))), ""},
		"vllm disagg":    {planned(t, "vllm", versionOf("vllm"), "Qwen/Qwen3-32B-FP8", "h200_sxm", []int{1, 64}, prefill(2, tp(1)), decode(1, tp(2))), ""},
		"sglang":         {planned(t, "sglang", versionOf("sglang"), "Qwen/Qwen3-32B-FP8", "h200_sxm", []int{28}, both(2, tp(4))), "--enable-hierarchical-cache --hicache-size 53"},
		"sglang disagg":  {planned(t, "sglang", versionOf("sglang"), "Qwen/Qwen3-32B-FP8", "h200_sxm", []int{1, 64}, prefill(2, tp(1)), decode(1, tp(2))), "--enable-hierarchical-cache --hicache-size 214"},
		"trtllm":         {planned(t, "trtllm", versionOf("trtllm"), "Qwen/Qwen3-32B-FP8", "h200_sxm", []int{28}, both(2, tp(4))), "host_cache_size: 53687091200"},
		"vllm on Ascend": {planned(t, "vllm-ascend", "", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(1, tp(4))), ""},
	} {
		c.plan.Deployment.Host = deployment.HostCache{GiB: gib}
		checked := 0
		for _, target := range startsEngines() {
			all, _, err := files.Write(c.plan, target)
			if err != nil {
				continue // the target cannot run it
			}
			checked++
			said := files.Rests(all)
			switch text := flat(all); {
			case c.want == "" && !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "200 GiB of host memory") }):
				t.Errorf("%s, %s: nothing is said of the host memory, which is not in the files: %q", name, target, said)
			case c.want != "" && !strings.Contains(text, c.want):
				t.Errorf("%s, %s: no %q in\n%s", name, target, c.want, text)
			case c.want != "" && len(said) > 0:
				t.Errorf("%s, %s: is in the files, and they say %q", name, target, said)
			case c.want == "" && (strings.Contains(text, "kv-offloading") || strings.Contains(text, "host_cache_size")):
				t.Errorf("%s, %s: says that it has none, and has", name, target)
			}
		}
		if checked == 0 {
			t.Errorf("%s: no target", name)
		}
	}
}

// flat is the text of files with words of commands on one line, without the comments.
func flat(all []launch.File) string {
	var out strings.Builder
	for _, f := range all {
		for line := range strings.Lines(string(f.Data)) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
				out.WriteString(strings.Trim(strings.TrimPrefix(line, "- "), `\'" `) + " ")
			}
		}
	}
	return strings.ReplaceAll(strings.Join(strings.Fields(out.String()), " "), `"`, "")
}

// TestRoutingWritten: every router gets the routing of the prediction, or the files say that they have another.
func TestRoutingWritten(t *testing.T) {
	// What the files of a target say where they do as predicted.
	does := map[string]map[string]string{
		"vllm":   {"round-robin": "--policy round_robin", "session": "--policy consistent_hash", "prefix": "--policy cache_aware", "sglang": "--policy cache_aware"},
		"sglang": {"round-robin": "--policy round_robin", "session": "--policy manual", "prefix": "--policy cache_aware", "sglang": "--policy cache_aware"},
		"dynamo": {"round-robin": "dynamo.frontend", "least-loaded": "DYN_ROUTER_MODE", "dynamo": "DYN_ROUTER_MODE"},
		"picker": {"llm-d": ""}, // llm-d's own defaults
		"sky":    {"round-robin": "load_balancing_policy: round_robin", "least-loaded": "load_balancing_policy: least_load"},
	}
	seen := map[files.Target]bool{}
	for _, e := range []string{"vllm", "sglang", "trtllm"} {
		for _, routing := range sim.RoutingNames() {
			for name, pools := range map[string][]deployment.Pool{"agg": {both(2, tp(4))}, "disagg": {prefill(2, tp(1)), decode(2, tp(1))}} {
				batches := []int{28}
				if name == "disagg" {
					batches = []int{1, 28}
				}
				p := planned(t, e, versionOf(e), "Qwen/Qwen3-32B-FP8", "h200_sxm", batches, pools...)
				p.Deployment.Routing = routing
				for _, target := range startsEngines() {
					all, _, err := files.Write(p, target)
					if err != nil {
						continue
					}
					seen[target] = true
					by := e
					switch {
					case target == files.Dynamo:
						by = "dynamo"
					case target == files.LLMD || target == files.KServe:
						by = "picker"
					case target == files.SkyPilot && name == "agg":
						by = "sky"
					}
					said := strings.Join(files.Rests(all), " ")
					want, as := does[by][routing]
					if as && (!strings.Contains(flat(all), want) || strings.Contains(said, "here it is")) {
						t.Errorf("%s %s, %s, %s: no %q, and says %q", e, name, target, routing, want, said)
					}
					if !as && by != "trtllm" && !strings.Contains(said, "routing by "+routing) {
						t.Errorf("%s %s, %s: nothing is said of routing by %s: %q", e, name, target, routing, said)
					}
				}
			}
		}
	}
	for _, target := range startsEngines() {
		if !seen[target] {
			t.Errorf("%s: nothing was written; %v", target, slices.Collect(maps.Keys(seen)))
		}
	}
}

// TestRoutersWait: routers wait for engines as long as the probes of the same plan do.
func TestRoutersWait(t *testing.T) {
	routers := 0
	for name, p := range cases(t) {
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			text := flat([]launch.File{f})
			_, after, has := strings.Cut(text, "--worker-startup-timeout-secs ")
			started, err := launch.Processes(f)
			if err != nil {
				t.Fatal(err)
			}
			if starts := slices.ContainsFunc(started, isRouter); starts != has {
				t.Errorf("%s, %s: a router without a limit of its own", name, f.Path)
			}
			if has && !strings.HasPrefix(after, "3600 ") {
				t.Errorf("%s, %s: the router waits %.10s", name, f.Path, after)
			}
			if has {
				routers++
			}
			for _, doc := range yamlDocuments(t, f) {
				for _, probe := range found(doc, "startupProbe") {
					if probe["periodSeconds"].(int)*probe["failureThreshold"].(int) > 3600 {
						t.Errorf("%s, %s: a probe waits longer than routers: %v", name, f.Path, probe)
					}
				}
			}
		}
	}
	if routers < 10 {
		t.Errorf("only %d files with routers", routers)
	}
}

// isRouter reports a router of vLLM or SGLang.
func isRouter(p launch.Process) bool {
	return p.Program == launch.VLLMRouter || p.Program == launch.SGLangRouter
}

// yamlDocuments are the documents of a file, none if it is not YAML.
func yamlDocuments(t *testing.T, f launch.File) []map[string]any {
	t.Helper()
	if !strings.HasSuffix(f.Path, ".yaml") {
		return nil
	}
	return documents(t, f)
}
