// Package files writes the files that run a plan: scripts, Compose files, Kubernetes
// objects, files for Dynamo, llm-d, KServe, Slurm and SkyPilot, and a benchmark.
//
// In: a launch.Plan. Out: launch.File values in a fixed order; writing them to disk is the
// caller's business. Commands come from launch.Values, so that all targets start the same
// engines; text of the user goes through launch.Command, which quotes it for shells and
// manifests, or through the YAML and JSON encoders. The package does not know what a flag
// means. Start with write.go; about.go lists the targets, and each has a file:
// plain.go, compose.go, kubernetes.go, keda.go, dynamo.go, planner.go, llmd.go, kserve.go, slurm.go,
// skypilot.go, bench.go, mindie.go. place.go puts workers on nodes, worker.go and
// router.go start processes, trtllm.go has TensorRT-LLM's config files.
package files
