package files_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// crowded are plans of which several workers, or several units, share a host.
func crowded(t testing.TB) map[string]*launch.Plan {
	t.Helper()
	out := cases(t)
	const dense, moe = "Qwen/Qwen3-32B-FP8", "Qwen/Qwen3-235B-A22B"
	for _, e := range []string{"vllm", "sglang", "trtllm"} {
		units := planned(t, e, versionOf(e), dense, "h200_sxm", []int{1, 64}, prefill(1, tp(1)), decode(1, tp(1)))
		units.Copies = 3
		out[e+"-units"] = units
		out[e+"-ranks"] = planned(t, e, versionOf(e), moe, "h200_sxm", []int{64}, both(4, wide(4)))
		split := planned(t, e, versionOf(e), moe, "h200_sxm", []int{1, 64}, prefill(2, wide(4)), decode(1, wide(4)))
		split.Copies = 2
		out[e+"-disagg-ranks"] = split
	}
	out["vllm-old"] = planned(t, "vllm", "0.10.2", dense, "h200_sxm", []int{1, 64}, prefill(2, tp(2)), decode(1, tp(4)))
	out["sglang-old"] = planned(t, "sglang", "0.5.9", moe, "h200_sxm", []int{64}, both(2, wide(4)))
	out["sglang-uneven"] = planned(t, "sglang", versionOf("sglang"), moe, "h200_sxm", []int{64, 64}, prefill(1, wide(2)), decode(1, parallel.Layout{Devices: 12, TP: 1, DP: 12, EP: 12}))
	return out
}

// sharesHost reports a file whose processes run on the same host, or on the nodes that it names.
func sharesHost(path string) bool {
	return strings.HasSuffix(path, ".sh") || strings.HasSuffix(path, ".sbatch") || strings.HasSuffix(path, "compose.yaml")
}

// TestPortsDistinct: no two processes of a host open the same port, with the defaults of the programs.
func TestPortsDistinct(t *testing.T) {
	programs := map[string]int{}
	for name, p := range crowded(t) {
		all, _, err := files.Write(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, set := range files.Together(all) {
			started, err := launch.Processes(set.Files...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			taken := map[string]string{}
			for _, s := range started {
				programs[s.Program]++
				if !sharesHost(s.File) {
					continue
				}
				for _, o := range s.Ports {
					for n := o.First; n < o.First+o.Count; n++ {
						at, by := fmt.Sprint(s.File, " ", s.Host, " ", n), fmt.Sprintf("%s (line %d, %s)", s.Program, s.Line, o.Purpose)
						if other, ok := taken[at]; ok {
							t.Errorf("%s, %s %s: port %d is opened by %s and %s", name, s.File, s.Host, n, other, by)
						}
						taken[at] = by
					}
				}
			}
		}
	}
	for _, program := range []string{
		launch.VLLM, launch.SGLang, launch.TRTLLM, launch.VLLMRouter, launch.SGLangRouter, launch.TRTLLMRouter,
		launch.DynamoFrontend, launch.DynamoVLLM, launch.DynamoSGLang, launch.DynamoTRTLLM,
	} {
		if programs[program] == 0 {
			t.Errorf("no process of %s among %v", program, slices.Sorted(maps.Keys(programs)))
		}
	}
}

// TestPortsOf: the ports of commands as their projects document them.
func TestPortsOf(t *testing.T) {
	for command, want := range map[string]string{
		"vllm serve m": "8000 for requests",
		"vllm serve m --port 8100 --kv-transfer-config '{\"kv_connector\":\"NixlConnector\"}' --tensor-parallel-size 2": "8100 for requests, 5600 for KV exchange ×2",
		"VLLM_NIXL_SIDE_CHANNEL_PORT=5700 vllm serve m --kv-transfer-config '{\"kv_connector\":\"NixlConnector\"}'":     "8000 for requests, 5700 for KV exchange",
		"vllm serve m --data-parallel-size 16 --data-parallel-address 10.0.0.1":                                         "8000 for requests, 29550 for rendezvous",
		"vllm serve m --data-parallel-size 16 --data-parallel-address 10.0.0.1 --headless":                              "",
		"vllm serve m --nnodes 2 --node-rank 0 --master-addr a":                                                         "8000 for requests, 29501 for rendezvous",
		"python3 -m sglang.launch_server --model-path m":                                                                "30000 for requests",
		"python3 -m sglang.launch_server --model-path m --enable-dp-attention --dp 4":                                   "30000 for requests, 30233 for rendezvous ×11",
		"python3 -m sglang.launch_server --model-path m --disaggregation-mode prefill --port 1":                         "1 for requests, 8998 for bootstrap",
		"python3 -m sglang.launch_server --model-path m --nnodes 2 --node-rank=0 --dist-init-addr a:5000":               "30000 for requests, 5000 for rendezvous",
		"srun --nodelist=a env X=y vllm-router --worker-urls http://a:8100 --port 8000":                                 "8000 for requests, 29000 for metrics",
		"bash -c 'pip install vllm-router==0.1.16 && exec vllm-router --prometheus-port 29001'":                         "30000 for requests, 29001 for metrics",
		"python3 -m sglang_router.launch_router --worker-urls http://a:1":                                               "30000 for requests, 29000 for metrics",
		"python3 -m dynamo.frontend --http-port 8001":                                                                   "8001 for requests",
		"DYN_SYSTEM_PORT=8081 python3 -m dynamo.vllm --model m":                                                         "8081 for management",
		"trtllm-serve m --port 8100":               "8100 for requests",
		"trtllm-serve disaggregated -c there.yaml": "8123 for requests",
		"mindieservice_daemon":                     "1025 for requests, 1026 for management, 1027 for metrics",
	} {
		config := launch.File{Path: "there.yaml", Data: []byte("hostname: 0.0.0.0\nport: 8123\n")}
		found, err := launch.Processes(launch.File{Path: "a.sh", Data: []byte(command)}, config)
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", command, found, err)
			continue
		}
		var got []string
		for _, o := range found[0].Ports {
			text := fmt.Sprintf("%d for %s", o.First, o.Purpose)
			if o.Count > 1 {
				text += fmt.Sprintf(" ×%d", o.Count)
			}
			got = append(got, text)
		}
		if d := strings.Join(got, ", "); d != want {
			t.Errorf("%s: want %q, got %q", command, want, d)
		}
	}
}
