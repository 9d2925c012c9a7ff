package engine

import (
	"reflect"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// TestPort: Ascend's devices run ports, under the names of the engines too; others run the engines themselves.
func TestPort(t *testing.T) {
	for _, c := range []struct {
		vendor     device.Vendor
		name, want string
	}{
		{device.Ascend, "vllm", "vllm-ascend"},
		{device.Ascend, "vLLM-v1", "vllm-ascend"},
		{device.Ascend, "sgl", "sglang-npu"},
		{device.Ascend, "sglang-npu", "sglang-npu"},
		{device.Ascend, "mindie", "mindie"},
		{device.Ascend, "generic", "generic"},
		{device.NVIDIA, "vllm", "vllm"},
		{device.NVIDIA, "vllm-ascend", "vllm-ascend"},
	} {
		if got := Port(c.name, c.vendor); got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.name, c.vendor, got, c.want)
		}
	}
	for _, e := range catalog {
		if to := Port(e.name, device.Ascend); to != e.name && Server(to) != e.name {
			t.Errorf("%s leads to %s, which runs the server of %s", e.name, to, Server(to))
		}
	}
	a3, err := device.Lookup("ATLAS_800_A3_752T_128G_DIE")
	if err != nil {
		t.Fatal(err)
	}
	h200, err := device.Lookup("h200_sxm")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range RunsOn(a3) {
		if Foreign(name, "", a3) != "" || Foreign(name, "", h200) == "" {
			t.Errorf("%s runs on Ascend's devices alone", name)
		}
	}
	if got, want := Foreign("vllm-ascend", "", h200), "vllm-ascend does not run on h200_sxm; engines that do: trtllm, vllm, sglang"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if slices.Contains(RunsOn(a3), "vllm") || Foreign("trtllm", "", a3) == "" {
		t.Error("CUDA's engines run on Ascend's devices")
	}
}

// TestOlderDevices: engines begin with different generations, and stop to run on old ones with a release.
func TestOlderDevices(t *testing.T) {
	for _, c := range []struct{ engine, release, device, want string }{
		{"trtllm", "", "t4", "trtllm does not run on t4; engines that do: vllm, sglang@0.5.1.post2"},
		{"trtllm", "", "v100_sxm_32gb", "trtllm does not run on v100_sxm_32gb; engines that do: vllm@0.19.1"},
		{"sglang", "", "v100_pcie_16gb", "sglang does not run on v100_pcie_16gb; engines that do: vllm@0.19.1"},
		{"sglang", "", "t4", "sglang does not run on t4 since 0.5.1.post3: its kernels need compute capability 8.0; the newest release that does is 0.5.1.post2"},
		{"sglang", "0.5.1", "t4", ""},
		{"sglang", "", "gaudi3", "sglang does not run on gaudi3; engines that do: vllm"},
		{"sglang", "", "b60", ""},
		{"vllm", "", "v100_sxm_16gb", "vllm does not run on v100_sxm_16gb since 0.20.0: its images have no kernels for compute capability 7.0; the newest release that does is 0.19.1"},
		{"vllm", "0.20.1", "v100_sxm_16gb", "vllm does not run on v100_sxm_16gb since 0.20.0: its images have no kernels for compute capability 7.0; the newest release that does is 0.19.1"},
		{"vllm", "0.19.0", "v100_sxm_16gb", ""},
		{"vllm", "", "t4", ""},
		{"trtllm", "", "a10", ""},
		{"generic", "", "t4", ""},
	} {
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		if got := Foreign(c.engine, c.release, d); got != c.want {
			t.Errorf("%s %s on %s: %q, want %q", c.engine, c.release, c.device, got, c.want)
		}
	}
	for name, want := range map[string][]string{"t4": {"vllm"}, "v100_sxm_32gb": {"vllm@0.19.1"}, "a10": {"trtllm", "vllm", "sglang"}} {
		d, _ := device.Lookup(name)
		if got := RunsOn(d); !slices.Equal(got, want) {
			t.Errorf("%s runs %v, want %v", name, got, want)
		}
	}
}

// TestPorts: a port has the flags of the engine it is a port of, and nothing of its devices.
func TestPorts(t *testing.T) {
	p, vllm := lookup(t, "vllm-ascend"), lookup(t, "vllm")
	if p.Server() != "vllm" || vllm.Server() != "vllm" {
		t.Errorf("servers %s, %s", p.Server(), vllm.Server())
	}
	for _, key := range []string{"token_budget", "layout.tp", "memory_share", "mtp.tokens"} {
		if got, want := p.Option(key, "0.23.0"), vllm.Option(key, "0.23.0"); got == "" || got != want {
			t.Errorf("%s is %q, of vLLM %q", key, got, want)
		}
	}
	if len(p.Tiers)+len(p.Slow)+len(p.ProductTiles) > 0 {
		t.Errorf("rules of other devices: %+v", p)
	}
	a3, _ := device.Lookup("ATLAS_800_A3_752T_128G_DIE")
	if got := p.On(a3, Use{Devices: 4}).Graph.MaxBatch; got != 256 {
		t.Errorf("graphs of %d sequences; max_num_seqs is 256", got)
	}
	npu, sglang := lookup(t, "sglang-npu").Tiers, lookup(t, "sglang").Tiers
	if !reflect.DeepEqual(npu[2:], sglang[3:]) {
		t.Errorf("above 64 GiB %+v, of SGLang %+v", npu[2:], sglang[3:])
	}
	if got := lookup(t, "sglang-npu").On(a3, Use{Devices: 2}).Graph.MaxBatch; got != 64 {
		t.Errorf("graphs of %d sequences with TP 2, want 64 (set_default_server_args)", got)
	}
}
