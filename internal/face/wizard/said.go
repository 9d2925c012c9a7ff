package wizard

// talk is the text between questions.
func (t *Text) talk(say sayer) {
	t.Intro = say("A few questions, then the command to run. Nothing runs before you confirm.", "先回答几个问题，再给出要执行的命令；确认之前不会执行。")
	t.Legend = say("Type an answer or its number. ? = not sure, < = back, change = change an earlier answer, quit = quit.", "输入答案或选项编号。? = 不确定，< = 返回，修改 = 修改之前的答案，退出 = 退出。")
	t.LegendForm = say("? not sure · Esc back · Ctrl+G change an earlier answer · Ctrl+C quit", "? 不确定 · Esc 返回 · Ctrl+G 修改之前的答案 · Ctrl+C 退出")
	t.Unsure = say("I am not sure", "不确定")
	t.Suggestion = say("Suggestion: %s (%s). Press Enter to accept it, or type your own.", "建议：%s（%s）。回车采用，也可输入自己的值。")
	t.NoSuggestion = say("No suggestion: %s", "没有建议值：%s")
	t.FirstQuestion = say("This is the first question.", "已经是第一个问题。")
	t.NeedAnswer = say("an answer is required; type ? for a suggestion", "请输入答案；输入 ? 查看建议")
	t.Now = say("current: %s", "当前：%s")
	t.NoChoice = say("invalid choice %q; choose one of: %s", "没有选项 %q，可选：%s")
	t.NoChoiceNear = say("invalid choice %q; did you mean %s?", "没有选项 %q，是否指 %s？")
	t.WantCount = say("want a positive whole number, got %q", "需要正整数，输入为 %q")
	t.WantMs = say("want a positive number of milliseconds, got %q", "需要正数（毫秒），输入为 %q")
	t.WantShare = say("want a number from 0 to below 1, got %q", "需要 0 到 1（不含 1）的数，输入为 %q")
	t.WantShares = say("want numbers from 0 to 1, got %q", "需要 0 到 1 的数，输入为 %q")
	t.NoModel = say("unknown model %q, and no similar name", "没有名为 %q 的模型，也没有相近的名称")
	t.NoModelNear = say("unknown model %q; nearest: %s", "没有名为 %q 的模型，相近的有：%s")
	t.NotAnyMore = say("This answer is no longer valid: %s", "该答案已不适用：%s")
	t.BackWord = say("back", "返回")
	t.ChangeWord = say("change", "修改")
	t.QuitWord = say("quit", "退出")
	t.ChangeTitle = say("Which answer?", "修改哪一项？")
	t.SaveTitle = say("File", "文件名")
	t.SaveHelp = say("plimsoll plan --answers FILE asks only for missing answers", "plimsoll plan --answers 文件名 只询问其中没有的内容")
	t.WhySaveName = say("a descriptive name", "见名知意")
	t.SavedTo = say("Saved to %s.", "已保存到 %s。")
	t.SaveFailed = say("Not saved: %s", "未能保存：%s")
	t.CommandTitle = say("Command", "命令")
	t.ParametersTitle = say("Parameters", "参数")
	t.ChecksTitle = say("Checks", "检查结果")
	t.AssumptionsTitle = say("Assumptions", "假设")
	t.ConfirmTitle = say("Run it?", "是否执行？")
	t.NextTitle = say("What next?", "接下来？")
	t.FixTitle = say("Change %s", "修改%s")
	t.Running = say("Running …", "正在执行……")
	t.NothingRun = say("no command was run", "未执行任何命令")
	t.Actions = map[string]string{
		doRun:    say("Run", "执行"),
		doChange: say("Change an answer", "修改答案"),
		doSave:   say("Save the answers", "保存答案"),
		doQuit:   say("Quit", "退出"),
		doReport: say("Show the full tables", "显示完整结果表"),
		doDone:   say("Done", "完成"),
	}
}

// reasons are the sources of values and the reasons for suggestions.
func (t *Text) reasons(say sayer) {
	t.Origins = [...]string{
		Typed:     say("your answer", "用户输入"),
		Flag:      say("command line", "命令行"),
		Saved:     say("saved answers, %s", "已保存的答案 %s"),
		Default:   say("CLI default, %s", "命令行默认值，%s"),
		Example:   say("documented example, %s", "文档示例，%s"),
		Heuristic: say("heuristic: %s", "经验值：%s"),
	}
	t.WhyDomain = say("the fastest links of a node connect %d devices (%s)", "单机高速互联共 %d 卡（%s）")
	t.WhyAggregation = say("the simplest deployment, and the baseline for others", "最简单的部署方式，也是对比其他方式的基准")
	t.WhyPhases = say("a quick first run; the ratio needs the instance sizes", "先小范围评估；配比需要先确定单实例卡数")
	t.WhyBothPhases = say("a service needs both", "完整服务需要两个阶段")
	t.WhyBothLimits = say("TTFT is the wait for the first token, TPOT the speed of the output", "TTFT 决定首字等待时间，TPOT 决定输出速度")
	t.WhyHalf = say("half of the devices for each phase, as a start", "先按两个阶段各占一半卡数估算")
	t.WhyFullHD = say("a full-HD image of 1920 x 1080 pixels", "一张 1920 x 1080 的全高清图片")
	t.WhyNarrow = say("a quick first run; add EP and MoE-DP if the result is not good enough", "先小范围搜索；不够时再加入 EP 和 MoE-DP")
	t.WhyOff = say("off by default", "默认关闭")
	t.AdviseHitRate = say("depends on your traffic; engines report it in their metrics", "只取决于实际流量，推理引擎的监控指标中有命中率")
	t.AdviseSupport = say("the config of %s lists no MTP modules; see the model card of your checkpoint", "%s 的配置中没有 MTP 模块，请查看所用权重的说明")
	t.WhyModules = say("one per MTP module; the model has %d", "每个 MTP 模块预测一个 token，该模型有 %d 个")
	t.WhyOneToken = say("later draft tokens are accepted less often", "越靠后的草稿 token 接受率越低")
	t.WhyRecommended = say("W8A8_DYNAMIC and DISABLED are recommended on Ascend devices", "昇腾硬件推荐从 W8A8_DYNAMIC 和 DISABLED 开始")
	t.WhyCompile = say("engines run compiled graphs", "推理引擎通常运行编译后的图")
}

// checks are the results of checks, and assumptions.
func (t *Text) checks(say sayer) {
	t.Accepted = say("these parameters are valid", "参数检查通过")
	t.Problem = say("problem: %s", "问题：%s")
	t.SharedCount = say("compares %d profiles with %d devices each; each can connect that many", "对比 %d 种硬件，各 %d 卡；每种硬件都能互联这么多卡")
	t.BothPhases = say("two limits: prefill and decode are searched separately", "给定两个时延约束：Prefill 与 Decode 分别搜索")
	t.TooFew = say("%d devices are too few for one prefill and one decode instance (%d): no instance counts", "%d 卡不足以各放一个 Prefill 和 Decode 实例（需要 %d 卡），不计算实例数")
	t.HasMTP = say("MTP: the model has %d MTP modules", "MTP：该模型有 %d 个 MTP 模块")
	t.NoMTP = say("MTP: the model's config has no MTP modules; each draft token adds a decoder layer", "MTP：模型配置中没有 MTP 模块，每个草稿 token 按一层解码层计算")
	t.Chunks = say("prompts of %d tokens are computed in chunks of %d", "%d token 的输入按每块 %d token 分块计算")
	t.AssumedValue = say("%s: %s (%s)", "%s：%s（%s）")
	t.FixedLengths = say("every request has exactly these lengths", "所有请求的输入、输出长度都相同")
	t.TextOnly = say("requests have no images", "请求不含图片")
	t.NoMTPUsed = say("MTP is off: the checkpoint has no MTP modules", "MTP 保持关闭：所用权重不支持")
	t.ComparesEngines = say("simulates every engine and mode that runs on the devices", "对硬件支持的每种推理引擎和部署模式进行仿真")
}

// results are the words of a summary.
func (t *Text) results(say sayer) {
	t.Executed = say("Executed", "执行的命令")
	t.Best = say("Best result", "最优结果")
	t.Mode = say("mode", "部署模式")
	t.Parallel = say("parallel strategy", "并行策略")
	t.Batch = say("batch size", "批大小")
	t.Concurrency = say("concurrency", "并发")
	t.Throughput = say("throughput", "吞吐")
	t.TTFT = say("TTFT", "首 token 时延 TTFT")
	t.TPOT = say("TPOT", "每 token 时延 TPOT")
	t.Tokens = say("tokens/s", "token/s")
	t.Aggregated = say("aggregated", "PD混部")
	t.Prefill = say("prefill", "Prefill")
	t.Decode = say("decode", "Decode")
	t.Matched = say("P:D ratio", "P/D 配比")
	t.Across = say("Across hardware", "硬件对比")
	t.Top = say("Top candidates", "候选方案")
	t.Row = say("%d. %s: %s, batch %d, concurrency %d", "%d. %s：%s，批大小 %d，并发 %d")
	t.NoRow = say("%s: no configuration meets the limits", "%s：没有满足约束的方案")
	t.RatioTitle = say("P:D details", "P:D 配比详情")
	t.RatioLine = say("%.2f prefill instances per decode instance, %.2f requests/s with one of each", "每个 Decode 实例配 %.2f 个 Prefill 实例，各一个实例时 %.2f 请求/s")
	t.PhaseLine = say("%s: %s, batch %d, concurrency %d, %.2f requests/s", "%s：%s，批大小 %d，并发 %d，%.2f 请求/s")
	t.Instances = say("%d prefill and %d decode instances on %d devices: %.2f requests/s", "%d 个 Prefill 实例和 %d 个 Decode 实例，共 %d 卡：%.2f 请求/s")
}

// failures are kinds of failures and their corrections.
func (t *Text) failures(say sayer) {
	t.Failed = say("Failed", "执行失败")
	t.Kind = say("kind", "类别")
	t.Important = say("message", "关键信息")
	t.Correction = say("correction", "修正建议")
	t.Invalid = say("invalid parameters", "参数无效")
	t.Environment = say("environment", "运行环境")
	t.Assumption = say("incompatible model or device", "模型或硬件不匹配")
	t.Infeasible = say("no feasible configuration", "没有可行方案")
	t.FixInvalid = say("change %s and run again", "修改“%s”后重试")
	t.FixEnvironment = say("check that the file or directory exists and can be read", "检查文件或目录是否存在且可读")
	t.FixAssumption = say("choose a compatible model, device or format", "换用与其余参数匹配的模型、硬件或数值格式")
	t.FixLimit = say("raise the limit to at least %s", "把约束放宽到至少 %s")
	t.FixMemory = say("use more devices or lower precision", "增加卡数，或使用更低位宽的格式")
	t.FixSizes = say("search other sizes, or change the number of devices", "搜索其他并行规模，或修改卡数")
}
