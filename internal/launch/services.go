package launch

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kserve reads the workers of an LLMInferenceService. KServe's templates start vLLM with the model
// and its layout; other flags are in a variable that a shell splits.
func (r *reader) kserve(file string, spec *yaml.Node) error {
	model := strings.TrimPrefix(scalar(child(spec, "model"), "uri"), "hf://")
	for _, pool := range []*yaml.Node{child(spec, "prefill"), spec} {
		containers := child(child(pool, "template"), "containers")
		if containers == nil || len(containers.Content) == 0 {
			continue
		}
		main := containers.Content[0]
		words := append([]string{"vllm", "serve", model}, arguments(child(main, "args"))...)
		if env := child(main, "env"); env != nil {
			for _, e := range env.Content {
				if scalar(e, "name") == "VLLM_ADDITIONAL_ARGS" {
					words = append(words, arguments(child(e, "value"))...)
				}
			}
		}
		a := around{count: 1}
		if n, ok := number(scalar(pool, "replicas")); ok {
			a.count = n
		}
		layout := child(pool, "parallelism")
		for _, p := range [][2]string{
			{"tensor", "--tensor-parallel-size"}, {"pipeline", "--pipeline-parallel-size"}, {"data", "--data-parallel-size"}, {"dataLocal", "--data-parallel-size-local"},
		} {
			if n := scalar(layout, p[0]); n != "" {
				words = append(words, p[1], n)
			}
		}
		if scalar(layout, "expert") == "true" {
			words = append(words, "--enable-expert-parallel")
		}
		data, _ := number(scalar(layout, "data"))
		if local, ok := number(scalar(layout, "dataLocal")); ok && local > 0 {
			a.nodes = max(1, data/local)
		}
		if err := r.command(file, words, a.at(main)); err != nil {
			return err
		}
	}
	return nil
}

// skypilot reads the commands of a service or task of SkyPilot, which every replica runs.
func (r *reader) skypilot(file string, root *yaml.Node) error {
	service := child(root, "service")
	count, _ := number(cmp.Or(scalar(service, "replicas"), scalar(child(service, "replica_policy"), "min_replicas")))
	a := around{count: max(1, count), version: imageVersion(strings.TrimPrefix(scalar(child(root, "resources"), "image_id"), "docker:"))}
	text := strings.Join(slices.DeleteFunc([]string{scalar(root, "setup"), scalar(root, "run")}, func(s string) bool { return s == "" }), "\n")
	return r.script(file, text, a)
}
