package launch_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// TestLacks: flags of other releases are problems, with the name that this one has.
func TestLacks(t *testing.T) {
	for _, c := range []struct {
		command, release string
		nearest          string // "" is no problem
		unsure           bool
	}{
		{"vllm serve m --cuda-graph-sizes 1 2", "0.12.0", "", false},
		{"vllm serve m --cuda-graph-sizes 1 2", "0.14.1", "--cudagraph-capture-sizes", false},
		{"vllm serve m --cuda_graph_sizes 1 2", "", "--cudagraph-capture-sizes", false},
		{"vllm serve m --cudagraph-capture-sizes 1 2", "0.11.0", "--cuda-graph-sizes", false},
		{"vllm serve m --cudagraph-capture-sizes 1 2", "0.11.1", "", false},
		{"vllm serve m --cudagraph-capture-sizes 1 2", "", "", false},
		{"python -m sglang.launch_server --model-path m --cuda-graph-bs 1 2", "0.5.23", "--cuda-graph-bs-decode", false},
		{"python -m sglang.launch_server --model-path m --tp 2", "0.5.9", "", false},
	} {
		found, err := launch.ReadCommand(c.command)
		if err != nil {
			t.Fatal(err)
		}
		got := found.Launches[0].Lacks(c.release)
		if c.nearest == "" {
			for _, p := range got {
				if !p.Unsure {
					t.Errorf("%s under %q: %+v", c.command, c.release, p)
				}
			}
			continue
		}
		if len(got) != 1 || got[0].Nearest != c.nearest || got[0].Unsure != c.unsure {
			t.Errorf("%s under %q: want %s, got %+v", c.command, c.release, c.nearest, got)
		}
	}
}

// TestLacksInImage: the image of a manifest says which release of the engine, and of Dynamo, its flags and values are for.
func TestLacksInImage(t *testing.T) {
	for _, c := range []struct{ image, command, want string }{
		{"ai-dynamo/vllm-runtime:0.9.0", "-m, dynamo.vllm, --model, m, --disaggregation-mode, prefill", "--disaggregation-mode: 0.9.0 does not have this flag yet; it was first seen in 1.0.0"},
		{"ai-dynamo/vllm-runtime:0.9.0", "-m, dynamo.vllm, --model, m, --is-prefill-worker", ""},
		{"ai-dynamo/vllm-runtime:1.4.0", "-m, dynamo.vllm, --model, m, --is-prefill-worker", "--is-prefill-worker: this flag was removed, at the latest in 1.4.0"},
		{"ai-dynamo/vllm-runtime:0.7.1", "-m, dynamo.vllm, --model, m, --max-cudagraph-capture-size, '64'", "--max-cudagraph-capture-size: 0.11.0 does not have this flag yet; it was first seen in 0.11.1"},
		{"lmsysorg/sglang:v0.5.9", "-m, sglang.launch_server, --model-path, m, --kv-cache-dtype, nvfp4", "--kv-cache-dtype=nvfp4: 0.5.9 does not have this value yet; it was first seen in 0.5.16"},
		{"lmsysorg/sglang:v0.5.16", "-m, sglang.launch_server, --model-path, m, --kv-cache-dtype, nvfp4", ""},
	} {
		image := "nvcr.io/nvidia/" + c.image
		found, err := launch.Read(launch.File{Path: "pod.yaml", Data: []byte("kind: Pod\nspec: {containers: [{image: '" + image + "', command: [python3, " + c.command + "]}]}\n")})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, p := range found.Launches[0].Lacks(found.Launches[0].Version) {
			got.WriteString(p.Flag + ": " + p.Text)
		}
		if got.String() != c.want {
			t.Errorf("%s: want %q, got %q", c.image, c.want, got.String())
		}
	}
}

// TestLacksValue: the words of a key changed their case.
func TestLacksValue(t *testing.T) {
	found, err := launch.Read(
		launch.File{Path: "run.sh", Data: []byte("trtllm-serve m --extra_llm_api_options c.yaml\n")},
		launch.File{Path: "c.yaml", Data: []byte("backend: pytorch\nmax_num_tokens: 8192\ncache_transceiver_config:\n  backend: default\n")})
	if err != nil {
		t.Fatal(err)
	}
	l := &found.Launches[0]
	if got := l.Lacks("1.0.0rc6"); len(got) > 0 {
		t.Errorf("1.0.0rc6: %+v", got)
	}
	if got := l.Lacks("1.1.0rc5"); len(got) != 1 || got[0].Flag != "cache_transceiver_config.backend=default" || got[0].File != "c.yaml" || got[0].Unsure {
		t.Errorf("1.1.0rc5: %+v", got)
	}
	if got := l.Lacks("1.3.0rc23"); len(got) != 1 || !got[0].Unsure {
		t.Errorf("1.3.0rc23, which was not read: %+v", got)
	}
}

// TestImageVersion: the projects' own images tell the engine's version, others do not.
func TestImageVersion(t *testing.T) {
	for image, want := range map[string]string{
		"vllm/vllm-openai:v0.24.0":                          "0.24.0",
		"docker.io/vllm/vllm-openai:v0.11.2":                "0.11.2",
		"vllm/vllm-openai:latest":                           "",
		"vllm/vllm-openai":                                  "",
		"lmsysorg/sglang:v0.5.9-rocm700-mi30x":              "0.5.9",
		"nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0":       "0.23.0",
		"nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.9.0":     "0.5.8",
		"nvcr.io/nvidia/ai-dynamo/vllm-runtime:my-build":    "",
		"nvcr.io/nvidia/tensorrt-llm/release:1.2.0rc6":      "1.2.0rc6",
		"registry.example.com:5000/vllm/vllm-openai:v0.9.2": "0.9.2",
	} {
		found, err := launch.Read(launch.File{Path: "pod.yaml", Data: []byte("kind: Pod\nspec: {containers: [{image: '" + image + "', command: [vllm, serve, m]}]}\n")})
		if err != nil {
			t.Fatal(err)
		}
		if got := found.Deployment.Engine.Version; got != want {
			t.Errorf("%s: want %q, got %q", image, want, got)
		}
	}
}
