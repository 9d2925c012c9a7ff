package nvidia

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
)

//go:embed keys.yaml
var keysFile []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"keys.yaml": keysFile} }

// keyTable is the content of keys.yaml, which explains it.
type keyTable struct {
	Aliases      map[string]string
	Sections     map[string][]string
	Config       []string
	Required     struct{ All, Disagg []string }
	Old          []string
	Experiment   []string
	Idle, Spoken map[string]string
	Refused      map[string][2]string // the only accepted value, and the feature that others request
}

//nolint:gochecknoglobals // read once, never changed
var keys = embedded.Once("aiconfigurator: keys.yaml", keysFile, embedded.YAML[keyTable])

// The sections of "config".
const (
	workloadSection = "runtime_config"
	workerSection   = "worker_config" // also with the prefix of a role
	replicaSection  = "replica_config"
	tuningSection   = "advanced_tuning_config"
)

// sections are the mappings of the old generation's "config".
func sections() []string {
	return []string{workloadSection, workerSection, "prefill_" + workerSection, "decode_" + workerSection, replicaSection, tuningSection}
}

// sizes are the parallel sizes of a worker: the list in a nested worker section, and the
// middle of the flat name.
func sizes() map[string]string {
	out := map[string]string{"cp_list": "cp"}
	for _, l := range listsOf(&experiment.WorkerSpace{}) {
		out[l.nested] = l.flat
	}
	return out
}

// sizeList is a list of sizes of a worker and its names.
type sizeList struct {
	nested, flat string
	sizes        *[]int
}

// listsOf are the lists of sizes of a worker.
func listsOf(w *experiment.WorkerSpace) []sizeList {
	return []sizeList{
		{"num_gpu_per_worker", "num_gpu", &w.Devices},
		{"tp_list", "tp", &w.TP},
		{"pp_list", "pp", &w.PP},
		{"dp_list", "dp", &w.DP},
		{"moe_tp_list", "moe_tp", &w.MoETP},
		{"moe_ep_list", "moe_ep", &w.EP},
	}
}

// experimentKeys are all keys of an experiment.
func experimentKeys() []string {
	k := keys()
	out := slices.Concat(k.Experiment, k.Old, sections(), slices.Collect(maps.Keys(k.Aliases)), slices.Collect(maps.Keys(k.Idle)), slices.Collect(maps.Keys(k.Refused)))
	for _, of := range k.Sections {
		out = append(out, of...)
	}
	for _, role := range []string{"agg_", "prefill_", "decode_"} {
		for _, size := range sizes() {
			out = append(out, role+size+"_candidates")
		}
		if role == "agg_" {
			continue // the others have no prefix
		}
		for _, key := range slices.Concat(k.Sections[workerSection], []string{"model_path"}) {
			out = append(out, role+key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sectionKeys are the keys of a section, each with its flat name.
func sectionKeys(section string) map[string]string {
	role, worker := strings.CutSuffix(section, workerSection)
	if worker {
		section, role = workerSection, cmp.Or(role, "agg_")
	} else {
		role = ""
	}
	out := map[string]string{}
	for _, key := range keys().Sections[section] {
		out[key] = role + key
	}
	for other, key := range keys().Aliases {
		if flat, ok := out[key]; ok {
			out[other] = flat
		}
	}
	if worker {
		for list, size := range sizes() {
			out[list] = role + size + "_candidates"
		}
		out["enable_eplb"] = strings.TrimPrefix(role, "agg_") + "enable_eplb"
	}
	return out
}
