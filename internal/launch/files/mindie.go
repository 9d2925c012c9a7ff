package files

import (
	"bytes"
	"encoding/json"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// mindie is MindIE's config.json (its developer guide, ServerConfig and
// BackendConfig) and the script that starts the daemon with it. One file is for one
// worker; the script of each node puts it in place.
func (w *writer) mindie() ([]launch.File, error) {
	var files []launch.File
	for i := range w.pools {
		v := &w.pools[i]
		if v.Nodes > 1 || v.Role != deployment.Both {
			return nil, cannot(Plain, "MindIE on several nodes or disaggregated needs a rank table of the cluster")
		}
		data, err := mindieConfig(v, w.Site.ServedName, w.Site.Port)
		if err != nil {
			return nil, err
		}
		files = append(files, launch.File{Path: "plain/config.json", Mode: plainFile, Data: data})
	}
	s := newScript(w.heading("MindIE"))
	s.add(`MIES_INSTALL_PATH="${MIES_INSTALL_PATH:-/usr/local/Ascend/mindie/latest/mindie-service}"`)
	s.add(`cp "$(dirname "$0")/config.json" "$MIES_INSTALL_PATH/conf/config.json"`)
	s.add("export NPU_MEMORY_FRACTION=%v", w.pools[0].MemoryShare)
	s.add(`exec "$MIES_INSTALL_PATH/bin/mindieservice_daemon"`)
	return byPath(append(files, s.file("plain/node_0.sh"))), nil
}

// mindieModel, mindieDeploy, mindieSchedule and mindieServer are the parts of the
// file that a deployment decides.
type mindieModel struct {
	Type        string `json:"modelInstanceType"`
	Name        string `json:"modelName"`
	Weight      string `json:"modelWeightPath"`
	WorldSize   int    `json:"worldSize"`
	TP          int    `json:"tp"`
	DP          int    `json:"dp"`
	EP          int    `json:"moe_ep,omitempty"`
	MoETP       int    `json:"moe_tp,omitempty"`
	Backend     string `json:"backendType"`
	NPUMemory   int    `json:"npuMemSize"`
	CPUMemory   int    `json:"cpuMemSize"`
	TrustRemote bool   `json:"trustRemoteCode"`
}

type mindieDeploy struct {
	MaxLength int           `json:"maxSeqLen"`
	MaxInput  int           `json:"maxInputTokenLen"`
	Models    []mindieModel `json:"ModelConfig"`
}

type mindieSchedule struct {
	Template      string `json:"templateType"`
	TemplateName  string `json:"templateName"`
	Block         int    `json:"cacheBlockSize"`
	PrefillBatch  int    `json:"maxPrefillBatchSize"`
	PrefillTokens int    `json:"maxPrefillTokens"`
	Batch         int    `json:"maxBatchSize"`
	MaxIterations int    `json:"maxIterTimes"`
}

type mindieBackend struct {
	Name     string         `json:"backendName"`
	Devices  [][]int        `json:"npuDeviceIds"`
	Deploy   mindieDeploy   `json:"ModelDeployConfig"`
	Schedule mindieSchedule `json:"ScheduleConfig"`
}

type mindieServer struct {
	Address string `json:"ipAddress"`
	Port    int    `json:"port"`
	AllZero bool   `json:"allowAllZeroIpListening"` // without it the daemon refuses 0.0.0.0
	HTTPS   bool   `json:"httpsEnabled"`
}

type mindieFile struct {
	Version string        `json:"Version"`
	Server  mindieServer  `json:"ServerConfig"`
	Backend mindieBackend `json:"BackendConfig"`
}

// mindieConfig is the file. A memory of −1 lets the daemon take its share.
func mindieConfig(v *launch.Values, servedName string, port int) ([]byte, error) {
	ids := make([]int, v.Devices)
	for i := range ids {
		ids[i] = i
	}
	m := mindieModel{
		Type: "Standard", Name: servedName, Weight: v.Model, WorldSize: v.Devices, TP: v.Layout.TP, DP: v.Layout.DP,
		Backend: "atb", NPUMemory: -1, CPUMemory: 5,
	}
	if v.Experts {
		m.EP, m.MoETP = v.Layout.EP, v.Layout.MoETP
	}
	f := mindieFile{
		"1.0.0",
		mindieServer{"0.0.0.0", port, true, false},
		mindieBackend{
			"mindieservice_llm_engine",
			[][]int{ids},
			mindieDeploy{v.MaxLength, v.MaxLength, []mindieModel{m}},
			mindieSchedule{"Standard", "Standard_LLM", v.BlockTokens(), v.Batch, v.TokenBudget, v.Batch, v.MaxLength},
		},
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	err := e.Encode(f)
	return out.Bytes(), err
}
