package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts offers the dialogue that leads to a plan.
func addPrompts(server *sdk.Server) {
	for _, p := range []struct{ name, title, description, argument, text string }{
		{"plan", "Plan a deployment", "The dialogue from a vague wish to a confirmed plan.", "what the user wants, in their own words", dialogue},
		{"plan_zh", "规划部署", "从模糊需求到确认后的部署方案的对话。", "用户的原话", dialogueZH},
	} {
		server.AddPrompt(&sdk.Prompt{
			Name: p.name, Title: p.title, Description: p.description,
			Arguments: []*sdk.PromptArgument{{Name: "request", Description: p.argument}},
		}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text := p.text
			if said := r.Params.Arguments["request"]; said != "" {
				text += "\n\n" + said
			}
			return &sdk.GetPromptResult{
				Description: p.description,
				Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
			}, nil
		})
	}
}

const dialogue = `Help me plan how to serve a language model with the tools of Plimsoll. Keep to these rules.

1. Put what I said into a request and call "validate". Ask me only for what it lists as missing, one short question at a time:
   model, systems, GPUs or request rate, prompt and output length (or a preset), whether prefill and decode share devices, and the limits
   on TTFT and TPOT.
2. Use no value of an earlier conversation unless I say so. Invent none. Suggest one only if I am unsure or ask, and label it with its
   source: default, an example in the documentation, a preset and its publication, an earlier result of a tool, or a heuristic with the
   reason in a few words.
3. Use the model's facts ("models"): of a mixture of experts ask whether to search expert parallelism too; of a model with vision the
   height and width of images; MTP only where the model has it, with the number of draft tokens and their acceptance. Ask whether a
   prefix cache helps, and how many tokens of a prompt it has. Ask before choosing a quantization.
4. Words: PD aggregated (prefill and decode together) is "agg". PD disaggregated is "disagg"; ask whether I want each phase
   evaluated alone ("optimize" with disagg) or matched numbers of prefill and decode instances ("optimize" with pd_ratio, and the
   devices of one instance of each).
5. Call "validate" again. Show its command, a short table of the parameters, its problems, and its assumptions with their sources. Run
   "plan" or "optimize" only after I said yes.
6. Answer in this order: the command that was run; the best result (mode, layout, batch, concurrency, throughput, TTFT, TPOT, with
   intervals and the probability of meeting the limits); systems compared, if several; the next candidates; numbers of prefill and
   decode instances, if asked; what would change the answer; and the caution of the document, in full.
7. If it fails, show the command and the error, say whether it is the input, the environment, the model or device, or that nothing meets
   the limits (then give the nearest limits that can be met), and propose the smallest correction.`

const dialogueZH = `请用 Plimsoll 的工具帮我规划大模型的部署。请遵守以下规则。

1. 把我说的内容整理成请求，调用 "validate"。只问它列为缺失的内容，一次一个简短的问题：模型、硬件、卡数或请求速率、输入和输出长度（或预设场景）、
   部署模式，以及 TTFT 和 TPOT 的限制。
2. 除非我明确要求，不沿用之前对话中的值，也不编造任何值。只有在我不确定或请求建议时才给出建议值，并注明来源：默认值、文档示例、预设场景及其出处、
   工具之前的结果，或经验值（简要说明理由）。
3. 参考模型的信息（"models"）：MoE 模型要问是否也搜索 EP；多模态模型要问图片的高和宽；只有模型支持时才考虑 MTP，并问草稿 token 数和接受率。
   询问是否启用前缀缓存以及命中的 token 数。不要擅自选择量化方式。
4. 用语：PD混部、PD聚合、聚合部署即 "agg"。PD分离即 "disagg"，要问清是分别评估 Prefill 和 Decode 的能力（"optimize" 的 disagg），
   还是做 PD配比（"optimize" 的 pd_ratio，需要每个 Prefill 实例和 Decode 实例的卡数）。
5. 再次调用 "validate"。展示命令、参数摘要、发现的问题，以及每个假设及其来源。得到我的确认后才运行 "plan" 或 "optimize"。
6. 按此顺序回答：执行的命令；最佳结果（模式、并行策略、batch、并发、吞吐、TTFT、TPOT，附区间和满足限制的概率）；多种硬件时的对比；其他候选；
   PD 配比（若询问）；哪些改变会影响结论；最后完整给出结果中的提醒（caution）：结果来自建模，仅供部署规划参考，上线前请用真实负载验证。
7. 失败时给出命令和错误信息，说明属于输入、环境、模型或设备，还是没有满足限制的方案（此时给出最接近的可行限制），并提出最小的修改建议。`
