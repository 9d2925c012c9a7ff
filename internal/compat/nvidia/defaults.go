package nvidia

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Generation is one of the tool's two dialects.
type Generation string

// The generations: names like QWEN3_32B, underscores and nested files; and ids of
// Hugging Face, hyphens and flat files.
const (
	Old Generation = "old"
	New Generation = "new"
)

// Values are the default workload and limits of an experiment.
type Values struct {
	Input, Output int
	TTFT, TPOT    float64 // milliseconds
}

// Defaults are the tool's defaults for a command or a file. The generations differ in the
// limits only.
func Defaults(g Generation, yaml bool) Values {
	v := Values{Input: 4000, Output: 1000, TTFT: 1000, TPOT: 20}
	switch {
	case yaml && g == Old:
		v.TPOT = 40
	case yaml:
		v.TPOT = 50
	case g == New:
		v.TTFT, v.TPOT = 2000, 30
	}
	return v
}

// defaultBackend is the engine of both generations where none is named.
const defaultBackend = "trtllm"

// draftedByDefault is the old generation's default number of draft tokens of a model. It also
// drafted one for KIMI_K2, whose checkpoint has no MTP modules.
func draftedByDefault(name string, m *model.Model) int {
	if isOldName(name) && m != nil && m.ID == "deepseek-ai/DeepSeek-V3" {
		return 1
	}
	return 0
}

// acceptedByDefault are the old generation's acceptance rates.
func acceptedByDefault() []float64 { return []float64{0.85, 0, 0, 0, 0} }

// The old generation's bounds on the devices of a replica.
const (
	maxReplica     = 128
	maxWideReplica = 512
	replicaStep    = 8
)

// replicaSizes are the default sizes of replicas: powers of two up to a node, then whole
// nodes, and all devices together, since otherwise some of 12 could not be used.
func replicaSizes(total, largest int) []int {
	var sizes []int
	for n := 1; n <= min(total, largest); n++ {
		if n%replicaStep == 0 || n == 1 || n == 2 || n == 4 || n == total {
			sizes = append(sizes, n)
		}
	}
	return sizes
}
