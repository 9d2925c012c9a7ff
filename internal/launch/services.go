package launch

import (
	"cmp"
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
		count, _ := number(cmp.Or(scalar(pool, "replicas"), "1"))
		a := around{count: count}
		layout := child(pool, "parallelism")
		data, _ := number(scalar(layout, "data"))
		if local, ok := number(scalar(layout, "dataLocal")); ok && local > 0 {
			a.nodes = max(1, data/local)
		}
		a = a.at(main)
		var words call
		words.add(main.Line, VLLM, "serve", model)
		words.join(r.arguments(child(main, "args"), a))
		if env := child(main, "env"); env != nil {
			for _, e := range env.Content {
				if scalar(e, "name") == "VLLM_ADDITIONAL_ARGS" {
					words.join(r.arguments(child(e, "value"), a))
				}
			}
		}
		words.divided(layout, [2]string{"tensor", "--tensor-parallel-size"}, [2]string{"pipeline", "--pipeline-parallel-size"},
			[2]string{"data", "--data-parallel-size"}, [2]string{"dataLocal", "--data-parallel-size-local"})
		if n := child(layout, "expert"); n != nil && n.Value == "true" {
			words.add(n.Line, "--enable-expert-parallel")
		}
		if err := r.command(file, words, a); err != nil {
			return err
		}
	}
	return nil
}

// divided adds the flags of sizes that charts and controllers have keys for.
func (c *call) divided(layout *yaml.Node, flags ...[2]string) {
	for _, f := range flags {
		if n := child(layout, f[0]); n != nil && n.Kind == yaml.ScalarNode && n.Value != "" {
			c.add(n.Line, f[1], n.Value)
		}
	}
}

// skypilot reads the commands of a service or task of SkyPilot, which every replica runs.
func (r *reader) skypilot(file string, root *yaml.Node) error {
	service, run := child(root, "service"), child(root, "run")
	count, _ := number(cmp.Or(scalar(service, "replicas"), scalar(child(service, "replica_policy"), "min_replicas")))
	a := around{count: max(1, count)}
	a.version, a.dynamo = imageReleases(strings.TrimPrefix(scalar(child(root, "resources"), "image_id"), "docker:"))
	return r.script(file, run.Value, textLine(run), r.environment(root, a))
}
