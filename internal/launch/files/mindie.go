package files

import (
	"encoding/json"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// mindie is MindIE's config.json (its developer guide, ServerConfig and
// BackendConfig) and the script that starts the daemon with it. One file is for one
// worker; the script of each node puts it in place.
func (w plain) mindie() ([]launch.File, error) {
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

// mindieConfig is the file. A memory of −1 lets the daemon take its share.
func mindieConfig(v *launch.Values, servedName string, port int) ([]byte, error) {
	ids := make([]int, v.Devices)
	for i := range ids {
		ids[i] = i
	}
	model := fields("modelInstanceType", "Standard", "modelName", servedName, "modelWeightPath", v.Model,
		"worldSize", v.Devices, "tp", v.Layout.TP, "dp", v.Layout.DP)
	model.setIf(v.Experts && v.Layout.EP != 0, "moe_ep", v.Layout.EP).setIf(v.Experts && v.Layout.MoETP != 0, "moe_tp", v.Layout.MoETP)
	model.set("backendType", "atb").set("npuMemSize", -1).set("cpuMemSize", 5).set("trustRemoteCode", false)
	// Without allowAllZeroIpListening the daemon refuses 0.0.0.0.
	server := fields("ipAddress", "0.0.0.0", "port", port, "allowAllZeroIpListening", true, "httpsEnabled", false)
	deploy := fields("maxSeqLen", v.MaxLength, "maxInputTokenLen", v.MaxLength, "ModelConfig", []*mapping{model})
	schedule := fields("templateType", "Standard", "templateName", "Standard_LLM", "cacheBlockSize", v.BlockTokens(),
		"maxPrefillBatchSize", v.Batch, "maxPrefillTokens", v.TokenBudget, "maxBatchSize", v.Batch, "maxIterTimes", v.MaxLength)
	backend := fields("backendName", "mindieservice_llm_engine", "npuDeviceIds", [][]int{ids}, "ModelDeployConfig", deploy, "ScheduleConfig", schedule)
	out, err := json.MarshalIndent(fields("Version", "1.0.0", "ServerConfig", server, "BackendConfig", backend), "", "  ")
	return append(out, '\n'), err
}
