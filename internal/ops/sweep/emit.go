package sweep

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// Job is a sweep as a job of many tasks, one for each shard.
type Job struct {
	Name   string // of the job and its objects
	Grid   string // the grid's file
	Text   []byte // its content, which a ConfigMap carries
	Out    string // the table to make
	Shards int
	CPUs   int // of a task
	// Image has the program, Claim is the volume claim of the results, both for Kubernetes.
	Image, Claim, Namespace string
}

// Slurm is the script of a job array. A task that is requeued continues from its journal.
func (j *Job) Slurm() []byte {
	run := launch.Literals("plimsoll", "sweep", j.Grid, "--out", j.Out, "--shard", "auto/"+strconv.Itoa(j.Shards), "--jobs")
	run = append(run, launch.Expansion("${SLURM_CPUS_PER_TASK}"))
	merge := launch.Literals("plimsoll", "sweep", "merge", "--out", j.Out)
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n#SBATCH --job-name=%s\n#SBATCH --array=0-%d\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%d\n#SBATCH --requeue\n", j.Name, j.Shards-1, j.CPUs)
	fmt.Fprintf(&b, "#SBATCH --open-mode=append\n#SBATCH --output=%s-%%a.log\n", j.Name)
	b.WriteString("# A shard of the sweep for each task. A task that ends early goes on where it was when it runs again.\n")
	b.WriteString("# Send it with the job that joins the parts:\n")
	fmt.Fprintf(&b, "#   id=$(sbatch --parsable THIS_FILE)\n#   sbatch --dependency=afterok:$id --wrap %s\n", launch.Quote(merge.Line()))
	b.WriteString("set -euo pipefail\n")
	fmt.Fprintf(&b, "exec %s\n", run.Line())
	return []byte(b.String())
}

// Kubernetes is an Indexed Job with the grid in a ConfigMap. Parts and journals go to a volume that all pods write to.
func (j *Job) Kubernetes() ([]byte, error) {
	const results, grid = "/results", "/grid"
	type object = map[string]any
	meta := object{"name": j.Name}
	if j.Namespace != "" {
		meta["namespace"] = j.Namespace
	}
	config := object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": object{"grid.yaml": string(j.Text)}}
	args := launch.Literals("sweep", grid+"/grid.yaml", "--out", j.Out, "--shard", "auto/"+strconv.Itoa(j.Shards), "--jobs", strconv.Itoa(j.CPUs)).InManifest().Strings()
	cpu := object{"cpu": strconv.Itoa(j.CPUs), "memory": "1Gi"}
	container := object{
		"name": "sweep", "image": j.Image, "command": []string{"plimsoll"}, "args": args, "workingDir": results, "resources": object{"requests": cpu},
		"volumeMounts": []object{{"name": "results", "mountPath": results}, {"name": "grid", "mountPath": grid, "readOnly": true}},
	}
	job := object{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": meta,
		"spec": object{
			// A pod that dies is started again, with the same index: it goes on from its journal, which the pod before must have let go of.
			"completionMode": "Indexed", "completions": j.Shards, "parallelism": j.Shards, "backoffLimitPerIndex": 3, "podReplacementPolicy": "Failed",
			"template": object{"spec": object{
				"restartPolicy": "Never", "containers": []object{container},
				"volumes": []object{
					{"name": "results", "persistentVolumeClaim": object{"claimName": j.Claim}},
					{"name": "grid", "configMap": object{"name": j.Name}},
				},
			}},
		},
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# A shard of the sweep for each index. Files that the grid names are read from the claim %s.\n", j.Claim)
	fmt.Fprintf(&out, "# Afterwards, in a pod or on a machine with the claim: %s\n", launch.Literals("plimsoll", "sweep", "merge", "--out", j.Out).Line())
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for _, doc := range []object{config, job} {
		if err := e.Encode(doc); err != nil {
			return nil, err
		}
	}
	err := e.Close()
	return out.Bytes(), err
}
