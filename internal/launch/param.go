package launch

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// param is a setting of an engine: its key, and a pointer to its field, an int, float64,
// string, bool or a list of int.
type param struct {
	key string
	at  any
}

// params lists the parameters of an engine in the order of the files.
func (t *native) params(name string) []param {
	var out []param
	for field, at := range reflect.ValueOf(t).Elem().Fields() {
		switch key := field.Tag.Get("key"); {
		case key == "":
		case key == "mtp.tokens" && name == VLLM:
			out = append(out, param{key, &t.Speculative})
		default:
			out = append(out, param{key, at.Addr().Interface()})
		}
	}
	return out
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
	return v.parameters(&v.written)
}

// parameters leaves out settings without a name in the release; native has refused those
// that the layout needs.
func (v *Values) parameters(t *native) []Parameter {
	var out []Parameter
	for _, p := range t.params(v.Engine) {
		name := v.Option(p.key)
		// A switch of another setting, which most deployments leave alone, is written only if it is on.
		if name == "" || p.key == "attention_dp.waits" && !t.Waits {
			continue
		}
		if all := words(p.at); len(all) > 0 {
			out = append(out, Parameter{p.key, name, p.at, all})
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

// extraText inverts extraWord. Number formats have the names of PyTorch too.
func extraText(name, key, word string) string {
	if strings.HasSuffix(key, "_format") {
		word = strings.TrimPrefix(word, "torch.")
		return cmp.Or(map[string]string{"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}[word], word)
	}
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
