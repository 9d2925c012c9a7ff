package files_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestScaled: the thresholds of KEDA's triggers are the capacity of a worker less what the autoscaler of Kubernetes tolerates, so that
// it acts before the limits break.
func TestScaled(t *testing.T) {
	const tolerance = 0.1
	for name, c := range map[string]struct {
		p     *launch.Plan
		kind  string
		names []string
	}{
		"one node": {
			planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "h200_sxm", []int{64}, both(2, tp(4))), "Deployment",
			[]string{"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"},
		},
		"ranks on two nodes": {
			planned(t, "vllm", "0.9.2", "deepseek-ai/DeepSeek-V3", "h200_sxm", []int{64}, both(2, wide(16))), "LeaderWorkerSet",
			[]string{"vllm:gpu_cache_usage_perc", ") / 16"},
		},
		"sglang": {
			planned(t, "sglang", "0.5.16", "Qwen/Qwen3-32B", "h200_sxm", []int{64}, both(2, tp(2))), "Deployment",
			[]string{"sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage"},
		},
	} {
		all, _, err := files.Write(c.p, files.KEDA)
		if err != nil {
			t.Fatal(err)
		}
		spec := ofKind(t, all[0], "ScaledObject")["spec"].(map[string]any)
		if got := spec["scaleTargetRef"].(map[string]any)["kind"]; got != c.kind || spec["maxReplicaCount"] != 2 {
			t.Errorf("%s: scales %v up to %v", name, got, spec["maxReplicaCount"])
		}
		capacity := []float64{float64(c.p.Capacity.Concurrency) / 2, c.p.Capacity.KV}
		for i, x := range spec["triggers"].([]any) {
			metadata := x.(map[string]any)["metadata"].(map[string]any)
			threshold, err := strconv.ParseFloat(metadata["threshold"].(string), 64)
			if err != nil || threshold*(1+tolerance) > capacity[i] || threshold < 0.9*capacity[i]/(1+tolerance) {
				t.Errorf("%s: threshold %v for a capacity of %g", name, metadata["threshold"], capacity[i])
			}
		}
		for _, want := range append(c.names, `namespace="default",model_name="`+c.p.Deployment.Model) {
			if !strings.Contains(strings.ReplaceAll(string(all[0].Data), `\"`, `"`), want) {
				t.Errorf("%s: no %q in\n%s", name, want, all[0].Data)
			}
		}
	}
}

// ofKind is the one document of a file with a kind.
func ofKind(t *testing.T, f launch.File, kind string) map[string]any {
	t.Helper()
	var out map[string]any
	for _, doc := range documents(t, f) {
		if doc["kind"] == kind {
			if out != nil {
				t.Fatalf("%s: more than one %s", f.Path, kind)
			}
			out = doc
		}
	}
	if out == nil {
		t.Fatalf("%s: no %s", f.Path, kind)
	}
	return out
}

// inside is a value in mappings and lists inside one another.
func inside(n any, path ...any) any {
	for _, key := range path {
		switch v := n.(type) {
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil
			}
			n = v[name]
		case []any:
			i, ok := key.(int)
			if !ok || i >= len(v) {
				return nil
			}
			n = v[i]
		default:
			return nil
		}
	}
	return n
}

// TestScraped: where an autoscaler reads metrics, a PodMonitor collects them from the pods of what is scaled, the engine has
// them, and the autoscaler is slow to take workers away.
func TestScraped(t *testing.T) {
	checked := 0
	for name, p := range cases(t) {
		p.Site.Namespace = "serving"
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		byPath := map[string]launch.File{}
		for _, f := range all {
			byPath[f.Path] = f
		}
		for path, kind := range map[string]string{"kubernetes/hpa.yaml": "HorizontalPodAutoscaler", "keda/scaledobject.yaml": "ScaledObject"} {
			f, ok := byPath[path]
			if !ok {
				continue
			}
			checked++
			scaler := inside(ofKind(t, f, kind), "spec")
			behavior := cmp.Or(inside(scaler, "behavior"), inside(scaler, "advanced", "horizontalPodAutoscalerConfig", "behavior"))
			if window, ok := inside(behavior, "scaleDown", "stabilizationWindowSeconds").(int); !ok || window < 600 {
				t.Errorf("%s, %s: a worker goes after %d s", name, path, window)
			}
			monitor := ofKind(t, f, "PodMonitor")
			if inside(monitor, "metadata", "namespace") != "serving" {
				t.Errorf("%s, %s: the monitor is not where the pods are", name, path)
			}
			deploy := byPath["kubernetes/deploy.yaml"]
			var target map[string]any
			for _, doc := range documents(t, deploy) {
				if doc["kind"] == inside(scaler, "scaleTargetRef", "kind") && inside(doc, "metadata", "name") == inside(scaler, "scaleTargetRef", "name") {
					target = doc
				}
			}
			pod := cmp.Or(inside(target, "spec", "template"), inside(target, "spec", "leaderWorkerTemplate", "leaderTemplate"))
			for key, value := range inside(monitor, "spec", "selector", "matchLabels").(map[string]any) {
				if got := inside(pod, "metadata", "labels", key); got != value {
					t.Errorf("%s, %s: the pods of %v have %s=%v, not %v", name, path, inside(scaler, "scaleTargetRef", "name"), key, got, value)
				}
			}
			if port := inside(pod, "spec", "containers", 0, "ports", 0, "name"); port == nil || port != inside(monitor, "spec", "podMetricsEndpoints", 0, "port") {
				t.Errorf("%s, %s: the monitor reads %v", name, path, inside(monitor, "spec", "podMetricsEndpoints"))
			}
			if p.Deployment.Engine.Name == launch.SGLang && !strings.Contains(string(deploy.Data), "--enable-metrics") {
				t.Errorf("%s, %s: SGLang has no metrics", name, path)
			}
		}
	}
	if checked < 8 {
		t.Errorf("only %d autoscalers", checked)
	}
}

// TestScaledBlindly: without metrics KEDA keeps the planned workers. Queries see one namespace only, and a cache that is nearly empty at
// the limits is no reason to scale.
func TestScaledBlindly(t *testing.T) {
	for kv, triggers := range map[float64]int{0.62: 2, 0.03: 1, 0.19: 1} {
		p := planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "h200_sxm", []int{64}, both(3, tp(4)))
		p.Site.Namespace, p.Capacity.KV = "serving", kv
		all, _, err := files.Write(p, files.KEDA)
		if err != nil {
			t.Fatal(err)
		}
		spec := inside(ofKind(t, all[0], "ScaledObject"), "spec")
		if inside(spec, "fallback", "replicas") != 3 || inside(spec, "maxReplicaCount") != 3 {
			t.Errorf("without metrics: %v", inside(spec, "fallback"))
		}
		list := inside(spec, "triggers").([]any)
		if len(list) != triggers || strings.Contains(string(all[0].Data), "# The KV cache has no trigger") != (triggers == 1) {
			t.Errorf("%g of the cache in use: %d triggers in\n%s", kv, len(list), all[0].Data)
		}
		for _, x := range list {
			query := inside(x, "metadata", "query").(string)
			if inside(x, "metadata", "ignoreNullValues") != "false" {
				t.Errorf("silence is a zero: %v", x)
			}
			if series := strings.Count(query, "{"); series == 0 || strings.Count(query, `{namespace="serving",`) != series {
				t.Errorf("other namespaces count too: %s", query)
			}
		}
	}
}

// TestBenchAsks: the job asks a Service of the files, or one that a controller makes of them: Dynamo's operator for the frontend of a
// graph, llm-d's chart for a release. It has the token for the tokenizer. Without such an address there is no job.
func TestBenchAsks(t *testing.T) {
	plans := map[string]*launch.Plan{}
	for name, p := range cases(t) {
		if slices.Contains([]string{"vllm-agg-dense", "sglang-agg-moe", "trtllm-disagg-moe"}, name) {
			plans[name] = p
		}
	}
	several := planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "h200_sxm", []int{1, 64}, prefill(1, tp(2)), decode(1, tp(2)))
	several.Copies = 3
	plans["several units"] = several
	plans["mindie"] = planned(t, "mindie", "", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(1, tp(4)))
	plans["ascend"] = planned(t, "vllm-ascend", "", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(2, tp(4)))
	plans["ascend, disaggregated"] = planned(t, "vllm-ascend", "", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{1, 64}, prefill(1, tp(4)), decode(1, tp(4)))
	none := []string{"mindie", "ascend, disaggregated"}
	url := regexp.MustCompile(`--url http://([-a-z0-9]+):(\d+) `)
	for name, p := range plans {
		for _, targets := range [][]files.Target{nil, {files.Kubernetes, files.Bench}, {files.Dynamo, files.Bench}, {files.LLMD, files.Bench}, {files.Bench}} {
			all, skipped, err := files.Write(p, targets...)
			if errors.Is(err, files.ErrCannot) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(f launch.File) bool { return f.Path == "k8s_bench.yaml" })
			if i < 0 {
				if !slices.Contains(none, name) {
					t.Errorf("%s, %v: no job", name, targets)
				}
				continue
			}
			if slices.Contains(none, name) {
				t.Errorf("%s, %v: a job, but nothing to ask", name, targets)
			}
			job := documents(t, all[i])[0]
			main := inside(job, "spec", "template", "spec", "containers", 0)
			if inside(main, "env", 0, "name") != "HF_TOKEN" {
				t.Errorf("%s: the job has no token", name)
			}
			asked := url.FindStringSubmatch(inside(main, "args", 0).(string))
			if asked == nil {
				t.Fatalf("%s, %v: no address in\n%s", name, targets, all[i].Data)
			}
			if len(targets) == 1 || targets != nil && len(skipped) > 0 { // the files it asks are not written
				all, _, err = files.Write(p)
				if err != nil {
					t.Fatal(err)
				}
			}
			if found := addresses(t, all); !slices.Contains(found, asked[1]+":"+asked[2]) {
				t.Errorf("%s, %v: asks %s:%s, there are %v", name, targets, asked[1], asked[2], found)
			}
		}
	}
}

// addresses are the Services of files, and those that controllers make of them.
func addresses(t *testing.T, all []launch.File) []string {
	t.Helper()
	var out []string
	for _, f := range all {
		if f.Path == "llm-d/router.values.yaml" {
			release := regexp.MustCompile(`helm install (\S+) `).FindStringSubmatch(string(f.Data))
			out = append(out, release[1]+"-epp:8081")
		}
		if f.Path != "k8s_deploy.yaml" && f.Path != "kubernetes/deploy.yaml" {
			continue
		}
		for _, doc := range documents(t, f) {
			name, _ := inside(doc, "metadata", "name").(string)
			switch doc["kind"] {
			case "Service":
				out = append(out, fmt.Sprintf("%s:%v", name, inside(doc, "spec", "ports", 0, "port")))
			case "DynamoGraphDeployment":
				out = append(out, name+"-frontend:8000")
			}
		}
	}
	return out
}

// TestPodsOfControllers: what is true of the pods of plain objects holds for those that operators and charts make: every container
// requests CPU and memory, engines run on nodes with their devices and have time to answer their last requests, and load as long.
func TestPodsOfControllers(t *testing.T) {
	const token, longest = 0.2, 512 * 0.2 // seconds of a request as predicted
	pods := 0
	for name, p := range cases(t) {
		p.Predicted.TPOT = token
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if !slices.Contains([]string{"k8s_deploy.yaml", "k8s_bench.yaml", "kserve/llminferenceservice.yaml", "llm-d/values.yaml"}, f.Path) {
				continue
			}
			for _, doc := range documents(t, f) {
				for _, pod := range objectsIn(doc) {
					containers, ok := pod["containers"].([]any)
					if !ok {
						continue
					}
					pods++
					engine := false
					for _, c := range containers {
						if inside(c, "resources", "requests", "cpu") == nil || inside(c, "resources", "requests", "memory") == nil {
							t.Errorf("%s, %s: container %v requests %v", name, f.Path, inside(c, "name"), inside(c, "resources"))
						}
						engine = engine || inside(c, "resources", "limits", "nvidia.com/gpu") != nil
						startup := cmp.Or(inside(c, "startupProbe"), inside(c, "extraConfig", "startupProbe"))
						if failures, ok := inside(startup, "failureThreshold").(int); ok && failures*inside(startup, "periodSeconds").(int) < 3600 {
							t.Errorf("%s, %s: %v has %v to load", name, f.Path, inside(c, "name"), startup)
						}
					}
					if grace, ok := pod["terminationGracePeriodSeconds"].(int); f.Path != "k8s_bench.yaml" && (!ok || float64(grace) < longest) {
						t.Errorf("%s, %s: pods have %d s to end", name, f.Path, grace)
					}
					if engine && (inside(pod, "nodeSelector", "nvidia.com/gpu.product") != "NVIDIA-H200" || inside(pod, "tolerations", 0, "key") != "nvidia.com/gpu") {
						t.Errorf("%s, %s: an engine's pod runs on %v", name, f.Path, pod["nodeSelector"])
					}
				}
			}
		}
	}
	if pods < 40 {
		t.Errorf("only %d pods", pods)
	}
}

// TestFabricOfControllers: operators and charts too ask for what the figures assume of the network between nodes: devices for RDMA, the
// domain of a rack, and groups that are placed together.
func TestFabricOfControllers(t *testing.T) {
	paths := map[files.Target]string{files.Dynamo: "k8s_deploy.yaml", files.KServe: "kserve/llminferenceservice.yaml", files.LLMD: "llm-d/values.yaml"}
	for system, devices := range map[string]int{"h200_sxm": 16, "gb200": 8} {
		rack := system == "gb200"
		p := planned(t, "vllm", "0.24.0", "deepseek-ai/DeepSeek-V3", system, []int{64}, both(1, wide(devices)))
		p.Site.RDMA, p.Site.Topology = "rdma/ib=8", "example.com/leaf"
		for target, path := range paths {
			all, _, err := files.Write(p, target)
			if err != nil {
				t.Fatal(err)
			}
			domains, claims, placed, count := 0, 0, 0, any(nil)
			for _, f := range all {
				for _, why := range fits(t, f) {
					t.Error(why)
				}
				if f.Path != path {
					continue
				}
				for _, doc := range documents(t, f) {
					for _, o := range objectsIn(doc) {
						if o["kind"] == "ComputeDomain" {
							domains++
						}
						if o["resourceClaims"] != nil {
							claims++
						}
						if o["topologyKey"] == "example.com/leaf" {
							placed++
						}
						count = cmp.Or(count, inside(o, "resources", "limits", "rdma/ib"))
					}
				}
			}
			if rack != (domains > 0 && claims > 0) || rack == (count == 8) {
				t.Errorf("%s on %s: %d domains, %d pods with claims, %v devices for RDMA", target, system, domains, claims, count)
			}
			if target != files.Dynamo && placed == 0 { // there Grove places groups
				t.Errorf("%s on %s: groups are not placed together", target, system)
			}
		}
	}
}

// TestLLMD: the picker loads its configuration (llm-d-router 0.9 and 0.10 know no other version) and sends requests to the first pod of
// a worker only; images are pinned, and no list of variables is empty.
func TestLLMD(t *testing.T) {
	for name, p := range cases(t) {
		if p.Deployment.Engine.Name != launch.VLLM {
			continue
		}
		all, _, err := files.Write(p, files.LLMD)
		if err != nil {
			t.Fatal(err)
		}
		spans, sidecars := false, 0
		values := documents(t, all[1])[0]
		for _, c := range objectsIn(values) {
			spans = spans || c["multinode"] == true
			if image, ok := c["image"].(string); ok && !regexp.MustCompile(`:v\d+\.\d+`).MatchString(image) {
				t.Errorf("%s: image %s", name, image)
			} else if strings.Contains(image, "disagg-sidecar") {
				sidecars++
			}
			if env, ok := c["env"]; ok && len(env.([]any)) == 0 {
				t.Errorf("%s: an empty env in %v", name, c["name"])
			}
		}
		if (sidecars == 1) != (len(p.Deployment.Pools) == 2) {
			t.Errorf("%s: %d sidecars", name, sidecars)
		}
		router := documents(t, all[0])[0]["router"].(map[string]any)
		labels := router["modelServers"].(map[string]any)["matchLabels"].(map[string]any)
		if leads := labels["leaderworkerset.sigs.k8s.io/worker-index"] == "0"; leads != spans {
			t.Errorf("%s: requests go to %v", name, labels)
		}
		if epp, ok := router["epp"].(map[string]any); ok {
			text := epp["pluginsCustomConfig"].(map[string]any)[epp["pluginsConfigFile"].(string)].(string)
			config := documents(t, launch.File{Data: []byte(text)})[0]
			if config["apiVersion"] != "llm-d.ai/v1alpha1" || config["kind"] != "EndpointPickerConfig" {
				t.Errorf("%s: %v %v", name, config["apiVersion"], config["kind"])
			}
		}
	}
}

// objectsIn are all mappings of a document.
func objectsIn(n any) []map[string]any {
	var out []map[string]any
	switch v := n.(type) {
	case []any:
		for _, c := range v {
			out = append(out, objectsIn(c)...)
		}
	case map[string]any:
		out = append(out, v)
		for _, c := range v {
			out = append(out, objectsIn(c)...)
		}
	}
	return out
}

// TestTargetsRefuse: a target that cannot run a plan says why in one line, and does not stop the others.
func TestTargetsRefuse(t *testing.T) {
	dense := func(name string, pools ...deployment.Pool) *launch.Plan {
		return planned(t, name, versionOf(name), "Qwen/Qwen3-32B", "h200_sxm", slices.Repeat([]int{64}, len(pools)), pools...)
	}
	unlimited, own, mixed := dense("vllm", both(1, tp(1))), dense("vllm", both(1, tp(1))), dense("vllm", prefill(1, tp(1)), decode(1, tp(1)))
	unlimited.Capacity, own.Site.ModelPath = launch.Capacity{}, "/models/own"
	mixed.Deployment.Pools[0].System = "b200_sxm"
	resolve(t, mixed)
	for _, c := range []struct {
		target files.Target
		p      *launch.Plan
		want   string
	}{
		{files.KServe, dense("sglang", both(1, tp(1))), "start vLLM, not sglang"},
		{files.KServe, dense("vllm", both(1, tp(16))), "data-parallel ranks over 2 nodes, not TP 16"},
		{files.KServe, own, "id of Hugging Face"},
		{files.LLMD, own, "id of Hugging Face"},
		{files.KEDA, unlimited, "has no limits"},
		{files.KEDA, dense("trtllm", both(1, tp(1))), "metrics of trtllm"},
		{files.KEDA, dense("vllm", prefill(1, tp(1)), decode(1, tp(1))), "must scale together"},
		{files.Planner, dense("vllm", both(1, tp(1))), "do both"},
		{files.Slurm, mixed, "one kind of node"},
		{files.SkyPilot, mixed, "no name for nodes"},
		{files.SkyPilot, dense("trtllm", both(1, tp(16))), "needs MPI"},
		{files.SkyPilot, dense("vllm", prefill(3, tp(4)), decode(1, tp(8))), "[8 4 8] devices"},
		{files.SkyPilot, planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "mi355x", []int{64}, both(1, tp(1))), "no name for nodes of mi355x"},
	} {
		_, _, err := files.Write(c.p, c.target)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: want %q, got %v", c.target, c.want, err)
		}
		if _, _, err := files.Write(c.p); err != nil {
			t.Errorf("%s stops the others: %v", c.target, err)
		}
	}
}

// array reads a file of NumPy as its format is documented (numpy.lib.format): magic, version, length of the header, header; the values
// begin at a multiple of 64 bytes.
func array(t *testing.T, data []byte) []float64 {
	t.Helper()
	if !bytes.HasPrefix(data, []byte("\x93NUMPY\x01\x00")) {
		t.Fatalf("magic % x", data[:8])
	}
	length := int(binary.LittleEndian.Uint16(data[8:10]))
	header, values := string(data[10:10+length]), data[10+length:]
	shape := regexp.MustCompile(`^\{'descr': '<f8', 'fortran_order': False, 'shape': \((\d+),\), \} *\n$`).FindStringSubmatch(header)
	if (10+length)%64 != 0 || shape == nil || strconv.Itoa(len(values)/8) != shape[1] {
		t.Fatalf("header %q of %d bytes, values of %d", header, length, len(values))
	}
	out := make([]float64, len(values)/8)
	if err := binary.Read(bytes.NewReader(values), binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPlanner: both forms of the planner's tables have the same keys and values, those that its reader looks up
// (components/src/dynamo/planner/monitoring/perf_metrics.py of Dynamo 1.4.1).
func TestPlanner(t *testing.T) {
	p := planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "h200_sxm", []int{1, 64}, prefill(2, tp(1)), decode(1, tp(2)))
	p.Profile = &launch.Profile{
		Prefill:  []launch.PrefillPoint{{Tokens: 100, TTFT: 0.0123456789, PerDevice: 8100}, {Tokens: 3512, TTFT: 0.4, PerDevice: 8780}},
		Decode:   []launch.DecodePoint{{KV: 0.1, Context: 1000, TPOT: 0.009, PerDevice: 500}, {KV: 0.5, Context: 1000, TPOT: 0.02, PerDevice: 2000}, {KV: 1, Context: 3512, TPOT: 0.031, PerDevice: 2100}},
		KVTokens: 123456,
	}
	all, _, err := files.Write(p, files.Planner)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string][]byte{}
	for _, f := range all {
		byPath[f.Path] = f.Data
		for _, why := range fits(t, f) {
			t.Error(why)
		}
	}
	data := documents(t, launch.File{Data: byPath["planner/configmap.yaml"]})[0]["data"].(map[string]any)
	if data["decode_raw_data.json"] != string(byPath["planner/decode_raw_data.json"]) || len(data) != 2 {
		t.Errorf("%s", byPath["planner/configmap.yaml"])
	}
	for role, keys := range map[string][]string{
		"prefill": {"prefill_isl", "prefill_ttft", "prefill_thpt_per_gpu"},
		"decode":  {"x_kv_usage", "y_context_length", "z_itl", "z_thpt_per_gpu", "max_kv_tokens"},
	} {
		var text map[string]any
		if err := json.Unmarshal(byPath["planner/"+role+"_raw_data.json"], &text); err != nil {
			t.Fatal(err)
		}
		packed := byPath["planner/selected_"+role+"_interpolation/raw_data.npz"]
		z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		if len(z.File) != len(keys) || len(text) != len(keys) {
			t.Errorf("%s: %d arrays, %d keys", role, len(z.File), len(text))
		}
		for _, key := range keys {
			f, err := z.Open(key + ".npy")
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			var same []float64
			switch v := text[key].(type) {
			case float64:
				same = []float64{v}
			case []any:
				for _, x := range v {
					same = append(same, x.(float64))
				}
			}
			if got := array(t, data); !slices.Equal(got, same) || len(got) == 0 {
				t.Errorf("%s: %v as an array, %v as JSON", key, got, same)
			}
		}
	}
	if got := string(byPath["planner/prefill_raw_data.json"]); !strings.Contains(got, "12.3457") { // ms
		t.Errorf("%s", got)
	}
}

// TestSkyPilotNodes: the disk of a node holds the checkpoint beside what SkyPilot gives it otherwise, several nodes have the network that
// the figures assume, and a replica may load as long as elsewhere.
func TestSkyPilotNodes(t *testing.T) {
	for model, least := range map[string]int{"Qwen/Qwen3-32B": 61, "deepseek-ai/DeepSeek-V3": 641} { // GiB of the checkpoints
		for _, devices := range []int{8, 16} {
			layout := tp(devices)
			if model != "Qwen/Qwen3-32B" {
				layout = wide(devices)
			}
			all, _, err := files.Write(planned(t, "vllm", "0.24.0", model, "h200_sxm", []int{64}, both(1, layout)), files.SkyPilot)
			if err != nil {
				t.Fatal(err)
			}
			service := documents(t, all[0])[0]
			if disk, ok := inside(service, "resources", "disk_size").(int); !ok || disk < 256+least {
				t.Errorf("%s: a disk of %v", model, inside(service, "resources", "disk_size"))
			}
			if tier := inside(service, "resources", "network_tier"); (tier == "best") != (devices > 8) {
				t.Errorf("%d devices: network %v", devices, tier)
			}
			if wait := inside(service, "service", "readiness_probe", "initial_delay_seconds"); wait != 3600 {
				t.Errorf("a replica has %v s to load", wait)
			}
		}
	}
}

// TestOneReplica: a service of SkyPilot repeats units, and its replicas are whole.
func TestOneReplica(t *testing.T) {
	p := planned(t, "vllm", "0.24.0", "deepseek-ai/DeepSeek-V3", "h200_sxm", []int{1, 64}, prefill(1, parallel.Layout{Devices: 8, TP: 8}), decode(1, wide(16)))
	p.Copies = 3
	all, _, err := files.Write(p, files.SkyPilot)
	if err != nil {
		t.Fatal(err)
	}
	doc := documents(t, all[0])[0]
	if doc["num_nodes"] != 3 || doc["service"].(map[string]any)["replicas"] != 3 || requested(doc, 1) != 72 {
		t.Errorf("%s", all[0].Data)
	}
	if d := same(t, p, all); d != "" {
		t.Error(d)
	}
}
