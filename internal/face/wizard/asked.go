package wizard

import (
	"maps"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

// sayer chooses the text of a language.
type sayer func(english, chinese string) string

// Say returns the text of a language.
func (l Lang) Say() *Text {
	say := func(english, chinese string) string {
		if l == Chinese {
			return chinese
		}
		return english
	}
	t := &Text{Questions: coreText(say)}
	t.Caution = say(document.Caution, "以上数据为预测值，并非实测：可用于规划，正式部署前请用自己的业务流量实测确认。")
	maps.Copy(t.Questions, branchText(say))
	t.talk(say)
	t.reasons(say)
	t.checks(say)
	t.results(say)
	t.failures(say)
	return t
}

// coreText are the questions about the core inputs.
func coreText(say sayer) map[ID]Asked {
	return map[ID]Asked{
		Model:      {Title: say("Model", "模型"), Help: say("Hugging Face id, or a directory with a config.json; \"plimsoll models\" lists the catalog", "Hugging Face 模型 ID，或含 config.json 的目录；plimsoll models 可列出全部模型")},
		Devices:    {Title: say("Devices", "硬件"), Help: say("one profile, or several to compare, separated by spaces; \"plimsoll devices\" lists them", "一种硬件规格；多种用空格隔开，逐一对比；plimsoll devices 可列出全部规格")},
		NumDevices: {Title: say("Number of devices", "总卡数"), Help: say("total; the same for every profile", "各种硬件使用相同的卡数")},
		Input:      {Title: say("Input length", "输入长度"), Help: say("tokens per prompt", "每个请求的输入 token 数")},
		Output:     {Title: say("Output length", "输出长度"), Help: say("output tokens per request", "每个请求的输出 token 数")},
		Mode: {Title: say("Deployment mode", "部署模式"), Help: say("how prefill and decode share the devices", "Prefill 与 Decode 如何使用硬件"), Choices: map[string]string{
			Aggregation:    say("Aggregated: prefill and decode in one instance (PD混部 / PD聚合 / 聚合部署)", "PD混部 / PD聚合 / 聚合部署：同一实例完成 Prefill 和 Decode"),
			Disaggregation: say("Disaggregated: prefill and decode on separate instances (PD分离)", "PD分离：Prefill 与 Decode 分开部署"),
			Ratio:          say("P:D ratio: match prefill and decode instances (P/D配比 / 实例配比)", "P/D配比 / 实例配比：匹配 Prefill 与 Decode 的实例数"),
			Compare:        say("Compare all modes and engines", "对比所有部署模式和推理引擎"),
		}},
		Goal: {Title: say("Goal", "PD分离的目标"), Help: say("what to find out about disaggregated serving", "想得到什么结论"), Choices: map[string]string{
			EachPhase: say("The capacity of each phase", "分别评估 Prefill 和 Decode 的能力"),
			Ratio:     say("The ratio of prefill to decode instances", "给定单实例卡数，计算 P/D 实例配比"),
		}},
		Phases: {Title: say("Phases", "评估阶段"), Help: say("each phase is searched within its own limit", "每个阶段按各自的时延约束搜索"), Choices: map[string]string{
			PrefillOnly: say("Prefill only (TTFT limit)", "仅 Prefill（TTFT 约束）"),
			DecodeOnly:  say("Decode only (TPOT limit)", "仅 Decode（TPOT 约束）"),
			Both:        say("Both, one after the other", "两个阶段分别评估"),
		}},
		PrefillDevices: {Title: say("Devices per prefill instance", "单个 Prefill 实例的卡数"), Help: say("devices of each prefill instance", "每个 P 实例占用的卡数")},
		DecodeDevices:  {Title: say("Devices per decode instance", "单个 Decode 实例的卡数"), Help: say("devices of each decode instance", "每个 D 实例占用的卡数")},
		SLO: {Title: say("Latency target", "时延目标（SLO）"), Help: say("latency limits of the service", "服务需要满足的时延约束"), Choices: map[string]string{
			TTFTOnly: say("TTFT: time to the first token", "首 token 时延（TTFT）"),
			TPOTOnly: say("TPOT: time per output token", "每 token 时延（TPOT）"),
			Both:     say("Both", "两者都要"),
		}},
		TTFT: {Title: say("TTFT limit", "首 token 时延上限（TTFT）"), Help: say("in milliseconds; inf for none", "单位毫秒；inf 表示不限")},
		TPOT: {Title: say("TPOT limit", "每 token 时延上限（TPOT）"), Help: say("in milliseconds; inf for none", "单位毫秒；inf 表示不限")},
	}
}

// branchText are the other questions.
func branchText(say sayer) map[ID]Asked {
	yesNo := map[string]string{Yes: say("Yes", "是"), No: say("No", "否")}
	return map[ID]Asked{
		ImageHeight: {Title: say("Image height", "图片高度"), Help: say("in pixels; none for requests without images", "单位像素；请求不含图片则填 none")},
		ImageWidth:  {Title: say("Image width", "图片宽度"), Help: say("in pixels", "单位像素")},
		Experts: {Title: say("Expert layouts", "MoE 并行搜索范围"), Help: say("sizes to search", "搜索哪些并行维度"), Choices: map[string]string{
			TPOnly:     say("TP only", "仅张量并行（TP）"),
			AllExperts: say("TP, EP and MoE-DP", "张量并行（TP）、专家并行（EP）和 MoE-DP"),
		}},
		PrefixCache:  {Title: say("Prefix cache", "前缀缓存"), Help: say("do requests share a prompt prefix?", "是否开启前缀缓存（多个请求共享提示词前缀）"), Choices: yesNo},
		HitRate:      {Title: say("Prefix cache hit rate", "前缀缓存命中率"), Help: say("share of a prompt found in the cache, from 0 to below 1", "提示词中命中缓存的比例，0 到 1（不含 1）")},
		PrefixTokens: {Title: say("Cached prefix", "命中缓存的前缀长度"), Help: say("tokens of a prompt found in the cache", "每个请求命中前缀缓存的 token 数")},
		MTP:          {Title: "MTP", Help: say("use speculative decoding with the model's MTP modules?", "是否开启多 token 预测（MTP）"), Choices: yesNo},
		MTPSupport: {Title: say("MTP support", "确认 MTP 支持"), Help: say("the model's config has no MTP modules; does your checkpoint have them?", "模型配置中没有 MTP 模块，所用权重是否支持 MTP？"), Choices: map[string]string{
			Yes: say("Yes: add a decoder layer per draft token", "支持：每个草稿 token 按一层解码层计算"), No: say("No: turn MTP off", "不支持：关闭 MTP"),
		}},
		MTPTokens: {Title: say("MTP tokens", "MTP token 数"), Help: say("draft tokens per step", "每步草稿 token 数")},
		MTPRates:  {Title: say("MTP acceptance rates", "MTP 接受率"), Help: say("acceptance rate of each draft token in order, from 0 to 1", "依次为第 1、2……个草稿 token 的接受率，0 到 1")},
		Quantization: {Title: say("Quantization", "量化"), Help: say("number formats of weights and KV cache", "权重与 KV 缓存的数值格式"), Choices: map[string]string{
			Recommended: say("Recommended: W8A8_DYNAMIC for linear layers, attention DISABLED", "推荐配置：线性层 W8A8_DYNAMIC，注意力 DISABLED"),
			Checkpoint:  say("The checkpoint's own format", "与权重文件一致"),
			Custom:      say("Custom", "自定义"),
		}},
		Linear:    {Title: say("Linear layers", "线性层量化"), Help: say("quantization of linear layers", "线性层的量化方式")},
		Attention: {Title: say("Attention", "注意力量化"), Help: say("quantization of the KV cache", "KV 缓存的量化方式")},
		MXFP4: {Title: say("MXFP4 group size", "MXFP4 分组"), Help: say("elements that share a scale", "共用一个缩放因子的元素个数"), Choices: map[string]string{
			Keep: say("Keep 32", "保持 32"), Custom: say("Custom", "自定义"),
		}},
		MXFP4Group: {Title: say("MXFP4 group", "MXFP4 分组大小"), Help: say("elements that share a scale", "共用一个缩放因子的元素个数")},
		Compile:    {Title: say("Compiled graphs", "图编译"), Help: say("fuse operators as a graph compiler does (--compile)", "按图编译器的方式融合算子（--compile）"), Choices: yesNo},
	}
}
