package files

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// onNodes keeps the pods of a pool on nodes with its devices, unless all pools have the same
// devices, or their label is not known.
func (w *writer) onNodes(pod *mapping, v *launch.Values) *mapping {
	key, value := productLabel(v.Device)
	return pod.setIf(w.mixed() && value != "", "nodeSelector", fields(key, value))
}

// mixed reports whether the pools run on different devices.
func (w *writer) mixed() bool { return w.pools[0].Device.Name != w.pools[len(w.pools)-1].Device.Name }

// selectorHint is a comment about pools whose nodes the user has to select.
func (w *writer) selectorHint() string {
	var out strings.Builder
	for i := range w.pools {
		v := &w.pools[i]
		if _, value := productLabel(v.Device); w.mixed() && value == "" {
			out.WriteString(comment("Add a nodeSelector to the %s pods: no label of nodes with %s is known.", roleName(v.Role), v.Device.Name))
		}
	}
	return out.String()
}

// productLabel is the label of nodes with a device. NVIDIA's GPU feature discovery and AMD's node labeller set it to the product name of
// the driver, with hyphens or underscores for spaces (README of NVIDIA/k8s-device-plugin and of ROCm/k8s-device-plugin). Names: list of
// supported GPUs of NVIDIA/open-gpu-kernel-modules 595 (df1c9a3d), and the labeller's example. A GPU that is divided or shared has a
// suffix, and is not one that a plan knows.
func productLabel(d *device.Profile) (key, value string) {
	name := d.Name
	if d.Base != "" {
		name = d.Base
	}
	if d.Vendor == device.AMD {
		return "amd.com/gpu.product-name", map[string]string{"mi300x": "AMD_Instinct_MI300X_OAM"}[name]
	}
	return "nvidia.com/gpu.product", map[string]string{
		"a10": "NVIDIA-A10", "a10g": "NVIDIA-A10G", "a30": "NVIDIA-A30", "a40": "NVIDIA-A40",
		"a100_pcie": "NVIDIA-A100-80GB-PCIe", "a100_pcie_40gb": "NVIDIA-A100-PCIE-40GB",
		"a100_sxm": "NVIDIA-A100-SXM4-80GB", "a100_sxm_40gb": "NVIDIA-A100-SXM4-40GB",
		"a800_pcie": "NVIDIA-A800-80GB-PCIe", "a800_sxm": "NVIDIA-A800-SXM4-80GB",
		"b200_sxm": "NVIDIA-B200", "b300_sxm": "NVIDIA-B300-SXM6-AC", "gb200": "NVIDIA-GB200", "gb300": "NVIDIA-GB300", "gb10": "NVIDIA-GB10",
		"gh200_96gb": "NVIDIA-GH200-480GB", "gh200_144gb": "NVIDIA-GH200-144G-HBM3e",
		"h100_nvl": "NVIDIA-H100-NVL", "h100_pcie": "NVIDIA-H100-PCIe", "h100_sxm": "NVIDIA-H100-80GB-HBM3",
		"h20": "NVIDIA-H20", "h20_141gb": "NVIDIA-H20-3e", "h200_nvl": "NVIDIA-H200-NVL", "h200_sxm": "NVIDIA-H200",
		"h800_pcie": "NVIDIA-H800-PCIe", "h800_sxm": "NVIDIA-H800", "l4": "NVIDIA-L4", "l40": "NVIDIA-L40", "l40s": "NVIDIA-L40S",
	}[name]
}
