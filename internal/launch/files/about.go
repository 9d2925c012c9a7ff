package files

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// target writes the files of a [Target]. A new one is a type with this method that embeds what it needs of the parts of a writer (objects of
// Kubernetes, pods, scripts), a constant in write.go, and a line in [Abouts].
type target interface {
	files() ([]launch.File, error)
}

// About says what a target is and which releases its files are written for.
type About struct {
	Target Target `json:"target"`
	Files  string `json:"files"`
	// For are the releases that the files were checked against, or that have what they use.
	For     string `json:"written_for"`
	Engines string `json:"engines"`

	of func(*writer) target
}

// Abouts describes the targets in the order they are written.
func Abouts() []About {
	const (
		gpus, all = "vllm, sglang", "vllm, sglang, trtllm"
		ascend    = "vllm-ascend, sglang-npu"
		ports     = all + "; aggregated " + ascend
	)
	return []About{
		{Dynamo, "k8s_deploy.yaml, node_N_run.sh, engine files", "Dynamo 1.4.1: nvidia.com/v1beta1, since 1.2", all, func(w *writer) target { return dynamo{w.pods()} }},
		{Planner, "planner/", "planner of Dynamo 1.4.1", all + "; disaggregated", func(w *writer) target { return planner{w} }},
		{Plain, "plain/node_N.sh", "the engine's release; vllm-router 0.1.16, sglang-router 0.3.2", all + ", mindie; aggregated " + ascend, func(w *writer) target { return plain{w.scripts()} }},
		{Compose, "compose/", "Docker Compose 2", ports, func(w *writer) target { return compose{w.scripts()} }},
		{Kubernetes, "kubernetes/deploy.yaml, hpa.yaml", "Kubernetes 1.36, LeaderWorkerSet 0.10", ports, func(w *writer) target { return kubernetes{w.entrances()} }},
		{KEDA, "keda/scaledobject.yaml", "KEDA 2.20: keda.sh/v1alpha1", gpus + "; aggregated, with limits", func(w *writer) target { return keda{w.objects()} }},
		{LLMD, "llm-d/values.yaml, router.values.yaml", "llm-d-modelservice 0.4.12, llm-d-router-standalone 0.9.0", "vllm", func(w *writer) target { return llmd{w.pods()} }},
		{KServe, "kserve/llminferenceservice.yaml", "KServe 0.20: serving.kserve.io/v1alpha2", "vllm", func(w *writer) target { return kserve{w.pods()} }},
		{Slurm, "slurm/job.sbatch", "Slurm 20.11 and later", ports, func(w *writer) target { return slurm{w.scripts()} }},
		{SkyPilot, "skypilot/service.yaml", "SkyPilot 0.13", all, func(w *writer) target { return skypilot{w.scripts()} }},
		{Bench, "bench_run.sh, k8s_bench.yaml", "aiperf 0.13.0", all + ", " + ascend, func(w *writer) target { return bench{w.objects()} }},
	}
}

// Targets lists the targets in the order they are written.
func Targets() []Target {
	var out []Target
	for _, a := range Abouts() {
		out = append(out, a.Target)
	}
	return out
}

// Words lists the targets.
func (Target) Words() []string { return field.Texts(Targets()) }
