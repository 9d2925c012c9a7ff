// Package files writes the files that run a plan: scripts, Compose files, Kubernetes
// objects, files for Dynamo, llm-d, KServe, Slurm and SkyPilot, and a benchmark.
//
// In: a launch.Plan. Out: launch.File values in a fixed order; writing them to disk is the
// caller's business. Commands come from launch.Values, so that all targets start the same
// engines; text of the user goes through launch.Command, which quotes it for shells and
// manifests, or through the YAML and JSON encoders. The package does not know what a flag
// means.
//
// # Where to start reading
//
//   - write.go: the targets, and the plan with its values derived, which all of them work on
//   - about.go: what each target is, and the type that writes it
//   - plain.go: the shortest target, the engine's own commands
//
// Each target is a type with a file: plain.go (and mindie.go), compose.go, kubernetes.go, keda.go, dynamo.go, planner.go, llmd.go, kserve.go,
// slurm.go, skypilot.go, bench.go. What several of them need are types that they embed:
//
//   - objects (objects.go): names, labels and beginnings of Kubernetes objects
//   - pods (kubernetes.go), on fabric (fabric.go): the pods of engines; entrances (entrance.go): what stands in front of them
//   - scripts (worker.go, script.go, trtllm.go), on routers (router.go): processes on nodes
//   - divisions (rests.go): how requests are divided between workers, and what of the prediction files do not bring about
//
// place.go puts workers on nodes.
//
// # What can be added
//
// A target: a type with the method of target in about.go, a constant in write.go, and a line in [Abouts].
package files
