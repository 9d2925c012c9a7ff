package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// RunsOn lists the engines that plans compare on a device. On some generations there are fewer than on others of their vendor:
// TensorRT-LLM's list of supported hardware begins with Ampere, SGLang refuses what is older than Turing (load_model: "SGLang only
// supports sm75 and above"), and its list has Intel's XPUs but not Gaudi.
func RunsOn(d *device.Profile) []string {
	switch d.Generation {
	case "pascal", "volta", "gaudi2", "gaudi3":
		return []string{"vllm"}
	case "turing":
		return []string{"vllm", "sglang"}
	}
	return ofVendor(d.Vendor)
}

// ofVendor lists the engines that run on a vendor's devices, by the engines' lists of
// supported hardware: vLLM runs on NVIDIA and AMD, and through plugins on Intel (XPU and
// vllm-gaudi), TPUs (tpu-inference) and Neuron (vllm-neuron); SGLang on NVIDIA, AMD and Intel XPU;
// TensorRT-LLM on NVIDIA; MindIE and the ports of vLLM and SGLang on Ascend.
// ATOM, alone or in the servers of vLLM and SGLang, runs on AMD and is compared only if named: nothing is known of it with separate
// prefill and decode workers. A device of another vendor is taken to run vLLM. None of
// them runs on Apple's GPUs.
func ofVendor(v device.Vendor) []string {
	switch v {
	case device.NVIDIA:
		return []string{"trtllm", "vllm", "sglang"}
	case device.AMD:
		return []string{"vllm", "sglang"}
	case device.Ascend, device.Test:
		return []string{"mindie", "vllm-ascend", "sglang-npu"}
	case device.Intel:
		return []string{"vllm", "sglang"}
	case device.Google, device.AWS, device.Other:
		return []string{"vllm"}
	case device.Apple:
	}
	return nil
}

// Port is the engine that runs under a name on a vendor's devices: where they do not run that one but a port of it, as Ascend's with
// vLLM and SGLang, the port.
func Port(name string, v device.Vendor) string {
	e, err := find(name)
	runs := ofVendor(v)
	if err != nil || slices.Contains(runs, e.name) {
		return name
	}
	for _, port := range runs {
		if Server(port) == e.name {
			return port
		}
	}
	return name
}

// Foreign says that an engine does not run on a device, and which ones do; "" if it does, or if there is no
// such engine. The generic engine runs anywhere.
func Foreign(name string, d *device.Profile) string {
	runs := RunsOn(d)
	switch {
	case name == "generic", !slices.Contains(Names(), name), slices.Contains(runs, name), strings.HasPrefix(name, "atom") && d.Vendor == device.AMD:
		return ""
	case d.Vendor == device.Apple:
		return fmt.Sprintf("%s does not run on %s: Apple's GPUs run llama.cpp and MLX, which have no profile here; the engine generic gives an estimate", name, d.Name)
	}
	return fmt.Sprintf("%s does not run on %s; engines that do: %s", name, d.Name, strings.Join(runs, ", "))
}
