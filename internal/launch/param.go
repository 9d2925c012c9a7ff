package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// param is one of the things an engine is told, by the key that its options name
// it with.
type param struct {
	key string
	at  func(*told) any // a pointer to the field: int, float64, string, bool or a list of int
}

// silent reports whether a parameter is told only if it is on: a switch of another
// setting, which most deployments leave alone.
func (p param) silent(t *told) bool { return p.key == "attention_dp.waits" && !t.Waits }

// params lists them in the order files show them.
func params() []param {
	return []param{
		{"model", func(t *told) any { return &t.Model }},
		{"served_name", func(t *told) any { return &t.ServedName }},
		{"checkpoint", func(t *told) any { return &t.Checkpoint }},
		{"layout.tp", func(t *told) any { return &t.TP }},
		{"layout.pp", func(t *told) any { return &t.PP }},
		{"layout.dp", func(t *told) any { return &t.DP }},
		{"layout.attention_dp", func(t *told) any { return &t.AttentionRanks }},
		{"attention_dp.switch", func(t *told) any { return &t.AttentionDP }},
		{"attention_dp.waits", func(t *told) any { return &t.Waits }},
		{"layout.expert_switch", func(t *told) any { return &t.ExpertParallel }},
		{"layout.ep", func(t *told) any { return &t.EP }},
		{"layout.moe_tp", func(t *told) any { return &t.MoETP }},
		{"layout.moe_dp", func(t *told) any { return &t.MoEDP }},
		{"layout.dcp", func(t *told) any { return &t.DCP }},
		{"max_context", func(t *told) any { return &t.MaxLength }},
		{"max_sequences", func(t *told) any { return &t.Sequences }},
		{"token_budget", func(t *told) any { return &t.TokenBudget }},
		{"prefill_limit", func(t *told) any { return &t.PrefillLimit }},
		{"chunked_prefill", func(t *told) any { return &t.ChunkedPrefill }},
		{"memory_share", func(t *told) any { return &t.MemoryShare }},
		{"kv_format", func(t *told) any { return &t.KV }},
		{"prefix_caching", func(t *told) any { return &t.PrefixCaching }},
		{"graph.sizes", func(t *told) any { return &t.Graphs }},
		{"graph.off", func(t *told) any { return &t.NoGraphs }},
		{"mtp.method", func(t *told) any { return &t.MTPMethod }},
		{"mtp.tokens", func(t *told) any { return &t.MTP }},
		{"mtp.width", func(t *told) any { return &t.MTPWidth }},
		{"mtp.draft", func(t *told) any { return &t.MTPDraft }},
		{"role", func(t *told) any { return &t.Role }},
		{"transfer", func(t *told) any { return &t.Transfer }},
		{"transfer_tokens", func(t *told) any { return &t.TransferTokens }},
		{"overlap_off", func(t *told) any { return &t.NoOverlap }},
	}
}

// paramOf finds the parameter of a key; vLLM is told drafts in JSON.
func paramOf(name, key string) (param, bool) {
	if name == vllm && key == "mtp.tokens" {
		return param{key, func(t *told) any { return &t.Speculative }}, true
	}
	for _, p := range params() {
		if p.key == key {
			return p, true
		}
	}
	return param{}, false
}

// words are the values of a parameter as an engine reads them; none if it is not
// told.
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

// setWords is the way back.
func setWords(at any, words []string) error {
	list, isList := at.(*[]int)
	if !isList && len(words) != 1 {
		return fmt.Errorf("wants one value, got %d", len(words))
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
				return fmt.Errorf("wants whole numbers, got %q", w)
			}
			*list = append(*list, n)
		}
	}
	if err != nil {
		return fmt.Errorf("wants a number, got %q", words[0])
	}
	return nil
}

// named is a parameter with the name and the words it is told by.
type named struct {
	key, name string
	at        any
	words     []string
}

// spoken lists what an engine is told, in its release's names. What the release has
// no name for is left out: tell has refused what it could not do without.
func (v *Values) spoken(t *told) []named {
	var out []named
	for _, p := range params() {
		p, _ = paramOf(v.Engine, p.key)
		name := v.option(p.key)
		if name == "" || p.silent(t) {
			continue
		}
		if at := p.at(t); len(words(at)) > 0 {
			out = append(out, named{p.key, name, at, words(at)})
		}
	}
	for _, extra := range v.Extras {
		key, text, _ := strings.Cut(extra, "=")
		if name := v.option(key); name != "" {
			text = extraWord(v.Engine, key, text)
			out = append(out, named{key, name, &text, []string{text}})
		}
	}
	return out
}

// policies are what TensorRT-LLM calls reserving blocks to completion (1) and as
// they are needed (0).
func policies() map[string]string {
	return map[string]string{"1": "GUARANTEED_NO_EVICT", "0": "MAX_UTILIZATION"}
}

// extraWord is the value of an extra setting as the engine reads it.
func extraWord(name, key, text string) string {
	if w, ok := policies()[text]; ok && name == trtllm && key == "reserve" {
		return w
	}
	return text
}

// extraText is the way back.
func extraText(name, key, word string) string {
	if name == trtllm && key == "reserve" {
		for text, w := range policies() {
			if w == word {
				return text
			}
		}
	}
	return word
}

// extraKeys are the settings an engine has names for and told no fields.
func extraKeys(e *engine.Profile) []string {
	var out []string
	for _, s := range e.Settings() {
		if s.Option != "" && !slices.Contains(derived(), s.Key) && (s.Key != "reserve" || e.Name != sglang) {
			out = append(out, s.Key)
		}
	}
	return out
}
