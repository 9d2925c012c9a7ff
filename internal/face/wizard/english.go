package wizard

import (
	"maps"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

// english is the text in English.
func english() *Text {
	t := &Text{Questions: englishCore(), Caution: document.Caution}
	maps.Copy(t.Questions, englishBranches())
	englishTalk(t)
	englishReasons(t)
	englishResults(t)
	return t
}

// englishCore are the questions about the core inputs.
func englishCore() map[ID]Asked {
	return map[ID]Asked{
		Model:      {Title: "Model", Help: "Hugging Face id, or a directory with a config.json; \"plimsoll models\" lists the catalog"},
		Devices:    {Title: "Devices", Help: "one profile, or several to compare, separated by spaces; \"plimsoll devices\" lists them"},
		NumDevices: {Title: "Number of devices", Help: "total; the same for every profile"},
		Input:      {Title: "Input length", Help: "tokens per prompt"},
		Output:     {Title: "Output length", Help: "output tokens per request"},
		Mode: {Title: "Deployment mode", Help: "how prefill and decode share the devices", Choices: map[string]string{
			Aggregation:    "Aggregated: prefill and decode in one instance (PD混部 / PD聚合 / 聚合部署)",
			Disaggregation: "Disaggregated: prefill and decode on separate instances (PD分离)",
			Ratio:          "P:D ratio: match prefill and decode instances (P/D配比 / 实例配比)",
			Compare:        "Compare all modes and engines",
		}},
		Goal: {Title: "Goal", Help: "what to find out about disaggregated serving", Choices: map[string]string{
			EachPhase: "The capacity of each phase",
			Ratio:     "The ratio of prefill to decode instances",
		}},
		Phases: {Title: "Phases", Help: "each phase is searched within its own limit", Choices: map[string]string{
			PrefillOnly: "Prefill only (TTFT limit)",
			DecodeOnly:  "Decode only (TPOT limit)",
			Both:        "Both, one after the other",
		}},
		PrefillDevices: {Title: "Devices per prefill instance", Help: "devices of each prefill instance"},
		DecodeDevices:  {Title: "Devices per decode instance", Help: "devices of each decode instance"},
		SLO: {Title: "Latency target", Help: "latency limits of the service", Choices: map[string]string{
			TTFTOnly: "TTFT: time to the first token",
			TPOTOnly: "TPOT: time per output token",
			Both:     "Both",
		}},
		TTFT: {Title: "TTFT limit", Help: "in milliseconds; inf for none"},
		TPOT: {Title: "TPOT limit", Help: "in milliseconds; inf for none"},
	}
}

// englishBranches are the other questions.
func englishBranches() map[ID]Asked {
	yesNo := map[string]string{Yes: "Yes", No: "No"}
	return map[ID]Asked{
		ImageHeight: {Title: "Image height", Help: "in pixels; none for requests without images"},
		ImageWidth:  {Title: "Image width", Help: "in pixels"},
		Experts: {Title: "Expert layouts", Help: "sizes to search", Choices: map[string]string{
			TPOnly:     "TP only",
			AllExperts: "TP, EP and MoE-DP",
		}},
		PrefixCache:  {Title: "Prefix cache", Help: "do requests share a prompt prefix?", Choices: yesNo},
		HitRate:      {Title: "Prefix cache hit rate", Help: "share of a prompt found in the cache, from 0 to below 1"},
		PrefixTokens: {Title: "Cached prefix", Help: "tokens of a prompt found in the cache"},
		MTP:          {Title: "MTP", Help: "use speculative decoding with the model's MTP modules?", Choices: yesNo},
		MTPSupport: {Title: "MTP support", Help: "the model's config has no MTP modules; does your checkpoint have them?", Choices: map[string]string{
			Yes: "Yes: add a decoder layer per draft token", No: "No: turn MTP off",
		}},
		MTPTokens: {Title: "MTP tokens", Help: "draft tokens per step"},
		MTPRates:  {Title: "MTP acceptance rates", Help: "acceptance rate of each draft token in order, from 0 to 1"},
		Quantization: {Title: "Quantization", Help: "number formats of weights and KV cache", Choices: map[string]string{
			Recommended: "Recommended: W8A8_DYNAMIC for linear layers, attention DISABLED",
			Checkpoint:  "The checkpoint's own format",
			Custom:      "Custom",
		}},
		Linear:    {Title: "Linear layers", Help: "quantization of linear layers"},
		Attention: {Title: "Attention", Help: "quantization of the KV cache"},
		MXFP4: {Title: "MXFP4 group size", Help: "elements that share a scale", Choices: map[string]string{
			Keep: "Keep 32", Custom: "Custom",
		}},
		MXFP4Group: {Title: "MXFP4 group", Help: "elements that share a scale"},
		Compile:    {Title: "Compiled graphs", Help: "fuse operators as a graph compiler does (--compile)", Choices: yesNo},
	}
}

// englishTalk is the text between questions.
func englishTalk(t *Text) {
	t.Intro = "A few questions, then the command to run. Nothing runs before you confirm."
	t.Legend = "Type an answer or its number. ? = not sure, < = back, change = change an earlier answer, quit = quit."
	t.LegendForm = "? not sure · Esc back · Ctrl+G change an earlier answer · Ctrl+C quit"
	t.Unsure = "I am not sure"
	t.Suggestion = "Suggestion: %s (%s). Press Enter to accept it, or type your own."
	t.NoSuggestion = "No suggestion: %s"
	t.FirstQuestion = "This is the first question."
	t.NeedAnswer = "an answer is required; type ? for a suggestion"
	t.Now = "current: %s"
	t.NoChoice = "invalid choice %q; choose one of: %s"
	t.NoChoiceNear = "invalid choice %q; did you mean %s?"
	t.WantCount = "want a positive whole number, got %q"
	t.WantMs = "want a positive number of milliseconds, got %q"
	t.WantShare = "want a number from 0 to below 1, got %q"
	t.WantShares = "want numbers from 0 to 1, got %q"
	t.NoModel = "unknown model %q, and no similar name"
	t.NoModelNear = "unknown model %q; nearest: %s"
	t.NotAnyMore = "This answer is no longer valid: %s"
	t.BackWord, t.ChangeWord, t.QuitWord = "back", "change", "quit"
	t.ChangeTitle = "Which answer?"
	t.SaveTitle, t.SaveHelp = "File", "plimsoll plan --answers FILE asks only for missing answers"
	t.WhySaveName = "a descriptive name"
	t.SavedTo, t.SaveFailed = "Saved to %s.", "Not saved: %s"
	t.CommandTitle, t.ParametersTitle = "Command", "Parameters"
	t.ChecksTitle, t.AssumptionsTitle = "Checks", "Assumptions"
	t.ConfirmTitle, t.NextTitle, t.FixTitle = "Run it?", "What next?", "Change %s"
	t.Running, t.NothingRun = "Running …", "no command was run"
	t.Actions = map[string]string{
		doRun: "Run", doChange: "Change an answer", doSave: "Save the answers", doQuit: "Quit", doReport: "Show the full tables", doDone: "Done",
	}
}

// englishReasons are the sources of values and the reasons for suggestions.
func englishReasons(t *Text) {
	t.Origins = [...]string{
		Typed: "your answer", Flag: "command line", Saved: "saved answers, %s",
		Default: "CLI default, %s", Example: "documented example, %s", Heuristic: "heuristic: %s",
	}
	t.WhyDomain = "the fastest links of a node connect %d devices (%s)"
	t.WhyAggregation = "the simplest deployment, and the baseline for others"
	t.WhyPhases = "a quick first run; the ratio needs the instance sizes"
	t.WhyBothPhases = "a service needs both"
	t.WhyBothLimits = "TTFT is the wait for the first token, TPOT the speed of the output"
	t.WhyHalf = "half of the devices for each phase, as a start"
	t.WhyFullHD = "a full-HD image of 1920 x 1080 pixels"
	t.WhyNarrow = "a quick first run; add EP and MoE-DP if the result is not good enough"
	t.WhyOff = "off by default"
	t.AdviseHitRate = "depends on your traffic; engines report it in their metrics"
	t.AdviseSupport = "the config of %s lists no MTP modules; see the model card of your checkpoint"
	t.WhyModules = "one per MTP module; the model has %d"
	t.WhyOneToken = "later draft tokens are accepted less often"
	t.WhyRecommended = "W8A8_DYNAMIC and DISABLED are recommended on Ascend devices"
	t.WhyCompile = "engines run compiled graphs"
}

// englishResults are checks, results and failures.
func englishResults(t *Text) {
	t.Accepted = "these parameters are valid"
	t.Problem = "problem: %s"
	t.SharedCount = "compares %d profiles with %d devices each; each can connect that many"
	t.BothPhases = "two limits: prefill and decode are searched separately"
	t.TooFew = "%d devices are too few for one prefill and one decode instance (%d): no instance counts"
	t.HasMTP = "MTP: the model has %d MTP modules"
	t.NoMTP = "MTP: the model's config has no MTP modules; each draft token adds a decoder layer"
	t.Chunks = "prompts of %d tokens are computed in chunks of %d"
	t.AssumedValue = "%s: %s (%s)"
	t.FixedLengths = "every request has exactly these lengths"
	t.TextOnly = "requests have no images"
	t.NoMTPUsed = "MTP is off: the checkpoint has no MTP modules"
	t.ComparesEngines = "simulates every engine and mode that runs on the devices"
	t.Executed, t.Best, t.Mode, t.Parallel = "Executed", "Best result", "mode", "parallel strategy"
	t.Batch, t.Concurrency, t.Throughput = "batch size", "concurrency", "throughput"
	t.TTFT, t.TPOT, t.Tokens = "TTFT", "TPOT", "tokens/s"
	t.Aggregated, t.Prefill, t.Decode, t.Matched = "aggregated", "prefill", "decode", "P:D ratio"
	t.Across, t.Top = "Across hardware", "Top candidates"
	t.Row, t.NoRow = "%d. %s: %s, batch %d, concurrency %d", "%s: no configuration meets the limits"
	t.RatioTitle = "P:D details"
	t.RatioLine = "%.2f prefill instances per decode instance, %.2f requests/s with one of each"
	t.PhaseLine = "%s: %s, batch %d, concurrency %d, %.2f requests/s"
	t.Instances = "%d prefill and %d decode instances on %d devices: %.2f requests/s"
	t.Failed, t.Kind, t.Important, t.Correction = "Failed", "kind", "message", "correction"
	t.Invalid, t.Environment = "invalid parameters", "environment"
	t.Assumption, t.Infeasible = "incompatible model or device", "no feasible configuration"
	t.FixInvalid = "change %s and run again"
	t.FixEnvironment = "check that the file or directory exists and can be read"
	t.FixAssumption = "choose a compatible model, device or format"
	t.FixLimit = "raise the limit to at least %s"
	t.FixMemory = "use more devices or lower precision"
	t.FixSizes = "search other sizes, or change the number of devices"
}
