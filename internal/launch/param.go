package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// param is a setting of an engine, by the key that its options name it with.
type param struct {
	key string
	at  func(*native) any // a pointer to the field: int, float64, string, bool or a list of int
}

// silent reports whether a parameter is written only if it is on: a switch of another
// setting, which most deployments leave alone.
func (p param) silent(t *native) bool { return p.key == "attention_dp.waits" && !t.Waits }

// params lists the parameters in the order of the files.
func params() []param {
	return []param{
		{"model", func(t *native) any { return &t.Model }},
		{"served_name", func(t *native) any { return &t.ServedName }},
		{"checkpoint", func(t *native) any { return &t.Checkpoint }},
		{"layout.tp", func(t *native) any { return &t.TP }},
		{"layout.pp", func(t *native) any { return &t.PP }},
		{"layout.dp", func(t *native) any { return &t.DP }},
		{"layout.attention_dp", func(t *native) any { return &t.AttentionRanks }},
		{"attention_dp.switch", func(t *native) any { return &t.AttentionDP }},
		{"attention_dp.waits", func(t *native) any { return &t.Waits }},
		{"layout.expert_switch", func(t *native) any { return &t.ExpertParallel }},
		{"layout.ep", func(t *native) any { return &t.EP }},
		{"layout.moe_tp", func(t *native) any { return &t.MoETP }},
		{"layout.moe_dp", func(t *native) any { return &t.MoEDP }},
		{"layout.dcp", func(t *native) any { return &t.DCP }},
		{"max_context", func(t *native) any { return &t.MaxLength }},
		{"max_sequences", func(t *native) any { return &t.Sequences }},
		{"token_budget", func(t *native) any { return &t.TokenBudget }},
		{"prefill_limit", func(t *native) any { return &t.PrefillLimit }},
		{"chunked_prefill", func(t *native) any { return &t.ChunkedPrefill }},
		{"memory_share", func(t *native) any { return &t.MemoryShare }},
		{"kv_format", func(t *native) any { return &t.KV }},
		{"prefix_caching", func(t *native) any { return &t.PrefixCaching }},
		{"graph.sizes", func(t *native) any { return &t.Graphs }},
		{"graph.off", func(t *native) any { return &t.NoGraphs }},
		{"mtp.method", func(t *native) any { return &t.MTPMethod }},
		{"mtp.tokens", func(t *native) any { return &t.MTP }},
		{"mtp.width", func(t *native) any { return &t.MTPWidth }},
		{"mtp.draft", func(t *native) any { return &t.MTPDraft }},
		{"role", func(t *native) any { return &t.Role }},
		{"transfer", func(t *native) any { return &t.Transfer }},
		{"transfer_tokens", func(t *native) any { return &t.TransferTokens }},
		{"overlap_off", func(t *native) any { return &t.NoOverlap }},
	}
}

// paramOf finds the parameter of a key; vLLM takes drafts as JSON.
func paramOf(name, key string) (param, bool) {
	if name == VLLM && key == "mtp.tokens" {
		return param{key, func(t *native) any { return &t.Speculative }}, true
	}
	for _, p := range params() {
		if p.key == key {
			return p, true
		}
	}
	return param{}, false
}

// words are the values of a parameter in the engine's syntax; none if it is not set.
func words(at any) []string {
	switch v := at.(type) {
	case *int:
		if *v != 0 {
			return []string{strconv.Itoa(*v)}
		}
	case *float64:
		if *v != 0 {
			return []string{strconv.FormatFloat(*v, 'f', -1, 64)}
		}
	case *string:
		if *v != "" {
			return []string{*v}
		}
	case *bool:
		return []string{strconv.FormatBool(*v)}
	case *[]int:
		var out []string
		for _, n := range *v {
			out = append(out, strconv.Itoa(n))
		}
		return out
	}
	return nil
}

// setWords inverts words.
func setWords(at any, words []string) error {
	list, isList := at.(*[]int)
	if !isList && len(words) != 1 {
		return fmt.Errorf("needs one value, got %d", len(words))
	}
	var err error
	switch v := at.(type) {
	case *int:
		*v, err = strconv.Atoi(words[0])
	case *float64:
		*v, err = strconv.ParseFloat(words[0], 64)
	case *string:
		*v = words[0]
	case *bool:
		*v, err = strconv.ParseBool(strings.ToLower(words[0]))
	case *[]int:
		*list = nil
		for _, w := range words {
			n, bad := strconv.Atoi(w)
			if bad != nil {
				return fmt.Errorf("needs whole numbers, got %q", w)
			}
			*list = append(*list, n)
		}
	}
	if err != nil {
		return fmt.Errorf("needs a number, got %q", words[0])
	}
	return nil
}

// Parameter is a setting of an engine with its name in the engine's release.
type Parameter struct {
	Key, Name string
	Value     any // a pointer to an int, float64, string, bool or a list of int
	Words     []string
}

// Parameters lists the settings of an engine in the names of its release.
func (v *Values) Parameters() []Parameter {
	t, _ := v.native() // check has reported the error
	return v.parameters(&t)
}

// parameters leaves out settings without a name in the release; native has refused those
// that the layout needs.
func (v *Values) parameters(t *native) []Parameter {
	var out []Parameter
	for _, p := range params() {
		p, _ = paramOf(v.Engine, p.key)
		name := v.Option(p.key)
		if name == "" || p.silent(t) {
			continue
		}
		if at := p.at(t); len(words(at)) > 0 {
			out = append(out, Parameter{p.key, name, at, words(at)})
		}
	}
	for _, extra := range v.Extras {
		key, text, _ := strings.Cut(extra, "=")
		if name := v.Option(key); name != "" {
			text = extraWord(v.Engine, key, text)
			out = append(out, Parameter{key, name, &text, []string{text}})
		}
	}
	return out
}

// policies are TensorRT-LLM's names for reserving blocks to completion (1) and on demand (0).
func policies() map[string]string {
	return map[string]string{"1": "GUARANTEED_NO_EVICT", "0": "MAX_UTILIZATION"}
}

// extraWord is the value of an extra setting in the engine's syntax.
func extraWord(name, key, text string) string {
	if w, ok := policies()[text]; ok && name == TRTLLM && key == "reserve" {
		return w
	}
	return text
}

// extraText inverts extraWord.
func extraText(name, key, word string) string {
	if name == TRTLLM && key == "reserve" {
		for text, w := range policies() {
			if w == word {
				return text
			}
		}
	}
	return word
}

// extraKeys are the settings that an engine has a name for and native has no field for.
func extraKeys(e *engine.Profile) []string {
	var out []string
	for _, s := range e.Settings() {
		if s.Option != "" && !slices.Contains(derived(), s.Key) && (s.Key != "reserve" || e.Name != SGLang) {
			out = append(out, s.Key)
		}
	}
	return out
}
