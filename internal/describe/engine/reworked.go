package engine

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// Reworked is what an engine does differently from a release on with a flag or key that keeps its name, or with none: "" for what no flag
// sets. The table of releases and the declared defaults do not show it.
type Reworked struct {
	Flag   string `json:"flag,omitempty"`
	Since  string `json:"since"`
	What   string `json:"what"`
	Source string `json:"source"`

	except []string // engines that run the server and do not do it
}

// reworked are those that are known, by engine. Each was read in the source it names.
func reworked() map[string][]Reworked {
	return map[string][]Reworked{
		"vllm": {
			{
				"--gpu-memory-utilization", "0.20.0", "the memory of CUDA graphs is estimated and counts: less is left for the KV cache",
				"vllm/envs.py, VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS",
				[]string{"vllm-ascend"}, // measures after the KV cache was sized (its worker.py, determine_available_memory)
			},
		},
		"vllm-ascend": {
			{
				"--max-cudagraph-capture-size", "0.18.0rc1", "unset it is as many tokens as max_num_seqs sequences have in a decode step, at most 512, and not twice as many",
				"vllm-ascend PR 7572", nil,
			},
			{
				"--compilation-config", "0.21.0rc1", "without cudagraph_mode decodes replay whole graphs and prompts pieces; both replayed pieces",
				"vllm-ascend PR 9572", nil,
			},
		},
		"trtllm": {
			{"--backend", "1.0.0", "unset it is PyTorch, and not a TensorRT engine", "release notes of 1.0", nil},
			{"", "1.1.0", "the sampler in C++ is the default (sampler_type chooses)", "release notes of 1.1", nil},
			{"", "1.2.0", "sampling is by FlashInfer, and undefined cases of sampling changed", "release notes of 1.2", nil},
			{"", "1.2.0", "programmatic dependent launch is on", "release notes of 1.2", nil},
		},
	}
}

// ReworkedBetween lists what changed for an engine, and for the server it runs, after one release up to another.
func ReworkedBetween(name, from, to string) []Reworked {
	all := reworked()[name]
	if server := Server(name); server != name {
		all = append(all, reworked()[server]...)
	}
	var out []Reworked
	for _, r := range all {
		if !slices.Contains(r.except, name) && version.Compare(from, r.Since) < 0 && version.Compare(r.Since, to) <= 0 {
			out = append(out, r)
		}
	}
	return out
}
