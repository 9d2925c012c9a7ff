package workload

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Preset is the request lengths of a typical use, and the latency limits that are usual for it.
type Preset struct {
	Name          string
	Input, Output int // tokens, on average
	Prefix        int // of the input, found in the prefix cache
	Source        string
	Usual         Usual
}

// Usual is the latency limits that are usual for a use; none where only throughput counts.
type Usual struct {
	Limits Limits
	Source string
}

// presetLow is the shortest length of a preset's requests as a share of the longest:
// that of the benchmarks of InferenceX.
const presetLow = 0.8

// Presets lists the presets. Usual limits are latency constraints of MLPerf Inference (inference_rules.adoc, July 2026), which
// apply to the 99th percentile there: of the conversational and server categories, but for code, which is completed while a
// person types.
func Presets() []Preset {
	mlperf := func(ttft, tpot units.Seconds, benchmark string) Usual {
		return Usual{Limits{TTFT: ttft * units.Millisecond, TPOT: tpot * units.Millisecond}, "MLPerf Inference, " + benchmark}
	}
	return []Preset{
		{
			"chat", 1155, 211, 0, "means of conversations in Azure's LLM inference trace of 2023 (Splitwise, ISCA 2024)",
			mlperf(2000, 100, "Llama-3.1-8B conversational"),
		},
		{"rag", 7373, 922, 0, "InferenceX scenario 8k/1k: a long prompt, a summary of it", mlperf(6000, 175, "Llama-3.1-405B server, long documents")},
		{
			"code", 2048, 28, 0, "means of code completion in Azure's LLM inference trace of 2023 (Splitwise, ISCA 2024)",
			mlperf(450, 40, "Llama-2-70B interactive"),
		},
		{
			"agentic", 8596, 182, 5072, "sessions of 64 requests that grow from 8,596 to 27,000 tokens: Mooncake's tool and agent trace (FAST 2025), SWE-rebench",
			mlperf(3000, 80, "gpt-oss-120b server, reasoning and code"),
		},
		{"batch", 922, 922, 0, "InferenceX scenario 1k/1k", Usual{Source: "MLPerf Inference, offline scenario"}},
		{"reasoning", 922, 7373, 0, "InferenceX scenario 1k/8k: a long chain of thought", mlperf(2000, 80, "DeepSeek-R1 server")},
	}
}

// LookupPreset finds a preset by its name.
func LookupPreset(name string) (Preset, bool) {
	all := Presets()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// Session is the sessions of a preset, nil if its requests are independent. An agent's first request is that of the preset, of
// which the cached part is the system prompt and the tools; it grows to 27,000 tokens in 64 turns (SWE-rebench's 67,074
// OpenHands trajectories have 64.3 turns on average and 27,000 tokens at the deepest one), by the preset's answer and the result of a tool.
func (p *Preset) Session() *Session {
	if p.Name != "agentic" {
		return nil
	}
	const turns, deepest = 64, 27_000
	// An assumption: tools take from less than a second to more than a minute (TraceLab, 2026), and no mean is published.
	const toolTime = 2
	user := (deepest-p.Input)/(turns-1) - p.Output
	longest := func(mean int) int { return int(float64(mean)*2/(1+presetLow) + 0.5) }
	return &Session{
		System: p.Prefix, Turns: turns, First: longest(p.Input - p.Prefix), User: longest(user), Output: longest(p.Output),
		LengthLow: presetLow, Think: toolTime,
	}
}

// Longest are the longest input and output, and Low the shortest as a share of them,
// whose means are the preset's.
func (p *Preset) Longest() (input, output int, low float64) {
	longest := func(mean int) int { return int(float64(mean)*2/(1+presetLow) + 0.5) }
	return longest(p.Input), longest(p.Output), presetLow
}
