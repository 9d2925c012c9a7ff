package wizard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// example suggests a value of the first examples that a command's help prints.
func example(value, command string) func(*Known) Suggestion {
	return func(*Known) Suggestion { return Suggestion{value, Source{Example, "plimsoll " + command + " --help"}} }
}

// heuristic is a value by a rule of thumb.
func heuristic(value, why string) Suggestion { return Suggestion{value, Source{Heuristic, why}} }

// byDefault is the default of a command.
func byDefault(value, why string) Suggestion { return Suggestion{value, Source{Default, why}} }

const optimizer = "throughput-optimizer"

// suggestCount is the number of devices that the fastest links of every profile connect.
func suggestCount(k *Known) Suggestion {
	n, of := 0, ""
	for _, p := range k.Profiles() {
		if d := p.Domain(); n == 0 || d < n {
			n, of = d, p.Name
		}
	}
	if n == 0 {
		return example("8", optimizer)(k)
	}
	if need := k.fewest(k.usualFormats()); need > n {
		return heuristic(strconv.Itoa(need), fmt.Sprintf(k.Text.WhyMemory, k.Answers.value(Model), need))
	}
	return heuristic(strconv.Itoa(n), fmt.Sprintf(k.Text.WhyDomain, n, of))
}

func suggestMode(k *Known) Suggestion   { return heuristic(Aggregation, k.Text.WhyAggregation) }
func suggestGoal(k *Known) Suggestion   { return heuristic(EachPhase, k.Text.WhyPhases) }
func suggestPhases(k *Known) Suggestion { return heuristic(Both, k.Text.WhyBothPhases) }
func suggestSLO(k *Known) Suggestion    { return heuristic(Both, k.Text.WhyBothLimits) }

// suggestInstance gives each phase half of the devices.
func suggestInstance(k *Known) Suggestion {
	n, _ := strconv.Atoi(k.Answers.value(NumDevices))
	return heuristic(strconv.Itoa(max(1, n/2)), k.Text.WhyHalf)
}

func suggestHeight(k *Known) Suggestion  { return heuristic("1080", k.Text.WhyFullHD) }
func suggestWidth(k *Known) Suggestion   { return heuristic("1920", k.Text.WhyFullHD) }
func suggestExperts(k *Known) Suggestion { return heuristic(TPOnly, k.Text.WhyNarrow) }
func suggestOff(k *Known) Suggestion     { return byDefault(No, k.Text.WhyOff) }

// adviseHitRate has no value: it depends on the traffic.
func adviseHitRate(k *Known) Suggestion {
	return Suggestion{Source: Source{Heuristic, k.Text.AdviseHitRate}}
}

// adviseSupport reports that the model's config has no MTP modules.
func adviseSupport(k *Known) Suggestion {
	return Suggestion{Source: Source{Heuristic, fmt.Sprintf(k.Text.AdviseSupport, k.Answers.value(Model))}}
}

// suggestTokens is one token per MTP module of the model.
func suggestTokens(k *Known) Suggestion {
	if m := k.Model(); m != nil && m.MTP.Layers > 0 {
		return heuristic(strconv.Itoa(m.MTP.Layers), fmt.Sprintf(k.Text.WhyModules, m.MTP.Layers))
	}
	return heuristic("1", k.Text.WhyOneToken)
}

// suggestRates are the acceptance rates that the first device has by default.
func suggestRates(k *Known) Suggestion {
	var rates []string
	all := deployment.UsualAcceptance(k.Answers.count(MTPTokens))
	if p, m := k.Profiles(), k.Model(); len(p) > 0 && m != nil {
		all = deployment.Acceptance(m, p[0], draft.MTP, len(all))
	}
	for _, r := range all {
		rates = append(rates, number(r))
	}
	return byDefault(strings.Join(rates, " "), "--mtp-acceptance-rates")
}

// suggestQuantization is the guide's recommendation on its devices, and the checkpoint's own format elsewhere.
func suggestQuantization(k *Known) Suggestion {
	if k.ascend() {
		return heuristic(Recommended, k.Text.WhyRecommended)
	}
	return heuristic(Checkpoint, fmt.Sprintf(k.Text.WhyCheckpoint, k.own()))
}

// suggestLinear is an 8-bit format that the devices compute in.
func suggestLinear(k *Known) Suggestion {
	all := k.Profiles()
	switch {
	case k.ascend():
		return heuristic(string(dtype.W8A8Dynamic), k.Text.WhyRecommended)
	case len(all) > 0 && !slices.ContainsFunc(all, func(p *device.Profile) bool { return p.Facts().Peak.Matrix.FP8 == 0 }):
		return heuristic(string(dtype.FP8Action), k.Text.WhyFP8)
	}
	return heuristic(string(dtype.Disabled), k.Text.WhyWide)
}

// own is the format of the checkpoint in words.
func (k *Known) own() string {
	m := k.Model()
	if m == nil {
		return ""
	}
	f := m.Facts()
	return cmp.Or(f.Storage.Experts, f.Storage.Dense, f.Storage.Attention, f.DType)
}

func suggestAttention(k *Known) Suggestion {
	return heuristic(string(dtype.Disabled), k.Text.WhyRecommended)
}

func suggestKeep(*Known) Suggestion { return byDefault(Keep, "--mxfp4-group-size") }

func suggestGroup(*Known) Suggestion {
	return byDefault(strconv.Itoa(graph.DefaultMXFP4Group), "--mxfp4-group-size")
}

func suggestCompile(k *Known) Suggestion { return heuristic(Yes, k.Text.WhyCompile) }

// number is a number as people type it.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
