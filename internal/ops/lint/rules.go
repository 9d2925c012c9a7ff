package lint

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// Rule is something that lint looks for. Its code stays the same in every release, and is not used again for another.
type Rule struct {
	Code string `json:"code"`
	// Name is for SARIF, and Title for people.
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Severity Severity `json:"severity"` // of most findings
	// Fixed says that "lint --fix" can mend it.
	Fixed bool `json:"fixed"`
	// Why says what happens, and Mend what to do.
	Why  string `json:"why"`
	Mend string `json:"mend"`
}

// Rules are the rules, by code.
func Rules() []Rule {
	return slices.Concat(flagRules(), fileRules(), sizeRules(), batchRules(), loadRules())
}

// flagRules are about flags and keys.
func flagRules() []Rule {
	return []Rule{
		{
			"PL001", "unknown-flag", "flag that no release of the engine has", SevereError, true,
			"The engine's parser stops at a flag it does not know, so the server does not start.",
			"Write the flag that is meant; lint names the nearest one.",
		},
		{
			"PL002", "flag-of-another-release", "flag that this release does not have", SevereError, true,
			"The release in the image, in the comment or in --engine-version does not have the flag yet, or no longer. It is a warning where no release between was examined.",
			"Use the name of this release, or another image.",
		},
		{
			"PL003", "flag-of-another-engine", "flag of another engine", SevereError, true,
			"vLLM, SGLang and TensorRT-LLM name the same setting differently, and none takes another's flags.",
			"Write this engine's flag for the setting; lint names it where there is one.",
		},
		{
			"PL004", "unknown-key", "key that no release of TensorRT-LLM has", SevereError, true,
			"TensorRT-LLM refuses a file with a key that it does not know. It is a warning where no known key is similar: the key may be newer than the examined releases.",
			"Write the key that is meant.",
		},
		{
			"PL005", "key-of-another-release", "key that this release does not have", SevereError, true,
			"The release does not have the key yet, or no longer.",
			"Use the name of this release, or another image.",
		},
		{
			"PL006", "bad-value", "value that the engine does not take", SevereError, false,
			"A number is not a number, or JSON is not JSON: the server does not start.",
			"Write a value of the kind that the flag takes.",
		},
		{
			"PL007", "unquoted-json", "JSON without quotes in a shell command", SevereWarning, true,
			"A shell removes the double quotes inside the JSON and divides it at its commas, so the engine gets something else.",
			"Write the JSON between single quotes.",
		},
	}
}

// fileRules are about what files say and leave open.
func fileRules() []Rule {
	return []Rule{
		{
			"PL010", "missing-config", "referenced config file is missing", SevereWarning, false,
			"A command names a file with settings that was not given and does not lie beside the file: its settings are not known.",
			"Give that file as well.",
		},
		{
			"PL011", "variable-without-value", "variable without a value", SevereWarning, false,
			"A flag's value is a variable that the files do not set, so the engine's default is taken for the check.",
			"Set the variable in the file, or give it a default: ${NAME:-value}.",
		},
		{
			"PL012", "comment-against-flags", "comment that contradicts the flags", SevereError, false,
			"The \"# plimsoll:\" comment says number formats that the flags do not ask for. An engine does not read comments.",
			"Write the files anew, or name a checkpoint in these formats.",
		},
		{
			"PL013", "several-deployments", "several deployments in the files", SevereWarning, false,
			"The files start engines or models that do not belong together. Flags of all are checked; memory and speed only of the first.",
			"Give the files of one deployment.",
		},
		{
			"PL014", "different-workers", "workers of a pool differ", SevereWarning, false,
			"Workers with the same role have different layouts or settings; all are predicted as the first.",
			"Give workers of one pool the same settings.",
		},
		{
			"PL015", "half-deployment", "prefill or decode workers alone", SevereWarning, false,
			"Only one side of a disaggregated deployment was given: its memory is checked, its speed is not predicted.",
			"Give the files of all workers.",
		},
		{
			"PL016", "model-by-likeness", "model taken from the name of a path", SevereHint, false,
			"The files name a path that does not exist here. Its last part is the name of one model of the catalog, which is taken.",
			"Give --model with a name or a folder with the config.json, if it is another model.",
		},
		{
			"PL017", "unknown-model", "model that is not in the catalog", SevereWarning, false,
			"The checkpoint is not known, so only flags and devices are checked, not memory and speed.",
			"Give --model with a folder that has the config.json, or the nearest model.",
		},
		{
			"PL018", "no-model", "files do not name the model", SevereWarning, false,
			"Without a model only flags and devices are checked.",
			"Give --model.",
		},
		{
			"PL019", "no-device", "files do not name the device", SevereWarning, false,
			"Files of Plimsoll name the device in a comment, manifests by a node selector. Without one only flags and devices are checked.",
			"Give --system.",
		},
	}
}

// sizeRules are about devices, layouts and memory.
func sizeRules() []Rule {
	return []Rule{
		{
			"PL020", "too-few-devices", "fewer devices than the layout takes", SevereError, false,
			"The container asks for fewer devices than TP × PP × DP: the engine waits for ranks that have no device.",
			"Ask for as many devices as the layout takes, or make the layout smaller.",
		},
		{
			"PL021", "idle-devices", "more devices than the layout takes", SevereWarning, false,
			"The container holds devices that the engine does not use.",
			"Ask for fewer devices, or use a larger layout.",
		},
		{
			"PL022", "impossible-layout", "layout or setting that the model cannot have", SevereError, false,
			"Heads, experts or layers cannot be divided so, or a setting is out of its range: the engine does not start.",
			"Take sizes that divide the model's heads, experts and layers.",
		},
		{
			"PL023", "does-not-fit", "weights leave no room for a cache", SevereError, false,
			"Weights, activations and workspace take all the memory that the engine may use.",
			"Use more devices, a larger share of memory, or weights in fewer bits.",
		},
		{
			"PL024", "beyond-positions", "length beyond the model's positions", SevereError, true,
			"The longest request, or the requests themselves, are longer than the model's positions.",
			"Lower the maximum length, or enable the scaling of positions that the model publishes.",
		},
		{
			"PL025", "requests-too-long", "requests longer than the maximum length", SevereError, true,
			"The server rejects requests of the given lengths.",
			"Raise the maximum length.",
		},
		{
			"PL026", "cache-below-length", "cache holds less than the longest request", SevereError, true,
			"vLLM checks at its start that one request of the maximum length fits the cache, and refuses.",
			"Lower the maximum length, use more devices, or a larger share of memory.",
		},
		{
			"PL027", "cache-below-request", "cache holds less than one of the requests", SevereError, false,
			"No request of the given lengths can run.",
			"Use more devices, a larger share of memory, or a cache in FP8.",
		},
	}
}

// batchRules are about batches, graphs and drafts.
func batchRules() []Rule {
	return []Rule{
		{
			"PL030", "budget-below-batch", "token budget below a decode step", SevereError, true,
			"A decode step needs a token for each running sequence, and more with drafts.",
			"Raise the token budget or lower the batch limit.",
		},
		{
			"PL031", "budget-below-prompt", "token budget below a prompt that is not split", SevereError, true,
			"Without chunked prefill a prompt runs in one step or never.",
			"Raise the token budget, or enable chunked prefill.",
		},
		{
			"PL032", "batch-above-cache", "batch limit above what the cache holds", SevereWarning, true,
			"More requests start than the cache holds to their end, so some are preempted and computed again. It is a hint where the limit is the engine's default.",
			"Lower the batch limit to what the cache holds.",
		},
		{
			"PL033", "batch-far-below-cache", "batch limit far below what the cache holds", SevereHint, false,
			"Requests wait although the cache has room for several times as many. It is only looked for without limits on TTFT and TPOT, for which a low batch limit may be meant.",
			"Raise the batch limit, or give the latency limits that it serves.",
		},
		{
			"PL034", "no-graphs", "no captured graphs", SevereWarning, false,
			"Every decode step waits for the host to launch its kernels one by one.",
			"Leave the flag out, except for debugging.",
		},
		{
			"PL035", "graphs-below-batch", "graphs end below the batch limit", SevereWarning, true,
			"Batches above the largest captured one run without graphs. It is a hint where the sizes are the engine's default.",
			"Capture graphs up to the batch limit.",
		},
		{
			"PL036", "graphs-above-batch", "graphs above the batch limit", SevereHint, true,
			"Graphs for batches that never run use memory and make the start longer.",
			"Capture graphs up to the batch limit.",
		},
		{
			"PL037", "unknown-drafts", "drafts that are not predicted", SevereWarning, false,
			"The model has no MTP module, or no head of it is known: the prediction is without drafts.",
			"None; measure the gain of the drafts.",
		},
	}
}

// loadRules are about the requests of the question.
func loadRules() []Rule {
	return []Rule{
		{
			"PL040", "concurrency-above-capacity", "more requests in flight than run together", SevereWarning, false,
			"The others wait, or running ones are preempted.",
			"Send fewer requests, or use more replicas.",
		},
		{
			"PL041", "limit-missed", "latency limit missed", SevereError, false,
			"The predicted mean is above the limit at this concurrency.",
			"Lower the batch limit as lint says, or use another layout.",
		},
		{
			"PL042", "limit-barely-met", "limits met with little probability", SevereHint, false,
			"The predicted means meet the limits, but the error of the prediction is larger than the distance.",
			"Measure, or leave more room.",
		},
	}
}

// RuleOf is the rule with a code, nil if there is none.
func RuleOf(code string) *Rule {
	all := Rules()
	if i := slices.IndexFunc(all, func(r Rule) bool { return r.Code == code }); i >= 0 {
		return &all[i]
	}
	return nil
}

// codeOf is the code of a problem that reading found.
func codeOf(k launch.Kind) string {
	return map[launch.Kind]string{
		launch.UnknownFlag: "PL001", launch.LackedFlag: "PL002", launch.ForeignFlag: "PL003", launch.UnknownKey: "PL004", launch.BadValue: "PL006",
		launch.LostQuotes: "PL007", launch.MissingConfig: "PL010", launch.OpenVariable: "PL011", launch.WrongComment: "PL012", launch.SeveralDeployments: "PL013",
	}[k]
}
