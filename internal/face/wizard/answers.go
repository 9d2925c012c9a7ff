package wizard

import (
	"slices"
	"strings"
)

// ID names a question; in a file of answers it is the key.
type ID string

// The questions, in the order in which they are asked.
const (
	Model          ID = "model"
	Devices        ID = "device"
	NumDevices     ID = "num_devices"
	Input          ID = "input_length"
	Output         ID = "output_length"
	Mode           ID = "mode"
	Goal           ID = "disaggregated_goal"
	Phases         ID = "phases"
	PrefillDevices ID = "prefill_devices_per_instance"
	DecodeDevices  ID = "decode_devices_per_instance"
	SLO            ID = "slo"
	TTFT           ID = "ttft_limit"
	TPOT           ID = "tpot_limit"
	ImageHeight    ID = "image_height"
	ImageWidth     ID = "image_width"
	Experts        ID = "expert_search"
	PrefixCache    ID = "prefix_cache"
	HitRate        ID = "prefix_cache_hit_rate"
	PrefixTokens   ID = "prefix"
	MTP            ID = "mtp"
	MTPSupport     ID = "mtp_support"
	MTPTokens      ID = "num_mtp_tokens"
	MTPRates       ID = "mtp_acceptance_rates"
	Quantization   ID = "quantization"
	Linear         ID = "quantize_linear_action"
	Attention      ID = "quantize_attention_action"
	MXFP4          ID = "mxfp4"
	MXFP4Group     ID = "mxfp4_group_size"
	Compile        ID = "compile"
)

// The words of choices.
const (
	Yes = "yes"
	No  = "no"

	Aggregation    = "aggregation"
	Disaggregation = "disaggregation"
	Ratio          = "ratio" // of a mode, and of a goal
	Compare        = "compare"

	EachPhase = "phases" // a goal

	PrefillOnly = "prefill"
	DecodeOnly  = "decode"
	Both        = "both" // of phases, and of limits

	TTFTOnly = "ttft"
	TPOTOnly = "tpot"

	TPOnly     = "tp"
	AllExperts = "tp_ep_moe_dp"

	Recommended = "recommended"
	Checkpoint  = "checkpoint"
	Custom      = "custom"

	Keep = "keep" // the default group size

	NoImages = "none"
)

// Origin is the kind of source of a value.
type Origin int

// The origins.
const (
	Typed     Origin = iota // at a question
	Flag                    // on the command line
	Saved                   // in a file of answers
	Default                 // of the command
	Example                 // a documented one
	Heuristic               // a rule of thumb, with its reason
)

// Source is the source of a value; Why names the example or file, or gives the reason.
type Source struct {
	Origin Origin
	Why    string
}

// Suggested reports whether a value is not the user's own.
func (s Source) Suggested() bool { return s.Origin >= Default }

// brought reports whether a value came with the command rather than from a question.
func (s Source) brought() bool { return s.Origin == Flag || s.Origin == Saved }

// Answer is a value as it is typed, and where it comes from.
type Answer struct {
	Value  string
	Source Source
}

// Answers are the answers by question.
type Answers map[ID]Answer

// is reports whether a question has one of some answers.
func (a Answers) is(id ID, values ...string) bool {
	x, ok := a[id]
	return ok && slices.Contains(values, x.Value)
}

// value is the answer to a question, "" for none.
func (a Answers) value(id ID) string { return a[id].Value }

// words are the words of an answer, which spaces or commas divide.
func (a Answers) words(id ID) []string { return split(a.value(id)) }

// split divides a list that was typed.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" \t,，、;", r) })
}

// isRatio reports whether instances of prefill and decode are matched.
func (a Answers) isRatio() bool {
	return a.is(Mode, Ratio) || a.is(Mode, Disaggregation) && a.is(Goal, Ratio)
}

// isPhases reports whether the phases are evaluated one by one.
func (a Answers) isPhases() bool { return a.is(Mode, Disaggregation) && a.is(Goal, EachPhase) }

// limits reports which limits the answers set.
func (a Answers) limits() (ttft, tpot bool) {
	if a.isPhases() {
		return a.is(Phases, PrefillOnly, Both), a.is(Phases, DecodeOnly, Both)
	}
	return a.is(SLO, TTFTOnly, Both), a.is(SLO, TPOTOnly, Both)
}
