package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// older reports a device of NVIDIA's before Ampere.
func older(d *device.Profile) bool {
	return d.Vendor == device.NVIDIA && slices.Contains([]string{"pascal", "volta", "turing"}, d.Generation)
}

// HalfOnly reports a device whose 16-bit arithmetic is in fp16 alone: engines compute checkpoints in bf16 there in fp16.
func HalfOnly(d *device.Profile) bool {
	return older(d) && d.Matrix[dtype.BF16] == 0
}

// Half is the word of --dtype with which an engine computes in fp16.
const Half = "half"

// AsksForHalf reports a release of an engine that refuses a checkpoint in bf16 on a device without it unless --dtype says half: vLLM did before
// 0.9.1 (PR 18751); since then it computes in fp16 by itself, as SGLang does (model_runner.py: "Use float16 due to lack of bfloat16 support").
func AsksForHalf(server, release string) bool {
	return server == "vllm" && release != "" && version.Compare(release, "0.9.1") < 0
}

// Refuses says why an engine does not run a model on a device that it runs on otherwise, "" if it does. Of vLLM's attention, latent attention of
// prompts is FlashAttention's before Blackwell (v1/attention/backends/mla/prefill/selector.py), which needs compute capability 8.0; and some models
// are unstable in fp16 (config/model.py, _FLOAT16_NOT_SUPPORTED_MODELS), so that it computes them in fp32, whose times are not predicted.
func (p *Profile) Refuses(m *model.Model, d *device.Profile) string {
	if !older(d) || p.Server() != "vllm" {
		return ""
	}
	latent := slices.ContainsFunc(m.Kinds, func(k model.Layer) bool { return k.Attention.Kind == model.MLA })
	unstable := []string{"gemma2", "gemma3", "gemma3_text", "plamo2", "glm4"}
	switch {
	case latent:
		return fmt.Sprintf("vllm does not run %s on %s: its latent attention needs compute capability 8.0 or higher", m.Name(), d.Name)
	case HalfOnly(d) && m.DType != dtype.F16 && slices.Contains(unstable, m.Family):
		return fmt.Sprintf("%s is not stable in fp16 and %s has no bf16: vllm computes it in fp32 there, which is not predicted", m.Name(), d.Name)
	}
	return ""
}

// Aged says what a release of an engine does otherwise on a device than its profile, "" for nothing: vLLM ran its old engine below compute
// capability 8.0 before 0.10.2 (engine/arg_utils.py, _is_v1_supported_oracle; PR 23614).
func Aged(server, release string, d *device.Profile) string {
	if server != "vllm" || !older(d) || release == "" || version.Compare(release, "0.10.2") >= 0 {
		return ""
	}
	return fmt.Sprintf("vllm %s runs its old engine, V0, on %s; it is predicted as V1", release, d.Name)
}
