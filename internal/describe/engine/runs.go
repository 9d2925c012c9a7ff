package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// support is the releases of an engine that run on a generation of devices, and what later ones lack.
type support struct {
	engine string
	until  string // the first release that does not, "" is none
	lacks  string
}

// generations are those on which fewer engines run than on others of their vendor, or older releases alone. TensorRT-LLM's list of supported
// hardware begins with Ampere. SGLang refuses what is older than Turing (load_model: "SGLang only supports sm75 and above"), and sgl-kernel
// 0.3.6 has no kernels for that either (its CMakeLists.txt, PR 9207): images have 0.3.7 since 0.5.1.post3 (pyproject.toml). vLLM's guide to
// its installation asks for compute capability 7.0, and since 0.20, whose images have CUDA 13, for 7.5 (docker/Dockerfile, torch_cuda_arch_list).
// The list of SGLang has Intel's XPUs but not Gaudi.
func generations() map[string][]support {
	return map[string][]support{
		"pascal": {},
		"volta":  {{"vllm", "0.20.0", "its images have no kernels for compute capability 7.0"}},
		"turing": {{"vllm", "", ""}, {"sglang", "0.5.1.post3", "its kernels need compute capability 8.0"}},
		"gaudi2": {{"vllm", "", ""}}, "gaudi3": {{"vllm", "", ""}},
	}
}

// supports are the engines that run on a device, in some release.
func supports(d *device.Profile) []support {
	if few, ok := generations()[d.Generation]; ok {
		return few
	}
	var out []support
	for _, name := range ofVendor(d.Vendor) {
		out = append(out, support{engine: name})
	}
	return out
}

// in reports whether a release ("" is the newest) is one of those.
func (s *support) in(release string) bool {
	return s.until == "" || release != "" && version.Compare(release, s.until) < 0
}

// word names the engine, and the newest release that runs there where there is a newer one: "vllm@0.19.1".
func (s *support) word() string {
	if s.until == "" {
		return s.engine
	}
	return s.engine + "@" + s.last()
}

// last is the newest release that runs there.
func (s *support) last() string {
	out := ""
	for _, r := range Releases(s.engine) {
		if s.in(r.Version) && !strings.Contains(r.Version, "rc") {
			out = r.Version
		}
	}
	return out
}

// RunsOn lists the engines that plans compare on a device: those whose newest release runs there, or the newest releases that do,
// "vllm@0.19.1".
func RunsOn(d *device.Profile) []string {
	var newest, older []string
	for _, s := range supports(d) {
		if older = append(older, s.word()); s.until == "" {
			newest = append(newest, s.engine)
		}
	}
	if newest == nil {
		return older
	}
	return newest
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

// Ever reports whether some release of an engine runs on a device.
func Ever(name string, d *device.Profile) bool {
	return slices.ContainsFunc(supports(d), func(s support) bool { return s.engine == name })
}

// Foreign says that a release of an engine ("" is the newest) does not run on a device, and what does; "" if it does, or if there is no
// such engine. The generic engine runs anywhere.
func Foreign(name, release string, d *device.Profile) string {
	runs := supports(d)
	i := slices.IndexFunc(runs, func(s support) bool { return s.engine == name })
	switch {
	case name == "generic", !slices.Contains(Names(), name), i >= 0 && runs[i].in(release), strings.HasPrefix(name, "atom") && d.Vendor == device.AMD:
		return ""
	case d.Vendor == device.Apple:
		return fmt.Sprintf("%s does not run on %s: Apple's GPUs run llama.cpp and MLX, which have no profile here; the engine generic gives an estimate", name, d.Name)
	case i >= 0:
		s := &runs[i]
		return fmt.Sprintf("%s does not run on %s since %s: %s; the newest release that does is %s", name, d.Name, s.until, s.lacks, s.last())
	case len(runs) == 0:
		return fmt.Sprintf("%s does not run on %s, nor does another engine with a profile; the engine generic gives an estimate", name, d.Name)
	}
	var words []string
	for _, s := range runs {
		words = append(words, s.word())
	}
	return fmt.Sprintf("%s does not run on %s; engines that do: %s", name, d.Name, strings.Join(words, ", "))
}
