package device

import (
	"path"
	"strings"
)

// instance is a family of a cloud's machine types whose accelerators are all of
// one kind: a pattern, in lower case, and the device.
type instance struct{ pattern, device string }

// instances are the families, by cloud. Left out are those with a part of a GPU
// (g6f, NV6ads_A10_v5). Sources: the clouds' lists of machine types, August 2026.
//
//nolint:gochecknoglobals // a constant table
var instances = [...]instance{
	// Amazon EC2
	{"g4dn.*", "t4"},
	{"g5.*", "a10g"},
	{"g6.*", "l4"},
	{"gr6.*", "l4"},
	{"g6e.*", "l40s"},
	{"g7e.*", "rtx_pro_6000_server"},
	{"p3.*", "v100_sxm_16gb"},
	{"p3dn.*", "v100_sxm_32gb"},
	{"p4d.*", "a100_sxm_40gb"},
	{"p4de.*", "a100_sxm"},
	{"p5.*", "h100_sxm"},
	{"p5e.*", "h200_sxm"},
	{"p5en.*", "h200_sxm"},
	{"p6-b200.*", "b200_sxm"},
	{"p6-b300.*", "b300_sxm"},
	{"p6e-gb200.*", "gb200"},
	{"inf2.*", "inferentia2"},
	{"trn2.*", "trainium2"},
	{"trn2u.*", "trainium2"},

	// Google Cloud: machine types, and types of TPU slices
	{"a2-highgpu-*", "a100_sxm_40gb"},
	{"a2-megagpu-*", "a100_sxm_40gb"},
	{"a2-ultragpu-*", "a100_sxm"},
	{"a3-highgpu-*", "h100_sxm"},
	{"a3-megagpu-*", "h100_sxm"},
	{"a3-edgegpu-*", "h100_sxm"},
	{"a3-ultragpu-*", "h200_sxm"},
	{"a4-highgpu-*", "b200_sxm"},
	{"a4x-highgpu-*", "gb200"},
	{"g2-standard-*", "l4"},
	{"g4-standard-*", "rtx_pro_6000_server"},
	{"ct5lp-hightpu-*", "tpu_v5e"},
	{"v5litepod-*", "tpu_v5e"},
	{"ct5p-hightpu-*", "tpu_v5p"},
	{"v5p-*", "tpu_v5p"},
	{"ct6e-standard-*", "tpu_v6e"},
	{"v6e-*", "tpu_v6e"},
	{"tpu7x-standard-*", "tpu_v7"},

	// Azure
	{"standard_nc*s_v3", "v100_pcie_16gb"},
	{"standard_nd40rs_v2", "v100_sxm_32gb"},
	{"standard_nc*as_t4_v3", "t4"},
	{"standard_nc*ads_a100_v4", "a100_pcie"},
	{"standard_nd96asr_v4", "a100_sxm_40gb"},
	{"standard_nd96amsr_a100_v4", "a100_sxm"},
	{"standard_nv36ads_a10_v5", "a10"},
	{"standard_nv36adms_a10_v5", "a10"},
	{"standard_nv72ads_a10_v5", "a10"},
	{"standard_nc*_h100_v5", "h100_nvl"},
	{"standard_nd96isr_h100_v5", "h100_sxm"},
	{"standard_nd96isr_h200_v5", "h200_sxm"},
	{"standard_nd96isr_mi300x_v5", "mi300x"},
}

// onInstance returns the device of a cloud's machine type, "" of any other name.
func onInstance(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, i := range instances {
		if ok, err := path.Match(i.pattern, name); ok && err == nil {
			return i.device
		}
	}
	return ""
}

// instancesOf lists the machine types that have a device.
func instancesOf(device string) []string {
	var out []string
	for _, i := range instances {
		if i.device == device {
			out = append(out, i.pattern)
		}
	}
	return out
}
