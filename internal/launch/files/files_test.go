package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// resolve finds what a plan's names stand for.
func resolve(t testing.TB, p *launch.Plan) {
	t.Helper()
	d := &p.Deployment
	m, err := model.Lookup(d.Model)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := device.Lookup(d.System)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.LookupVersion(d.Engine.Name, d.Engine.Version)
	if err != nil {
		t.Fatal(err)
	}
	systems := map[string]*device.Profile{}
	for _, pool := range d.Pools {
		if pool.System != "" {
			if systems[pool.System], err = device.Lookup(pool.System); err != nil {
				t.Fatal(err)
			}
		}
	}
	if p.Resolved, err = d.Resolve(deployment.Parts{Model: m, Device: dev, Engine: e, Systems: systems}); err != nil {
		t.Fatal(err)
	}
}

// planned is a plan of equal settings.
func planned(t testing.TB, engineName, release, id, system string, batches []int, pools ...deployment.Pool) *launch.Plan {
	t.Helper()
	p := &launch.Plan{
		Deployment: deployment.Deployment{Model: id, System: system, Engine: deployment.Engine{Name: engineName, Version: release}, Pools: pools},
		Input:      3000, Output: 512, Concurrency: 56, Batch: batches, Copies: 1,
		Predicted: figures.Figures{Times: figures.Times{TTFT: 0.1877, TPOT: 0.0099}, Throughput: 2553}, Capacity: launch.Capacity{Concurrency: 56, KV: 0.624},
	}
	resolve(t, p)
	return p
}

// both, prefill and decode are pools.
func both(n int, l parallel.Layout) deployment.Pool {
	return deployment.Pool{Role: deployment.Both, Replicas: n, Layout: l}
}

func prefill(n int, l parallel.Layout) deployment.Pool {
	return deployment.Pool{Role: deployment.Prefill, Replicas: n, Layout: l}
}

func decode(n int, l parallel.Layout) deployment.Pool {
	return deployment.Pool{Role: deployment.Decode, Replicas: n, Layout: l}
}

// tp is a dense layout, wide one of experts: attention data-parallel, experts
// distributed.
func tp(n int) parallel.Layout   { return parallel.Layout{Devices: n, TP: n} }
func wide(n int) parallel.Layout { return parallel.Layout{Devices: n, TP: 1, DP: n, EP: n} }

// version is a release of each engine whose flags were looked at.
func versionOf(name string) string {
	return map[string]string{"vllm": "0.24.0", "sglang": "0.5.16", "trtllm": "1.3.0rc23", "mindie": ""}[name]
}

// cases are the plans with golden trees.
func cases(t testing.TB) map[string]*launch.Plan {
	out := map[string]*launch.Plan{}
	const dense, moe = "Qwen/Qwen3-32B-FP8", "deepseek-ai/DeepSeek-V3"
	for _, e := range []string{"trtllm", "vllm", "sglang"} {
		v := versionOf(e)
		out[e+"-agg-dense"] = planned(t, e, v, dense, "h200_sxm", []int{28}, both(2, tp(4)))
		out[e+"-disagg-dense"] = planned(t, e, v, dense, "h200_sxm", []int{1, 64}, prefill(4, tp(1)), decode(1, tp(4)))
		agg := both(1, wide(8))
		agg.MTP, agg.AcceptanceRates = 1, []float64{0.85}
		out[e+"-agg-moe"] = planned(t, e, v, moe, "h200_sxm", []int{64}, agg)
		disagg := planned(t, e, v, moe, "h200_sxm", []int{1, 64}, prefill(1, wide(8)), decode(1, wide(16)))
		if e == "sglang" {
			disagg.Copies = 2
		}
		out[e+"-disagg-moe"] = disagg
	}
	return out
}

// TestGolden: every file of the plans, as reviewed.
func TestGolden(t *testing.T) {
	for name, p := range cases(t) {
		all, skipped, err := files.Write(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		root := "testdata/" + name
		if golden.Update() {
			if err := os.RemoveAll(root); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range all {
			golden.Check(t, filepath.Join(root, filepath.FromSlash(f.Path)), f.Data)
		}
		var why []string
		for _, err := range skipped {
			why = append(why, err.Error()+"\n")
		}
		golden.Check(t, filepath.Join(root, "skipped.txt"), []byte(strings.Join(why, "")))
	}
}

// TestSameAgain: the same plan gives the same bytes.
func TestSameAgain(t *testing.T) {
	for name, p := range cases(t) {
		a, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		b, _, _ := files.Write(p)
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// documents are the YAML documents of a file, decoded with keys that may not be
// repeated.
func documents(t *testing.T, f launch.File) []map[string]any {
	t.Helper()
	var out []map[string]any
	d := yaml.NewDecoder(bytes.NewReader(f.Data))
	for {
		var doc map[string]any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		out = append(out, doc)
	}
}

// requested adds up the devices that a document asks for, times its replicas and
// nodes.
func requested(n any, times int) int {
	sum := 0
	switch v := n.(type) {
	case []any:
		for _, c := range v {
			sum += requested(c, times)
		}
	case map[string]any:
		if v["kind"] == "LLMInferenceService" {
			spec := v["spec"].(map[string]any)
			return times * (serviced(spec) + serviced(spec["prefill"]))
		}
		if r, ok := v["resources"].(map[string]any); ok && r["accelerators"] != nil { // of SkyPilot
			_, each, _ := strings.Cut(r["accelerators"].(string), ":")
			devices, _ := strconv.Atoi(each)
			nodes, ok := v["num_nodes"].(int)
			if !ok {
				nodes = 1
			}
			return times * devices * nodes * v["service"].(map[string]any)["replicas"].(int)
		}
		if k, ok := v["replicas"].(int); ok {
			times *= k
		}
		if p, ok := v["parallelism"].(map[string]any); ok && p["workers"] != nil { // nodes of llm-d's workers
			times *= p["workers"].(int)
		}
		if m, ok := v["multinode"].(map[string]any); ok {
			times *= m["nodeCount"].(int)
		}
		if l, ok := v["leaderWorkerTemplate"].(map[string]any); ok {
			return requested(l["leaderTemplate"], times) + requested(l["workerTemplate"], times*(l["size"].(int)-1))
		}
		if ids, ok := v["device_ids"].([]any); ok {
			sum += times * len(ids)
		}
		if limits, ok := v["limits"].(map[string]any); ok {
			for _, key := range []string{"nvidia.com/gpu", "amd.com/gpu", "gpu"} {
				switch g := limits[key].(type) {
				case int:
					sum += times * g
				case string:
					k, _ := strconv.Atoi(g)
					sum += times * k
				}
			}
		}
		for _, c := range v {
			sum += requested(c, times)
		}
	}
	return sum
}

// serviced are the devices of the workers of an LLMInferenceService.
func serviced(workers any) int {
	w, ok := workers.(map[string]any)
	if !ok {
		return 0
	}
	others := 0
	if p := w["parallelism"].(map[string]any); w["worker"] != nil {
		others = p["data"].(int)/p["dataLocal"].(int) - 1
	}
	return w["replicas"].(int) * (requested(w["template"], 1) + requested(w["worker"], others))
}

// steps are the devices of the steps of a Slurm job: those of each process, on each of its nodes.
func steps(t *testing.T, f launch.File) int {
	t.Helper()
	words, err := arguments(string(f.Data))
	if err != nil {
		t.Fatal(err)
	}
	sum, nodes := 0, 0
	for _, w := range words {
		if list, ok := strings.CutPrefix(w, "--nodelist="); ok {
			nodes = strings.Count(list, ",") + 1
		}
		if ids, ok := strings.CutPrefix(w, "CUDA_VISIBLE_DEVICES="); ok {
			sum += nodes * (strings.Count(ids, ",") + 1)
		}
	}
	return sum
}

// TestDevicesAddUp: what the manifests request is what the row has.
func TestDevicesAddUp(t *testing.T) {
	for name, p := range cases(t) {
		want, unit := p.Deployment.Devices()*p.Copies, p.Deployment.Devices()
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		sums := map[string]int{}
		for _, f := range all {
			if strings.HasSuffix(f.Path, ".sbatch") {
				sums["slurm"] += steps(t, f)
			}
			if !strings.HasSuffix(f.Path, ".yaml") {
				continue
			}
			for _, doc := range documents(t, f) {
				sums[filepath.Dir(f.Path)] += requested(doc, 1)
			}
		}
		for _, f := range all { // scripts: devices of each process
			if dir := "scripts in " + filepath.Dir(f.Path); strings.HasPrefix(filepath.Base(f.Path), "node_") && strings.HasSuffix(f.Path, ".sh") {
				for line := range strings.Lines(string(f.Data)) {
					if _, ids, ok := strings.Cut(line, "CUDA_VISIBLE_DEVICES="); ok {
						sums[dir] += strings.Count(ids, ",") + 1
					}
					if strings.Contains(line, " of this node; its first node starts it") {
						sums[dir] += strings.Count(line, ",") + 1
					}
				}
			}
		}
		for where, got := range sums {
			started := where == "compose" || strings.HasPrefix(where, "scripts") // by hand, for each unit
			if got != want && where != "plain" && where != "keda" && (!started || got != unit) {
				t.Errorf("%s, %s: want %d devices, got %d", name, where, want, got)
			}
		}
		if len(sums) < 4 {
			t.Errorf("%s: only %v", name, sums)
		}
	}
}

// byTarget groups files that are read together: a target's, and of Dynamo's the
// scripts or the manifest.
func byTarget(all []launch.File) map[string][]launch.File {
	out := map[string][]launch.File{}
	for _, group := range files.Together(all) {
		out[group.Files[0].Path] = group.Files
	}
	return out
}

// same compares what was read with what was written.
func same(t testing.TB, p *launch.Plan, all []launch.File) string {
	t.Helper()
	want, err := written(p, all)
	if err != nil {
		t.Fatal(err)
	}
	found, err := launch.Read(all...)
	if err != nil {
		return err.Error()
	}
	got := found.Deployment
	for i := range got.Pools {
		got.Pools[i].Layout = got.Pools[i].Layout.Complete(p.Resolved.Model)
	}
	for _, l := range found.Launches {
		i := slices.IndexFunc(want.Pools, func(p deployment.Pool) bool { return p.Role == l.Role })
		if l.Requested != 0 && l.Requested != want.Pools[i].Layout.Devices {
			return fmt.Sprintf("%s asks for %d devices, its layout has %d", l.File, l.Requested, want.Pools[i].Layout.Devices)
		}
	}
	return cmp.Diff(want, got)
}

// isDynamo reports whether files are of that target, which stand at the top.
func isDynamo(group []launch.File) bool { return !strings.Contains(group[0].Path, "/") }

// written is what a plan's files run: Dynamo's are for the release of the engine in its image.
func written(p *launch.Plan, group []launch.File) (deployment.Deployment, error) {
	d, err := deploymentOf(p)
	if err != nil || !isDynamo(group) {
		return d, err
	}
	in := *p
	in.Deployment.Engine.Version = engine.Carrier(d.Engine.Name, d.Engine.Version).Carries[d.Engine.Name]
	return deploymentOf(&in)
}

// TestWayBack: every target of every plan reads as what was written.
func TestWayBack(t *testing.T) {
	for name, p := range cases(t) {
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		for target, group := range byTarget(all) {
			if d := same(t, p, group); d != "" {
				t.Errorf("%s, %s (-written +read):\n%s", name, target, d)
			}
		}
	}
}

// TestGraphs: sizes are ascending, end with the batch and stay within it.
func TestGraphs(t *testing.T) {
	for limit := range 700 {
		sizes := engine.GraphSizes(limit)
		if limit == 0 {
			if sizes != nil {
				t.Errorf("no batch: %v", sizes)
			}
			continue
		}
		if !slices.IsSorted(sizes) || len(slices.Compact(slices.Clone(sizes))) != len(sizes) || sizes[0] != 1 || sizes[len(sizes)-1] != limit {
			t.Errorf("%d: %v", limit, sizes)
		}
	}
}

// TestWaitingRanks: prompts that wait until every data-parallel rank has one need a switch, which is left out where none waits.
func TestWaitingRanks(t *testing.T) {
	for name, want := range map[string]string{"sglang": "--enable-prefill-delayer", "trtllm": "enable_balance: true"} {
		for steps, wait := range map[string]bool{"40": true, "0": false} {
			pool := both(1, wide(8))
			pool.Settings = []string{"attention_dp.wait_steps=" + steps}
			all, _, err := files.Write(planned(t, name, versionOf(name), "deepseek-ai/DeepSeek-V3", "h200_sxm", []int{64}, pool))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, f := range all {
				text.Write(f.Data)
			}
			if strings.Contains(text.String(), want) != wait || !strings.Contains(text.String(), steps) {
				t.Errorf("%s: waits %s steps:\n%s", name, steps, text.String())
			}
		}
	}
}
