package wizard

import (
	"maps"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
)

// english is what is said in English.
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
		Model:      {Title: "Model", Help: "its Hugging Face id, or a directory with a config.json; \"plimsoll models\" lists the catalog"},
		Devices:    {Title: "Devices", Help: "one profile, or several to compare, with spaces between; \"plimsoll devices\" lists them"},
		NumDevices: {Title: "Number of devices", Help: "in total; every profile gets the same number"},
		Input:      {Title: "Input length", Help: "tokens of a prompt"},
		Output:     {Title: "Output length", Help: "tokens of an answer"},
		Mode: {Title: "Deployment mode", Help: "how prefill and decode share the devices", Choices: map[string]string{
			Aggregation:    "Aggregated: prefill and decode in one instance (PD混部 / PD聚合 / 聚合部署)",
			Disaggregation: "Disaggregated: prefill and decode apart (PD分离)",
			Ratio:          "P:D ratio: match prefill and decode instances (P/D配比 / 实例配比)",
			Compare:        "Compare all modes and engines",
		}},
		Goal: {Title: "Goal of the disaggregation", Help: "what to find out", Choices: map[string]string{
			EachPhase: "What each phase can do alone",
			Ratio:     "How many prefill and decode instances match",
		}},
		Phases: {Title: "Phases", Help: "each is searched within its own limit", Choices: map[string]string{
			PrefillOnly: "Prefill only (TTFT limit)",
			DecodeOnly:  "Decode only (TPOT limit)",
			Both:        "Both, one after the other",
		}},
		PrefillDevices: {Title: "Devices of a prefill instance", Help: "each prefill instance gets this many"},
		DecodeDevices:  {Title: "Devices of a decode instance", Help: "each decode instance gets this many"},
		SLO: {Title: "Latency target", Help: "which limits the service has to keep", Choices: map[string]string{
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
		Experts: {Title: "Layouts of the experts", Help: "which sizes to search", Choices: map[string]string{
			TPOnly:     "TP only",
			AllExperts: "TP, EP and MoE-DP",
		}},
		PrefixCache:  {Title: "Prefix cache", Help: "do requests share the beginnings of their prompts?", Choices: yesNo},
		HitRate:      {Title: "Prefix cache hit rate", Help: "share of a prompt found in the cache, from 0 to below 1"},
		PrefixTokens: {Title: "Cached prefix", Help: "tokens of a prompt found in the cache"},
		MTP:          {Title: "MTP", Help: "does the model draft further tokens with its MTP modules?", Choices: yesNo},
		MTPSupport: {Title: "MTP support", Help: "the model's config has no MTP modules; does your checkpoint have them?", Choices: map[string]string{
			Yes: "Yes: count a decoder layer for each draft token", No: "No: without MTP",
		}},
		MTPTokens: {Title: "MTP tokens", Help: "draft tokens of a step"},
		MTPRates:  {Title: "MTP acceptance rates", Help: "of the first, second … draft token, each from 0 to 1"},
		Quantization: {Title: "Quantization", Help: "number formats of weights and KV cache", Choices: map[string]string{
			Recommended: "Recommended: W8A8_DYNAMIC for linear layers, attention DISABLED",
			Checkpoint:  "As the checkpoint is stored",
			Custom:      "Custom",
		}},
		Linear:    {Title: "Linear layers", Help: "their quantization"},
		Attention: {Title: "Attention", Help: "quantization of the KV cache"},
		MXFP4: {Title: "MXFP4 group size", Help: "elements that share a scale", Choices: map[string]string{
			Keep: "Keep 32", Custom: "Another one",
		}},
		MXFP4Group: {Title: "MXFP4 group", Help: "elements that share a scale"},
		Compile:    {Title: "Compiled graphs", Help: "operators fused as a graph compiler does (--compile)", Choices: yesNo},
	}
}

// englishTalk is what is said between questions.
func englishTalk(t *Text) {
	t.Intro = "A few questions, then the command to run. Nothing runs before you confirm."
	t.Legend = "Type an answer or its number. ? = not sure, < = back, change = change an earlier answer, quit = quit."
	t.LegendForm = "? not sure · Esc back · Ctrl+G change an earlier answer · Ctrl+C quit"
	t.Unsure = "I am not sure"
	t.Suggestion = "Suggestion: %s (%s). Enter takes it; or give your own."
	t.NoSuggestion = "No suggestion: %s"
	t.FirstQuestion = "This is the first question."
	t.NeedAnswer = "an answer is needed; ? for a suggestion"
	t.Now = "now: %s"
	t.NoChoice = "%q is not a choice: %s"
	t.NoChoiceNear = "%q is not a choice; did you mean %s?"
	t.WantCount = "want a positive whole number, got %q"
	t.WantMs = "want a positive number of milliseconds, got %q"
	t.WantShare = "want a number from 0 to below 1, got %q"
	t.WantShares = "want numbers from 0 to 1, got %q"
	t.NoModel = "no model is called %q, nor anything like it"
	t.NoModelNear = "no model is called %q; nearest: %s"
	t.NotAnyMore = "This answer does not fit any more: %s"
	t.BackWord, t.ChangeWord, t.QuitWord = "back", "change", "quit"
	t.ChangeTitle = "Which answer?"
	t.SaveTitle, t.SaveHelp = "File", "plimsoll plan --answers FILE asks only what it does not hold"
	t.WhySaveName = "a name that says what it is"
	t.SavedTo, t.SaveFailed = "Saved to %s.", "Not saved: %s"
	t.CommandTitle, t.ParametersTitle = "Command", "Parameters"
	t.ChecksTitle, t.AssumptionsTitle = "Checks", "Assumptions"
	t.ConfirmTitle, t.NextTitle, t.FixTitle = "Run it?", "What next?", "Change %s"
	t.Running, t.NothingRun = "Running …", "nothing was run"
	t.Actions = map[string]string{
		doRun: "Run", doChange: "Change an answer", doSave: "Save the answers", doQuit: "Quit", doReport: "Show the full tables", doDone: "Done",
	}
}

// englishReasons are where values come from, and why.
func englishReasons(t *Text) {
	t.Origins = [...]string{
		Typed: "your answer", Flag: "command line", Saved: "saved answers, %s",
		Default: "CLI default, %s", Example: "documented example, %s", Heuristic: "heuristic: %s",
	}
	t.WhyDomain = "the fastest links of one machine connect %d devices (%s)"
	t.WhyAggregation = "the simplest deployment, and the one to compare others with"
	t.WhyPhases = "a narrow first run; the ratio needs the sizes of instances"
	t.WhyBothPhases = "a service needs both"
	t.WhyBothLimits = "TTFT is how long a user waits, TPOT how fast the answer appears"
	t.WhyHalf = "half of the devices for each phase, to start with"
	t.WhyFullHD = "a full-HD image of 1920 x 1080 pixels"
	t.WhyNarrow = "a narrow first run; add EP and MoE-DP if the result is not enough"
	t.WhyOff = "off unless asked for"
	t.AdviseHitRate = "it depends on your traffic alone; engines report it among their metrics"
	t.AdviseSupport = "the config of %s lists no MTP modules; see the card of your checkpoint"
	t.WhyModules = "one for each MTP module, and the model has %d"
	t.WhyOneToken = "further draft tokens are accepted less often"
	t.WhyRecommended = "W8A8_DYNAMIC and DISABLED are the recommended start on Ascend devices"
	t.WhyCompile = "engines serve compiled graphs"
}

// englishResults are checks, results and failures.
func englishResults(t *Text) {
	t.Accepted = "the program accepts these parameters"
	t.Problem = "problem: %s"
	t.SharedCount = "%d profiles are compared, each with %d devices; each can connect that many"
	t.BothPhases = "two limits: prefill and decode are searched separately"
	t.TooFew = "%d devices are too few for one prefill and one decode instance (%d): instances are not counted"
	t.HasMTP = "MTP: the model has %d MTP modules"
	t.NoMTP = "MTP: the model's config has no MTP modules; each draft token adds a decoder layer"
	t.Chunks = "prompts of %d tokens are computed in chunks of %d"
	t.AssumedValue = "%s: %s (%s)"
	t.FixedLengths = "every request has exactly these lengths"
	t.TextOnly = "requests have no images"
	t.NoMTPUsed = "MTP stays off: the checkpoint does not have it"
	t.ComparesEngines = "every engine and mode that runs on the devices is simulated"
	t.Executed, t.Best, t.Mode, t.Parallel = "Executed", "Best result", "mode", "parallel strategy"
	t.Batch, t.Concurrency, t.Throughput = "batch size", "concurrency", "throughput"
	t.TTFT, t.TPOT, t.Tokens = "TTFT", "TPOT", "tokens/s"
	t.Aggregated, t.Prefill, t.Decode, t.Matched = "aggregated", "prefill", "decode", "P:D ratio"
	t.Across, t.Top = "Across hardware", "Top candidates"
	t.Row, t.NoRow = "%d. %s: %s, batch %d, concurrency %d", "%s: nothing within the limits"
	t.RatioTitle = "P:D details"
	t.RatioLine = "%.2f prefill instances per decode instance, %.2f requests/s of one of each"
	t.PhaseLine = "%s: %s, batch %d, concurrency %d, %.2f requests/s"
	t.Instances = "%d prefill and %d decode instances on %d devices: %.2f requests/s"
	t.Failed, t.Kind, t.Important, t.Correction = "Failed", "kind", "message", "correction"
	t.Invalid, t.Environment = "invalid parameters", "environment"
	t.Assumption, t.Infeasible = "model or device", "no feasible point"
	t.FixInvalid = "change %s and run again"
	t.FixEnvironment = "check that the file or directory exists and can be read"
	t.FixAssumption = "choose a model, device or format that fits the others"
	t.FixLimit = "raise the limit to at least %s"
	t.FixMemory = "use more devices or narrower formats"
	t.FixSizes = "search other sizes, or change the number of devices"
}
