package aiconfigurator

import (
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
)

// Every key, of either generation and at any depth, has one flat name, that of the new
// generation where it has one. Roles are prefixes: "agg_", "prefill_" and "decode_".

// aliases are keys of an experiment that have another flat name.
func aliases() map[string]string {
	return map[string]string{
		"model_name":                       "model_path",
		"enable_wide_ep":                   "enable_wideep",
		"max_prefill_worker":               "max_prefill_workers",
		"max_decode_worker":                "max_decode_workers",
		"prefill_latency_correction_scale": "prefill_latency_correction",
		"decode_latency_correction_scale":  "decode_latency_correction",
	}
}

// sections are the mappings of the old generation's "config", which may also stand in
// the experiment itself.
func sections() []string {
	return []string{"runtime_config", "worker_config", "prefill_worker_config", "decode_worker_config", "replica_config", "advanced_tuning_config"}
}

// oldKeys are the keys that only the old generation has.
func oldKeys() []string {
	return append(sections(), "mode", "config", "profiles", "model_name", "enable_wide_ep", "use_specific_quant_mode", "is_moe")
}

// workloadKeys are the keys of "runtime_config".
func workloadKeys() []string {
	return []string{"isl", "osl", "prefix", "ttft", "tpot", "request_latency"}
}

func replicaKeys() []string {
	return []string{"num_gpu_per_replica", "max_gpu_per_replica", "max_prefill_workers", "max_decode_workers"}
}

func tuningKeys() []string {
	return []string{
		"prefill_max_batch_size", "decode_max_batch_size", "prefill_correction_scale", "decode_correction_scale",
		"prefill_latency_correction", "decode_latency_correction",
	}
}

// sizes are the parallel sizes of a worker: the list in a nested worker section, and the
// middle of the flat name.
func sizes() map[string]string {
	out := map[string]string{"cp_list": "cp"}
	for _, l := range listsOf(&experiment.WorkerSpace{}) {
		out[l.nested] = l.flat
	}
	return out
}

// sizeList is a list of sizes of a worker and its names.
type sizeList struct {
	nested, flat string
	sizes        *[]int
}

// listsOf are the lists of sizes of a worker.
func listsOf(w *experiment.WorkerSpace) []sizeList {
	return []sizeList{
		{"num_gpu_per_worker", "num_gpu", &w.Devices},
		{"tp_list", "tp", &w.TP},
		{"pp_list", "pp", &w.PP},
		{"dp_list", "dp", &w.DP},
		{"moe_tp_list", "moe_tp", &w.MoETP},
		{"moe_ep_list", "moe_ep", &w.EP},
	}
}

// modes are the number formats of a worker.
func modes() []string {
	return []string{"gemm_quant_mode", "moe_quant_mode", "kvcache_quant_mode", "fmha_quant_mode", "comm_quant_mode"}
}

// placeKeys are the keys of a worker's model, engine and system.
func placeKeys() []string {
	return []string{"model_path", "system_name", "backend_name", "backend_version"}
}

// flatKeys are the flat names of an experiment's keys.
func flatKeys() []string {
	keys := slices.Concat(placeKeys(), workloadKeys(), replicaKeys(), tuningKeys(), modes(), []string{
		"serving_mode", "total_gpus", "nextn", "nextn_accepted", "nextn_accept_rates", "enable_wideep",
		"free_gpu_memory_fraction", "max_seq_len", "enable_chunked_prefill",
		"rate_match_prefill_degradation", "rate_match_decode_degradation",
		"quant_preset",
		// not the tool's
		"percentile", "confidence", "engine_settings", "nextn_kept_rates", "agg_max_batch_size", "agg_correction_scale",
	})
	for _, role := range []string{"agg_", "prefill_", "decode_"} {
		for _, size := range sizes() {
			keys = append(keys, role+size+"_candidates")
		}
		if role == "agg_" {
			continue // the others have no prefix
		}
		for _, key := range slices.Concat(modes(), placeKeys(), []string{"enable_wideep"}) {
			keys = append(keys, role+key)
		}
	}
	return slices.Concat(keys, slices.Collect(maps.Keys(idle())), slices.Collect(maps.Keys(refused())))
}

// experimentKeys are all keys of an experiment.
func experimentKeys() []string {
	return slices.Concat(flatKeys(), slices.Collect(maps.Keys(aliases())), oldKeys())
}

// sectionKeys are the keys of a section, each with its flat name.
func sectionKeys(section string) map[string]string {
	out := map[string]string{}
	add := func(keys ...string) {
		for _, k := range keys {
			out[k] = k
		}
	}
	switch section {
	case "runtime_config":
		add(workloadKeys()...)
	case "replica_config":
		add(replicaKeys()...)
		out["max_prefill_worker"], out["max_decode_worker"] = "max_prefill_workers", "max_decode_workers"
	case "advanced_tuning_config":
		add(tuningKeys()...)
		add("rate_match_prefill_degradation", "rate_match_decode_degradation")
		for _, role := range []string{"prefill", "decode"} {
			out[role+"_latency_correction_scale"] = role + "_latency_correction"
		}
	default:
		role, ok := strings.CutSuffix(section, "worker_config")
		if !ok {
			break
		}
		if role == "" {
			role = "agg_"
		}
		for list, size := range sizes() {
			out[list] = role + size + "_candidates"
		}
		for _, key := range slices.Concat(modes(), placeKeys()[1:], []string{"enable_wideep"}) {
			out[key] = role + key
		}
		out["enable_wide_ep"] = role + "enable_wideep"
		out["enable_eplb"] = strings.TrimPrefix(role, "agg_") + "enable_eplb"
	}
	return out
}

// configKeys are the keys of "config", besides sections.
func configKeys() []string {
	return []string{
		"model_name", "model_path", "serving_mode", "is_moe", "nextn", "nextn_accept_rates", "nextn_accepted", "enable_wide_ep", "enable_wideep",
		"enable_eplb", "moe_backend", "attention_backend", "wideep_num_slots",
	}
}

// idle are keys without effect here, with the value that the tool writes into its files by
// default; another value gets a note.
func idle() map[string]string {
	out := map[string]string{
		"database_mode": "SILICON", "transfer_policy": "", "engine_step_backend": "", "forward_model": "op_level",
		"pareto_sweep": "true", "enable_encoder_dp": "true", "num_images_per_request": "1",
		"moe_backend": "", "attention_backend": "", "wideep_num_slots": "", "is_moe": "",
		"prefill_quant_preset": "", "decode_quant_preset": "",
		"rate_match_encoder_degradation": "0.9", "autoscale_ttft_correction_factor": "1.8",
		"encoder_tp_candidates": "", "encoder_batch_candidates": "", "max_encoder_workers": "",
		"encoder_latency_correction": "1.0", "encoder_system_name": "",
		"afd_total_gpus": "", "afd_combined_with_pd": "true", "afd_comm_overhead_factor": "1.0", "afd_boundary_on_attn": "true",
		"afd_total_batch_size": "", "afd_max_a_batch_size": "1024", "afd_n_a_nodes": "", "afd_n_f_nodes": "", "afd_tp_a": "",
		"afd_a_batch_size": "", "afd_tp_a_candidates": "", "afd_microbatch_candidates": "", "afd_pipeline_model_candidates": "",
		"afd_f_moe_ep_size_candidates": "", "afd_max_af_ratio": "4.0", "afd_max_candidates": "10000",
		"afd_candidate_overflow": "error", "afd_prefill_batch_size_list": "", "afd_prefill_max_candidates": "256",
		"afd_prefill_candidate_overflow": "error", "afd_max_prefill_gpus": "", "afd_max_prefill_workers": "",
		"afd_prefill_degradation": "", "afd_decode_degradation": "", "afd_ttft_correction_factor": "",
		"afd_decode_latency_correction": "1.0",
	}
	for _, role := range []string{"", "prefill_", "decode_"} {
		out[role+"enable_eplb"] = "false"
	}
	out["prefill_enable_chunked_prefill"] = "false"
	return out
}

// spoken are keys with an effect in some experiments only, with the value that the tool writes
// into its files by default, which gets no note elsewhere.
func spoken() map[string]string {
	return map[string]string{
		"comm_quant_mode": "half", "agg_comm_quant_mode": "half", "prefill_comm_quant_mode": "half", "decode_comm_quant_mode": "half",
		"prefill_backend_name": defaultBackend, "decode_backend_name": defaultBackend,
		"prefill_enable_wideep": "false", "decode_enable_wideep": "false", "enable_chunked_prefill": "false",
		"prefill_max_batch_size": "1", "decode_max_batch_size": "512",
		"prefill_latency_correction": "1.1", "decode_latency_correction": "1.08",
		"rate_match_prefill_degradation": "0.9", "rate_match_decode_degradation": "0.92",
	}
}

// refused are keys whose effect must not be ignored, with the only accepted value and the
// feature that the others request.
func refused() map[string][2]string {
	return map[string][2]string{
		"image_height": {"0", "images"}, "image_width": {"0", "images"},
		"enable_epd": {"false", "a pool of their own for vision encoders"},
	}
}
