package files

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// About says what a target is and which releases its files are written for.
type About struct {
	Target Target `json:"target"`
	Files  string `json:"files"`
	// For are the releases that the files were checked against, or that have what they use.
	For     string `json:"written_for"`
	Engines string `json:"engines"`

	write func(*writer) ([]launch.File, error)
}

// Abouts describes the targets in the order they are written.
func Abouts() []About {
	const (
		gpus, all = "vllm, sglang", "vllm, sglang, trtllm"
		ascend    = "vllm-ascend, sglang-npu"
		ports     = all + "; aggregated " + ascend
	)
	return []About{
		{Dynamo, "k8s_deploy.yaml, node_N_run.sh, engine files", "Dynamo 1.4.1: nvidia.com/v1beta1, since 1.2", all, (*writer).dynamo},
		{Planner, "planner/", "planner of Dynamo 1.4.1", all + "; disaggregated", (*writer).planner},
		{Plain, "plain/node_N.sh", "the engine's release; vllm-router 0.1.16, sglang-router 0.3.2", all + ", mindie; aggregated " + ascend, (*writer).plain},
		{Compose, "compose/", "Docker Compose 2", ports, (*writer).compose},
		{Kubernetes, "kubernetes/deploy.yaml, hpa.yaml", "Kubernetes 1.36, LeaderWorkerSet 0.10", ports, (*writer).kubernetes},
		{KEDA, "keda/scaledobject.yaml", "KEDA 2.20: keda.sh/v1alpha1", gpus + "; aggregated, with limits", (*writer).keda},
		{LLMD, "llm-d/values.yaml, router.values.yaml", "llm-d-modelservice 0.4.12, llm-d-router-standalone 0.9.0", "vllm", (*writer).llmd},
		{KServe, "kserve/llminferenceservice.yaml", "KServe 0.20: serving.kserve.io/v1alpha2", "vllm", (*writer).kserve},
		{Slurm, "slurm/job.sbatch", "Slurm 20.11 and later", ports, (*writer).slurm},
		{SkyPilot, "skypilot/service.yaml", "SkyPilot 0.13", all, (*writer).skypilot},
		{Bench, "bench_run.sh, k8s_bench.yaml", "aiperf 0.13.0", all + ", " + ascend, (*writer).bench},
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
