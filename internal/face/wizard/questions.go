package wizard

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Questions are all questions in their order: the core inputs, then the branches.
func Questions() []Question {
	return slices.Concat(core(), shapes(), quantization())
}

// choices is a fixed list.
func choices(words ...string) func(*Known) []string {
	return func(*Known) []string { return words }
}

// core are the questions that every plan needs.
func core() []Question {
	return []Question{
		{ID: Model, Kind: Name, Suggest: example("Qwen/Qwen3-32B", optimizer)},
		{ID: Devices, Field: "device", Kind: Names, Suggest: example("h200_sxm", optimizer)},
		{ID: NumDevices, Field: "num_devices", Kind: Size, Suggest: suggestCount},
		{ID: Input, Field: "input_length", Kind: Tokens, Suggest: example("3500", optimizer)},
		{
			ID: Output, Field: "output_length", Kind: Count, Suggest: example("1500", optimizer),
			When: func(k *Known) bool { return k.Answers.preset() == nil },
		},
		{
			ID: Mode, Choices: choices(Aggregation, Disaggregation, Ratio, Compare), Suggest: suggestMode,
			When: func(k *Known) bool { return k.Answers.load() == nil && k.Answers.preset() == nil && k.Base == nil },
			Also: map[string]string{
				"pd混部": Aggregation, "pd聚合": Aggregation, "聚合部署": Aggregation, "aggregated": Aggregation, "agg": Aggregation,
				"pd分离": Disaggregation, "disaggregated": Disaggregation, "disagg": Disaggregation,
				"pd ratio": Ratio, "p/d配比": Ratio, "pd配比": Ratio, "实例配比": Ratio, "all": Compare,
			},
		},
		{
			ID: Goal, Choices: choices(EachPhase, Ratio), Suggest: suggestGoal,
			When: func(k *Known) bool { return k.Answers.is(Mode, Disaggregation) },
		},
		{
			ID: Phases, Choices: choices(PrefillOnly, DecodeOnly, Both), Suggest: suggestPhases,
			When: func(k *Known) bool { return k.Answers.isPhases() },
		},
		{
			ID: PrefillDevices, Field: "prefill_devices_per_instance", Kind: Count, Suggest: suggestInstance,
			When: func(k *Known) bool { return k.Answers.isRatio() },
		},
		{
			ID: DecodeDevices, Field: "decode_devices_per_instance", Kind: Count, Suggest: suggestInstance,
			When: func(k *Known) bool { return k.Answers.isRatio() },
		},
		{
			ID: SLO, Choices: choices(TTFTOnly, TPOTOnly, Both), Suggest: suggestSLO,
			When: func(k *Known) bool { return !k.Answers.isPhases() },
		},
		{
			ID: TTFT, Field: "ttft_limit", Kind: Ms, Suggest: example("1000", "cli recommend"),
			When: func(k *Known) bool { ttft, _ := k.Answers.limits(); return ttft },
		},
		{
			ID: TPOT, Field: "tpot_limit", Kind: Ms, Suggest: example("50", optimizer),
			When: func(k *Known) bool { _, tpot := k.Answers.limits(); return tpot },
		},
	}
}

// optimizes reports whether the answers are for throughput-optimizer.
func optimizes(k *Known) bool { return !k.compares() }

// multimodal reports whether requests may have images.
func multimodal(k *Known) bool {
	m := k.Model()
	return m != nil && m.Vision != nil && optimizes(k)
}

// drafts reports whether MTP is on, also for a model whose config has no modules.
func drafts(k *Known) bool {
	return k.Answers.is(MTP, Yes) && (hasMTP(k) || k.Answers[MTP].Source.brought() && k.Answers.is(MTPSupport, Yes))
}

// hasMTP reports whether the model has modules that draft tokens.
func hasMTP(k *Known) bool {
	m := k.Model()
	return m != nil && m.MTP.Layers > 0
}

// runs are the actions whose products a device of the answers has arithmetic for.
func runs(k *Known, actions []string) []string {
	if k == nil || len(k.Profiles()) == 0 {
		return actions
	}
	return slices.DeleteFunc(actions, func(a string) bool {
		r := k.checked()
		r.Formats = deployment.Formats{Linear: dtype.Action(a), Attention: dtype.Disabled}
		_, err := optimize.Check(k.World, r)
		return slices.ContainsFunc(field.Each(err), func(err error) bool { return slices.Contains(field.Names(err), "quantize_linear_action") })
	})
}

// words are the names of actions without AUTO, which is a choice of its own.
func words(actions []dtype.Action) []string {
	var out []string
	for _, a := range actions {
		if a != dtype.Auto {
			out = append(out, string(a))
		}
	}
	return out
}

// shapes are about images, experts, the prefix cache and draft tokens.
func shapes() []Question {
	return []Question{
		{ID: ImageHeight, Field: "image_height", Kind: Pixels, When: multimodal, Suggest: suggestHeight},
		{
			ID: ImageWidth, Field: "image_width", Kind: Count, Suggest: suggestWidth,
			When: func(k *Known) bool { return multimodal(k) && !k.Answers.is(ImageHeight, NoImages) },
		},
		{
			ID: Experts, Choices: choices(TPOnly, AllExperts), Suggest: suggestExperts,
			When: func(k *Known) bool { m := k.Model(); return m != nil && m.HasExperts() && optimizes(k) },
		},
		{
			ID: PrefixCache, Choices: choices(No, Yes), Suggest: suggestOff,
			When: func(k *Known) bool { return k.Answers.preset() == nil }, // it has its own
		},
		{
			ID: HitRate, Field: "prefix_cache_hit_rate", Kind: Share, Suggest: adviseHitRate,
			When: func(k *Known) bool { return k.Answers.is(PrefixCache, Yes) && optimizes(k) },
		},
		{
			ID: PrefixTokens, Kind: Count, Suggest: adviseHitRate,
			When: func(k *Known) bool { return k.Answers.is(PrefixCache, Yes) && !optimizes(k) },
		},
		{
			ID: MTP, Choices: choices(No, Yes), Suggest: suggestOff,
			When: func(k *Known) bool { return hasMTP(k) || k.Answers[MTP].Source.brought() },
		},
		{
			ID: MTPSupport, Choices: choices(Yes, No), Suggest: adviseSupport,
			When: func(k *Known) bool { return k.Answers.is(MTP, Yes) && k.Answers[MTP].Source.brought() && !hasMTP(k) },
		},
		{ID: MTPTokens, Field: "num_mtp_tokens", Kind: Count, When: drafts, Suggest: suggestTokens},
		{
			ID: MTPRates, Field: "mtp_acceptance_rates", Kind: Shares, When: drafts,
			Suggest: suggestRates,
		},
	}
}

// quantization are about number formats, and how steps are run.
func quantization() []Question {
	custom := func(k *Known) bool { return k.Answers.is(Quantization, Custom) }
	mxfp4 := func(k *Known) bool { return custom(k) && k.Answers.is(Linear, string(dtype.MXFP4Action)) }
	return []Question{
		{
			ID: Quantization, Suggest: suggestQuantization,
			Choices: func(k *Known) []string {
				if k != nil && !k.ascend() { // the guide's recommendation is for its devices
					return []string{Checkpoint, Custom}
				}
				return []string{Recommended, Checkpoint, Custom}
			},
			When: func(k *Known) bool { return k.Base == nil || k.Base.Formats == (deployment.Formats{}) },
		},
		{
			ID: Linear, Field: "quantize_linear_action", When: custom, Suggest: suggestLinear,
			Choices: func(k *Known) []string { return runs(k, words(dtype.LinearActions())) },
		},
		{
			ID: Attention, Field: "quantize_attention_action", When: custom, Suggest: suggestAttention,
			Choices: choices(words(dtype.AttentionActions())...),
		},
		{ID: MXFP4, Choices: choices(Keep, Custom), When: mxfp4, Suggest: suggestKeep},
		{
			ID: MXFP4Group, Field: "mxfp4_group_size", Kind: Count, Suggest: suggestGroup,
			When: func(k *Known) bool { return mxfp4(k) && k.Answers.is(MXFP4, Custom) },
		},
		{ID: Compile, Quiet: true, Choices: choices(Yes, No), Suggest: suggestCompile, When: optimizes},
	}
}
