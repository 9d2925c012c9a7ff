package wizard

import "maps"

// chinese is the text in Chinese.
func chinese() *Text {
	t := &Text{
		Questions: chineseCore(),
		Caution:   "以上数据为预测值，并非实测：可用于规划，正式部署前请用自己的业务流量实测确认。",
	}
	maps.Copy(t.Questions, chineseBranches())
	chineseTalk(t)
	chineseReasons(t)
	chineseResults(t)
	return t
}

// chineseCore are the questions about the core inputs.
func chineseCore() map[ID]Asked {
	return map[ID]Asked{
		Model:      {Title: "模型", Help: "Hugging Face 模型 ID，或含 config.json 的目录；plimsoll models 可列出全部模型"},
		Devices:    {Title: "硬件", Help: "一种硬件规格；多种用空格隔开，逐一对比；plimsoll devices 可列出全部规格"},
		NumDevices: {Title: "总卡数", Help: "各种硬件使用相同的卡数"},
		Input:      {Title: "输入长度", Help: "每个请求的输入 token 数"},
		Output:     {Title: "输出长度", Help: "每个请求的输出 token 数"},
		Mode: {Title: "部署模式", Help: "Prefill 与 Decode 如何使用硬件", Choices: map[string]string{
			Aggregation:    "PD混部 / PD聚合 / 聚合部署：同一实例完成 Prefill 和 Decode",
			Disaggregation: "PD分离：Prefill 与 Decode 分开部署",
			Ratio:          "P/D配比 / 实例配比：匹配 Prefill 与 Decode 的实例数",
			Compare:        "对比所有部署模式和推理引擎",
		}},
		Goal: {Title: "PD分离的目标", Help: "想得到什么结论", Choices: map[string]string{
			EachPhase: "分别评估 Prefill 和 Decode 的能力",
			Ratio:     "给定单实例卡数，计算 P/D 实例配比",
		}},
		Phases: {Title: "评估阶段", Help: "每个阶段按各自的时延约束搜索", Choices: map[string]string{
			PrefillOnly: "仅 Prefill（TTFT 约束）",
			DecodeOnly:  "仅 Decode（TPOT 约束）",
			Both:        "两个阶段分别评估",
		}},
		PrefillDevices: {Title: "单个 Prefill 实例的卡数", Help: "每个 P 实例占用的卡数"},
		DecodeDevices:  {Title: "单个 Decode 实例的卡数", Help: "每个 D 实例占用的卡数"},
		SLO: {Title: "时延目标（SLO）", Help: "服务需要满足的时延约束", Choices: map[string]string{
			TTFTOnly: "首 token 时延（TTFT）",
			TPOTOnly: "每 token 时延（TPOT）",
			Both:     "两者都要",
		}},
		TTFT: {Title: "首 token 时延上限（TTFT）", Help: "单位毫秒；inf 表示不限"},
		TPOT: {Title: "每 token 时延上限（TPOT）", Help: "单位毫秒；inf 表示不限"},
	}
}

// chineseBranches are the other questions.
func chineseBranches() map[ID]Asked {
	yesNo := map[string]string{Yes: "是", No: "否"}
	return map[ID]Asked{
		ImageHeight: {Title: "图片高度", Help: "单位像素；请求不含图片则填 none"},
		ImageWidth:  {Title: "图片宽度", Help: "单位像素"},
		Experts: {Title: "MoE 并行搜索范围", Help: "搜索哪些并行维度", Choices: map[string]string{
			TPOnly:     "仅张量并行（TP）",
			AllExperts: "张量并行（TP）、专家并行（EP）和 MoE-DP",
		}},
		PrefixCache:  {Title: "前缀缓存", Help: "是否开启前缀缓存（多个请求共享提示词前缀）", Choices: yesNo},
		HitRate:      {Title: "前缀缓存命中率", Help: "提示词中命中缓存的比例，0 到 1（不含 1）"},
		PrefixTokens: {Title: "命中缓存的前缀长度", Help: "每个请求命中前缀缓存的 token 数"},
		MTP:          {Title: "MTP", Help: "是否开启多 token 预测（MTP）", Choices: yesNo},
		MTPSupport: {Title: "确认 MTP 支持", Help: "模型配置中没有 MTP 模块，所用权重是否支持 MTP？", Choices: map[string]string{
			Yes: "支持：每个草稿 token 按一层解码层计算", No: "不支持：关闭 MTP",
		}},
		MTPTokens: {Title: "MTP token 数", Help: "每步草稿 token 数"},
		MTPRates:  {Title: "MTP 接受率", Help: "依次为第 1、2……个草稿 token 的接受率，0 到 1"},
		Quantization: {Title: "量化", Help: "权重与 KV 缓存的数值格式", Choices: map[string]string{
			Recommended: "推荐配置：线性层 W8A8_DYNAMIC，注意力 DISABLED",
			Checkpoint:  "与权重文件一致",
			Custom:      "自定义",
		}},
		Linear:    {Title: "线性层量化", Help: "线性层的量化方式"},
		Attention: {Title: "注意力量化", Help: "KV 缓存的量化方式"},
		MXFP4: {Title: "MXFP4 分组", Help: "共用一个缩放因子的元素个数", Choices: map[string]string{
			Keep: "保持 32", Custom: "自定义",
		}},
		MXFP4Group: {Title: "MXFP4 分组大小", Help: "共用一个缩放因子的元素个数"},
		Compile:    {Title: "图编译", Help: "按图编译器的方式融合算子（--compile）", Choices: yesNo},
	}
}

// chineseTalk is the text between questions.
func chineseTalk(t *Text) {
	t.Intro = "先回答几个问题，再给出要执行的命令；确认之前不会执行。"
	t.Legend = "输入答案或选项编号。? = 不确定，< = 返回，修改 = 修改之前的答案，退出 = 退出。"
	t.LegendForm = "? 不确定 · Esc 返回 · Ctrl+G 修改之前的答案 · Ctrl+C 退出"
	t.Unsure = "不确定"
	t.Suggestion = "建议：%s（%s）。回车采用，也可输入自己的值。"
	t.NoSuggestion = "没有建议值：%s"
	t.FirstQuestion = "已经是第一个问题。"
	t.NeedAnswer = "请输入答案；输入 ? 查看建议"
	t.Now = "当前：%s"
	t.NoChoice = "没有选项 %q，可选：%s"
	t.NoChoiceNear = "没有选项 %q，是否指 %s？"
	t.WantCount = "需要正整数，输入为 %q"
	t.WantMs = "需要正数（毫秒），输入为 %q"
	t.WantShare = "需要 0 到 1（不含 1）的数，输入为 %q"
	t.WantShares = "需要 0 到 1 的数，输入为 %q"
	t.NoModel = "没有名为 %q 的模型，也没有相近的名称"
	t.NoModelNear = "没有名为 %q 的模型，相近的有：%s"
	t.NotAnyMore = "该答案已不适用：%s"
	t.BackWord, t.ChangeWord, t.QuitWord = "返回", "修改", "退出"
	t.ChangeTitle = "修改哪一项？"
	t.SaveTitle, t.SaveHelp = "文件名", "plimsoll plan --answers 文件名 只询问其中没有的内容"
	t.WhySaveName = "见名知意"
	t.SavedTo, t.SaveFailed = "已保存到 %s。", "未能保存：%s"
	t.CommandTitle, t.ParametersTitle = "命令", "参数"
	t.ChecksTitle, t.AssumptionsTitle = "检查结果", "假设"
	t.ConfirmTitle, t.NextTitle, t.FixTitle = "是否执行？", "接下来？", "修改%s"
	t.Running, t.NothingRun = "正在执行……", "未执行任何命令"
	t.Actions = map[string]string{
		doRun: "执行", doChange: "修改答案", doSave: "保存答案", doQuit: "退出", doReport: "显示完整结果表", doDone: "完成",
	}
}

// chineseReasons are the sources of values and the reasons for suggestions.
func chineseReasons(t *Text) {
	t.Origins = [...]string{
		Typed: "用户输入", Flag: "命令行", Saved: "已保存的答案 %s",
		Default: "命令行默认值，%s", Example: "文档示例，%s", Heuristic: "经验值：%s",
	}
	t.WhyDomain = "单机高速互联共 %d 卡（%s）"
	t.WhyAggregation = "最简单的部署方式，也是对比其他方式的基准"
	t.WhyPhases = "先小范围评估；配比需要先确定单实例卡数"
	t.WhyBothPhases = "完整服务需要两个阶段"
	t.WhyBothLimits = "TTFT 决定首字等待时间，TPOT 决定输出速度"
	t.WhyHalf = "先按两个阶段各占一半卡数估算"
	t.WhyFullHD = "一张 1920 x 1080 的全高清图片"
	t.WhyNarrow = "先小范围搜索；不够时再加入 EP 和 MoE-DP"
	t.WhyOff = "默认关闭"
	t.AdviseHitRate = "只取决于实际流量，推理引擎的监控指标中有命中率"
	t.AdviseSupport = "%s 的配置中没有 MTP 模块，请查看所用权重的说明"
	t.WhyModules = "每个 MTP 模块预测一个 token，该模型有 %d 个"
	t.WhyOneToken = "越靠后的草稿 token 接受率越低"
	t.WhyRecommended = "昇腾硬件推荐从 W8A8_DYNAMIC 和 DISABLED 开始"
	t.WhyCompile = "推理引擎通常运行编译后的图"
}

// chineseResults are checks, results and failures.
func chineseResults(t *Text) {
	t.Accepted = "参数检查通过"
	t.Problem = "问题：%s"
	t.SharedCount = "对比 %d 种硬件，各 %d 卡；每种硬件都能互联这么多卡"
	t.BothPhases = "给定两个时延约束：Prefill 与 Decode 分别搜索"
	t.TooFew = "%d 卡不足以各放一个 Prefill 和 Decode 实例（需要 %d 卡），不计算实例数"
	t.HasMTP = "MTP：该模型有 %d 个 MTP 模块"
	t.NoMTP = "MTP：模型配置中没有 MTP 模块，每个草稿 token 按一层解码层计算"
	t.Chunks = "%d token 的输入按每块 %d token 分块计算"
	t.AssumedValue = "%s：%s（%s）"
	t.FixedLengths = "所有请求的输入、输出长度都相同"
	t.TextOnly = "请求不含图片"
	t.NoMTPUsed = "MTP 保持关闭：所用权重不支持"
	t.ComparesEngines = "对硬件支持的每种推理引擎和部署模式进行仿真"
	t.Executed, t.Best, t.Mode, t.Parallel = "执行的命令", "最优结果", "部署模式", "并行策略"
	t.Batch, t.Concurrency, t.Throughput = "批大小", "并发", "吞吐"
	t.TTFT, t.TPOT, t.Tokens = "首 token 时延 TTFT", "每 token 时延 TPOT", "token/s"
	t.Aggregated, t.Prefill, t.Decode, t.Matched = "PD混部", "Prefill", "Decode", "P/D 配比"
	t.Across, t.Top = "硬件对比", "候选方案"
	t.Row, t.NoRow = "%d. %s：%s，批大小 %d，并发 %d", "%s：没有满足约束的方案"
	t.RatioTitle = "P:D 配比详情"
	t.RatioLine = "每个 Decode 实例配 %.2f 个 Prefill 实例，各一个实例时 %.2f 请求/s"
	t.PhaseLine = "%s：%s，批大小 %d，并发 %d，%.2f 请求/s"
	t.Instances = "%d 个 Prefill 实例和 %d 个 Decode 实例，共 %d 卡：%.2f 请求/s"
	t.Failed, t.Kind, t.Important, t.Correction = "执行失败", "类别", "关键信息", "修正建议"
	t.Invalid, t.Environment = "参数无效", "运行环境"
	t.Assumption, t.Infeasible = "模型或硬件不匹配", "没有可行方案"
	t.FixInvalid = "修改“%s”后重试"
	t.FixEnvironment = "检查文件或目录是否存在且可读"
	t.FixAssumption = "换用与其余参数匹配的模型、硬件或数值格式"
	t.FixLimit = "把约束放宽到至少 %s"
	t.FixMemory = "增加卡数，或使用更低位宽的格式"
	t.FixSizes = "搜索其他并行规模，或修改卡数"
}
