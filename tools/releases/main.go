// Releases makes the table of the engines' releases, internal/describe/engine/releases.json: which flags and keys each
// has, and which release of Dynamo carries which.
//
//	go -C tools run ./releases -index URL -trtllm GITDIR
//
// It lists the releases of a Python package index (pip's: PIP_INDEX_URL) and reads only the sources it needs out of each
// wheel, by ranges of its zip archive. TensorRT-LLM's wheels are on an index of NVIDIA's; its sources are read out of a
// clone of its repository, at the tags of the releases. Sources are kept in -cache. It needs python3, whose own parser
// takes them apart (extract.py).
package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed extract.py
var extractor string

// project is a package and where its flags and keys are.
type project struct {
	name    string // in the table
	pack    string // in the index
	oldest  string // the first release that is read
	sources string // of members of a wheel, a pattern
	// classes are dataclasses whose fields are flags, valued the flags and keys whose allowed values count, roots
	// the classes whose fields are keys, with what comes before them.
	classes []string
	valued  []string
	roots   map[string]string
	// carries says that releases pin those of engines.
	carries bool
	// parts are lists of flags of their own, by a pattern of the sources.
	parts map[string]string
}

func projects() []project {
	return []project{
		{
			name: "vllm", pack: "vllm", oldest: "0.8.0",
			sources: `^vllm/(engine/arg_utils|entrypoints/(openai|launchers|common)/cli_args|entrypoints/cli/serve|config|config/.*)\.py$`,
			classes: []string{"FrontendArgs", "BaseFrontendArgs"}, valued: []string{"--kv-cache-dtype"},
		},
		{
			name: "sglang", pack: "sglang", oldest: "0.4.6",
			sources: `^sglang/srt/(server_args|arg_groups/(fields/.*|choices|argparse_actions))\.py$`,
			valued:  []string{"--kv-cache-dtype", "--disaggregation-mode", "--disaggregation-transfer-backend", "--speculative-algorithm"},
		},
		{
			name: "trtllm", pack: "tensorrt-llm", oldest: "0.20.0",
			sources: `^tensorrt_llm/(llmapi/llm_args|commands/serve|_torch/pyexecutor/config)\.py$`,
			valued:  []string{"cache_transceiver_config.backend", "scheduler_config.capacity_scheduler_policy", "speculative_config.decoding_type"},
			roots:   map[string]string{"TorchLlmArgs": ""},
		},
		{
			name: "dynamo", pack: "ai-dynamo", oldest: "0.4.0", carries: true,
			sources: `^dynamo/((vllm|sglang|trtllm)/(args|backend_args|constants|utils/trtllm_utils)|common/(configuration/groups/(runtime|frontend_decoding|router|kv_router|ais_perf)_args|constants)|frontend/(main|frontend_args))\.py$`,
			valued:  []string{"--disaggregation-mode"},
			parts: map[string]string{
				"dynamo.vllm":     `dynamo/vllm/|/(runtime|frontend_decoding)_args|common/constants`,
				"dynamo.sglang":   `dynamo/sglang/|/(runtime|frontend_decoding)_args|common/constants`,
				"dynamo.trtllm":   `dynamo/trtllm/|/(runtime|frontend_decoding)_args|common/constants`,
				"dynamo.frontend": `dynamo/frontend/|/(router|kv_router|ais_perf)_args`,
			},
		},
		{name: "vllm-ascend", pack: "vllm-ascend", oldest: "0.7.3"},
	}
}

func main() {
	index := flag.String("index", os.Getenv("PIP_INDEX_URL"), "address of the package index")
	trtllm := flag.String("trtllm", "", "git directory of a clone of TensorRT-LLM with its tags")
	cache := flag.String("cache", filepath.Join(os.TempDir(), "plimsoll-releases"), "folder that sources are kept in")
	out := flag.String("out", "../internal/describe/engine/releases.json", "file to write")
	flag.Parse()
	if err := run(*index, *trtllm, *cache, *out); err != nil {
		fmt.Fprintln(os.Stderr, "releases:", err)
		os.Exit(1)
	}
}

func run(index, trtllm, cache, out string) error {
	if index == "" || trtllm == "" {
		return fmt.Errorf("needs -index and -trtllm")
	}
	t := table{}
	for _, p := range projects() {
		all, err := published(index, p.pack)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(r release) bool { return !r.counts(p.oldest) })
		from := reader(wheelReader{})
		if p.name == "trtllm" {
			from = gitReader{trtllm}
		}
		if err := t.add(&p, all, from, cache); err != nil {
			return err
		}
	}
	return os.WriteFile(out, t.encode(), 0o644)
}

// readSources is the files of a release, from the cache where it has them; nil if the source has no such release.
func readSources(p *project, r *release, from reader, cache string) (map[string]string, error) {
	if p.sources == "" {
		return map[string]string{}, nil
	}
	path := filepath.Join(cache, p.name, r.version+".json")
	var files map[string]string
	if data, err := os.ReadFile(path); err == nil {
		return files, json.Unmarshal(data, &files)
	}
	files, err := from.read(r, regexp.MustCompile(p.sources+`|\.dist-info/METADATA$`))
	if err != nil || files == nil {
		return nil, err
	}
	data, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return files, os.WriteFile(path, data, 0o644)
}

// extract lists the flags and keys in some sources.
func extract(p *project, files map[string]string, cache string) (flags, keys []string, err error) {
	maps.DeleteFunc(files, func(path, _ string) bool { return !regexp.MustCompile(p.sources).MatchString(path) })
	asked, err := json.Marshal(map[string]any{"files": files, "classes": p.classes, "valued": p.valued, "roots": rootsOf(p, files)})
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(cache, fmt.Sprintf("%x.json", sha256.Sum256(append(asked, extractor...))))
	data, err := os.ReadFile(path)
	if err != nil {
		command := exec.Command("python3", "-c", extractor)
		command.Stdin, command.Stderr = bytes.NewReader(asked), os.Stderr
		if data, err = command.Output(); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return nil, nil, err
		}
	}
	var found struct{ Flags, Keys []string }
	return found.Flags, found.Keys, json.Unmarshal(data, &found)
}

// rootsOf are the classes of TensorRT-LLM's file: until 0.21 LlmArgs, and below a key those of its PyTorch backend.
func rootsOf(p *project, files map[string]string) map[string]string {
	text := files["tensorrt_llm/llmapi/llm_args.py"]
	switch {
	case p.roots == nil:
		return map[string]string{}
	case strings.Contains(text, "\nclass TorchLlmArgs("):
		return p.roots
	}
	return map[string]string{"LlmArgs": "", "PyTorchConfig": "pytorch_backend_config."}
}

// pins are the releases of engines that a release of Dynamo requires.
func pins(files map[string]string) map[string]string {
	out := map[string]string{}
	engines := map[string]string{"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "trtllm", "tensorrt_llm": "trtllm"}
	requires := regexp.MustCompile(`(?m)^Requires-Dist: ([\w-]+)(?:\[[^\]]*\])? ?\(?==([\w.]+)\)?\s*;`)
	for path, text := range files {
		if !strings.HasSuffix(path, "METADATA") {
			continue
		}
		for _, m := range requires.FindAllStringSubmatch(text, -1) {
			if name, ok := engines[m[1]]; ok {
				out[name] = m[2]
			}
		}
	}
	return out
}
