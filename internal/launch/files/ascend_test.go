package files_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// TestAscend: files of the ports start the engine's own program with what Ascend's devices need, and are read as they were meant.
func TestAscend(t *testing.T) {
	for _, c := range []struct {
		engine, release, system, image string
		flags                          []string
	}{
		{"vllm-ascend", "0.23.0", "ATLAS_800_A3_752T_128G_DIE", "quay.io/ascend/vllm-ascend:v0.23.0-a3", []string{"vllm serve", "--quantization ascend"}},
		{"vllm-ascend", "0.23.0", "ATLAS_800_A2_376T_64G", "quay.io/ascend/vllm-ascend:v0.23.0\n", nil},
		{"sglang-npu", "0.5.16", "ATLAS_800_A3_752T_128G_DIE", "quay.io/ascend/sglang:cann9.0.0-a3-v0.5.16", []string{"sglang.launch_server", "--quantization modelslim", "--attention-backend ascend"}},
	} {
		p := planned(t, c.engine, c.release, "Qwen/Qwen3-32B", c.system, []int{64}, both(2, tp(4)))
		all, skipped, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		for _, f := range all {
			texts[f.Path] = string(f.Data)
		}
		script, compose := texts["plain/node_0.sh"], texts["compose/compose.yaml"]
		for _, want := range append(c.flags, "HCCL_OP_EXPANSION_MODE=AIV", "ASCEND_RT_VISIBLE_DEVICES=4,5,6,7", "weights in W8A8_DYNAMIC") {
			if !strings.Contains(script, want) {
				t.Errorf("%s: no %q in\n%s", c.engine, want, script)
			}
		}
		for _, want := range []string{"image: " + c.image, "- /dev/davinci7\n", "/usr/local/Ascend/driver/lib64:"} {
			if !strings.Contains(compose, want) {
				t.Errorf("%s: no %q in\n%s", c.engine, want, compose)
			}
		}
		for _, a := range files.Abouts() {
			_, _, err := files.Write(p, a.Target)
			if listed := strings.Contains(a.Engines, c.engine); listed != (err == nil) {
				t.Errorf("%s: the list says %q of %s: %v", c.engine, a.Engines, a.Target, err)
			}
		}
		if !strings.Contains(texts["kubernetes/deploy.yaml"], "huawei.com/Ascend910: 4") || texts["k8s_deploy.yaml"] != "" || len(skipped) == 0 {
			t.Errorf("%s: Kubernetes, or Dynamo, which has no image; skipped %v", c.engine, skipped)
		}
		for _, path := range []string{"plain/node_0.sh", "compose/compose.yaml"} {
			found, err := launch.Read(launch.File{Path: path, Data: []byte(texts[path])})
			if err != nil {
				t.Fatal(err)
			}
			if e := found.Deployment.Engine; e.Version != c.release || found.Deployment.System != c.system || len(found.Problems) > 0 {
				t.Errorf("%s: read as %+v on %s, %v", path, e, found.Deployment.System, found.Problems)
			}
		}
	}
	p := planned(t, "vllm-ascend", "0.23.0", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{8, 64}, prefill(1, tp(4)), decode(1, tp(4)))
	if _, _, err := files.Write(p, files.Plain); !errors.Is(err, files.ErrCannot) {
		t.Errorf("prefill and decode workers: %v", err)
	}
}

// TestUnquantizedAscend: a checkpoint in 16 bits is not announced as quantized, and its files are read without quantization.
func TestUnquantizedAscend(t *testing.T) {
	p := planned(t, "vllm-ascend", "0.23.0", "Qwen/Qwen3-8B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(1, tp(1)))
	p.Deployment.Formats.Linear = "DISABLED"
	resolve(t, p)
	all, _, err := files.Write(p, files.Plain)
	if err != nil {
		t.Fatal(err)
	}
	found, err := launch.Read(all...)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all[0].Data), "--quantization") || found.Deployment.Formats.Linear != "DISABLED" || len(found.Problems) > 0 {
		t.Errorf("%+v %v\n%s", found.Deployment.Formats, found.Problems, all[0].Data)
	}
}
