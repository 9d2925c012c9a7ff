package files_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// rich is a plan with most settings that files can have, for a release.
func rich(t *testing.T, name, release string, disaggregated bool) *launch.Plan {
	t.Helper()
	settings := []string{"kv_format=fp8", "prefix_caching=false", "graph.max_batch=64"}
	before, after := prefill(1, wide(8)), decode(1, wide(8))
	before.Settings, after.Settings = settings, settings
	after.MTP, after.AcceptanceRates = 1, []float64{0.85}
	if !disaggregated {
		after.Role = "both"
		return planned(t, name, release, "deepseek-ai/DeepSeek-V3", "h200_sxm", []int{64}, after)
	}
	return planned(t, name, release, "deepseek-ai/DeepSeek-V3", "h200_sxm", []int{1, 64}, before, after)
}

// text joins files.
func text(all []launch.File) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s\n%s\n", f.Path, f.Data)
	}
	return b.String()
}

// TestEveryRelease: for every release in the table each flag and key that is written is one that the release has. What a
// release has no name for is refused, with the first that has one.
func TestEveryRelease(t *testing.T) {
	refused := map[string]struct{ until, option string }{"vllm": {"0.8.3", "--data-parallel-size"}}
	for _, name := range []string{"vllm", "sglang", "trtllm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range engine.Releases(name) {
				p := rich(t, name, r.Version, true)
				all, _, err := files.Write(p, files.Plain)
				if c := refused[name]; version.Compare(r.Version, c.until) < 0 {
					if want := "has no " + c.option + "; " + c.until + " and later have it"; err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: want %q, got %v", r.Version, want, err)
					}
					p = planned(t, name, r.Version, "Qwen/Qwen3-32B", "h200_sxm", []int{64}, both(1, tp(4)))
					all, _, err = files.Write(p, files.Plain)
				}
				if err != nil {
					t.Errorf("%s: %v", r.Version, err)
					continue
				}
				allowed(t, r.Version, name, all)
			}
		})
	}
}

// TestEveryDynamo: files for the engines in the images of every release of Dynamo that is written have flags that it has,
// and name its image.
func TestEveryDynamo(t *testing.T) {
	for _, r := range engine.Releases("dynamo") {
		for name, has := range r.Carries {
			if engine.Carrier(name, has).Version != r.Version {
				continue // a later one has the same engine
			}
			all, _, err := files.Write(rich(t, name, has, true), files.Dynamo)
			if err != nil {
				t.Errorf("%s %s: %v", name, has, err)
				continue
			}
			allowed(t, has, "Dynamo "+r.Version, all)
			got, _ := launch.Read(all[slices.IndexFunc(all, func(f launch.File) bool { return f.Path == "k8s_deploy.yaml" })])
			if l := &got.Launches[0]; l.Version != has || l.Dynamo != r.Version {
				t.Errorf("Dynamo %s with %s %s: an image with %s %s", r.Version, name, has, l.Dynamo, l.Version)
			}
		}
	}
}

// TestGuides: the releases in guides get what they have.
func TestGuides(t *testing.T) {
	for _, c := range []struct {
		engine, release string
		target          files.Target
		disaggregated   bool
		has, hasNot     []string
	}{
		{
			"trtllm", "0.20.0", files.Plain, true,
			[]string{"TRTLLM_USE_UCX_KVCACHE=1", "--backend pytorch", "  max_num_tokens: 3768", "pytorch_backend_config:", "  use_cuda_graph: true", "  kv_cache_dtype: fp8", "  cuda_graph_padding_enabled: true"},
			[]string{"cuda_graph_config", "  dtype: fp8", "\nkv_cache_dtype"},
		},
		{
			"trtllm", "1.0.0rc3", files.Plain, true,
			[]string{"TRTLLM_USE_UCX_KVCACHE=1", "\nkv_cache_dtype: fp8", "  padding_enabled: true"},
			[]string{"enable_padding", "  dtype: fp8", "pytorch_backend_config"},
		},
		{
			"trtllm", "1.0.0rc6", files.Dynamo, true,
			[]string{"tensorrtllm-runtime:0.5.0", "backend: default", "  enable_padding: true", "--model-path"},
			[]string{"DEFAULT", "No image of Dynamo"},
		},
		{
			"trtllm", "1.2.0", files.Dynamo, true,
			[]string{"tensorrtllm-runtime:0.9.0", "backend: DEFAULT", "No image of Dynamo has trtllm 1.2.0: these files are for trtllm 1.3.0rc1 in that of Dynamo 0.9.0."},
			nil,
		},
		{"trtllm", "", files.Compose, false, []string{"tensorrt-llm/release:" + engine.Upto("trtllm", "1.3.0") + "\n"}, []string{"release:1.3.0\n"}},
		{"trtllm", "1.3.0", files.Compose, false, []string{"Release 1.3.0 of trtllm is not known to be published; the newest before it is 1.3.0rc"}, nil},
		{"vllm", "0.11.0", files.Plain, true, []string{"--cuda-graph-sizes 1 2 4"}, []string{"--max-cudagraph-capture-size", "--cudagraph-capture-sizes"}},
		{"vllm", "0.10.2", files.Plain, true, []string{"--cuda-graph-sizes 1 2 4"}, []string{"--max-cudagraph-capture-size"}},
		{"vllm", "0.14.1", files.Dynamo, true, []string{"vllm-runtime:0.9.1", "--is-prefill-worker", "--is-decode-worker"}, []string{"--disaggregation-mode"}},
		{"vllm", "0.12.0", files.Dynamo, true, []string{"vllm-runtime:0.8.1\n", "--is-prefill-worker"}, []string{"--disaggregation-mode"}},
		{"vllm", "0.16.0", files.Dynamo, true, []string{"vllm-runtime:1.0.2", "--disaggregation-mode prefill"}, []string{"--is-prefill-worker"}},
	} {
		all, _, err := files.Write(rich(t, c.engine, c.release, c.disaggregated), c.target)
		if err != nil {
			t.Errorf("%s %s: %v", c.engine, c.release, err)
			continue
		}
		got := text(all)
		for _, want := range c.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: no %q in\n%s", c.engine, c.release, want, got)
			}
		}
		for _, not := range c.hasNot {
			if strings.Contains(got, not) {
				t.Errorf("%s %s: %q in\n%s", c.engine, c.release, not, got)
			}
		}
	}
}
