package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Lacks reports the flags of a launch, and the keys of its config file, that a release of its engine ("" is the newest) does
// not have but another has. Flags that no release has are reported when reading.
func (l *Launch) Lacks(release string) []Problem {
	var out []Problem
	for _, flag := range l.flags {
		plain := strings.ReplaceAll(flag, "_", "-")
		text, unsure := lacks(engine.Flags(l.Engine), plain, release, "flag")
		if text == "" {
			continue
		}
		p := Problem{Kind: LackedFlag, File: l.File, Line: l.places[flag].Line, Flag: flag, Text: text, Unsure: unsure}
		if now := l.profile.Option(keyOf(l.profile, flag), release); now != plain {
			p.Nearest = now
		}
		out = append(out, p)
	}
	for _, key := range l.keys {
		if text, unsure := lacks(engine.Keys(l.Engine), key, release, "key"); text != "" {
			at := l.places[key]
			out = append(out, Problem{Kind: LackedFlag, File: cmp.Or(at.File, l.config), Line: at.Line, Flag: key, Text: text, Unsure: unsure})
		}
	}
	return out
}

// lacks says why a release does not have a flag or key of a list, as absent does; "" if it
// has it, or none does.
func lacks(all []engine.Named, name, release, what string) (text string, unsure bool) {
	i := slices.IndexFunc(all, func(n engine.Named) bool { return n.Name == name })
	if i < 0 {
		return "", false
	}
	return absent(all, &all[i].Versions, release, what)
}

// absent says why a release does not have a flag with a range of versions, and whether that
// is uncertain: not every release was examined, so a flag may be older than the release in
// which it was first seen.
func absent(all []engine.Named, r *engine.Range, release, what string) (text string, unsure bool) {
	switch {
	case r.Until != "" && (release == "" || version.Compare(release, r.Until) >= 0):
		return fmt.Sprintf("this %s was removed, at the latest in %s", what, r.Until), false
	case release != "" && r.Since != "" && version.Compare(release, r.Since) < 0:
		looked := func(n engine.Named) bool { // an examined release between the two does not have the flag
			for _, v := range []string{n.Versions.Since, n.Versions.Until} {
				if v != "" && version.Compare(release, v) <= 0 && version.Compare(v, r.Since) < 0 {
					return true
				}
			}
			return false
		}
		return fmt.Sprintf("%s does not have this %s yet; it was first seen in %s", release, what, r.Since), !slices.ContainsFunc(all, looked)
	}
	return "", false
}

// Say is a setting of a pool in the syntax of its engine in a release ("" is the newest): a
// flag and its value, or a key and value of TensorRT-LLM's file. A setting without a name in
// the engine keeps its own; a setting made by omitting a flag is "".
func Say(p *deployment.Served, release, key, value string) string {
	e := p.Engine
	name := Name(e, release, key)
	switch {
	case key == "chunked_prefill" && value == "true" && e.Name == SGLang: // one flag sets both
		return e.Option("token_budget", release) + " " + strconv.Itoa(e.TokenBudget)
	case name == key:
		return key + "=" + value
	case key == "graph.max_batch" && value == "0" && e.Option("graph.off", release) != "":
		name, value = e.Option("graph.off", release), ""
	case key == "graph.max_batch" && name == e.Option("graph.sizes", release):
		n, _ := strconv.Atoi(value)
		sizes := engine.GraphSizes(n)
		value = shortened(words(&sizes))
	case key == "prefix_caching" || key == "chunked_prefill":
		return truth(e.Name, key, name, value)
	default:
		value = valueWord(p, key, value)
	}
	return pair(e.Name, name, value)
}

// pair is a flag, or a key of TensorRT-LLM's file, with its value.
func pair(engineName, name, value string) string {
	if engineName == TRTLLM {
		return name + ": " + value
	}
	return strings.TrimSpace(name + " " + value)
}

// valueWord is a value in the engine's syntax.
func valueWord(p *deployment.Served, key, value string) string {
	switch {
	case p.Engine.Name != SGLang:
	case key == "kv_format" && value == "fp8":
		return "fp8_e4m3"
	case key == "max_sequences":
		n, _ := strconv.Atoi(value)
		return strconv.Itoa(n * sharing(p))
	}
	return extraWord(p.Engine.Name, key, value)
}

// Value is the value of a setting of a pool in the syntax of its engine.
func Value(p *deployment.Served, key, value string) string { return valueWord(p, key, value) }

// shortened is a list of sizes without its middle.
func shortened(sizes []string) string {
	const most, ends = 8, 4
	if len(sizes) > most {
		sizes = slices.Concat(sizes[:ends], []string{"…"}, sizes[len(sizes)-2:])
	}
	return strings.Join(sizes, " ")
}

// Name is an engine's name for a setting in a release; the setting's own key if it has none.
func Name(e *engine.Profile, release, key string) string {
	name := e.Option(key, release)
	if key == "graph.max_batch" {
		if missing, _ := lacks(engine.Flags(e.Name), name, release, "flag"); name == "" || missing != "" {
			name = e.Option("graph.sizes", release)
		}
	}
	if name == "" {
		return key
	}
	return name
}

// sharing is the number of data-parallel attention ranks that share SGLang's limit of
// sequences.
func sharing(p *deployment.Served) int {
	l := &p.Spec.Layout
	if !p.Spec.Model.HasExperts() || l.MoEDP == l.DP {
		return 1
	}
	return max(1, l.DP)
}

// truth is a setting that is on or off.
func truth(name, key, flag, value string) string {
	on := value == "true"
	switch {
	case name == TRTLLM:
		return flag + ": " + value
	case disables(key, flag) == on || !on && isSwitch(name, key):
		return "" // set by leaving the flag out
	case !on && !disables(key, flag):
		return "--no-" + strings.TrimPrefix(flag, "--")
	}
	return flag
}

// Words is a size in the syntax of an engine.
func Words(e *engine.Profile, release, key string, n int) string {
	return pair(e.Name, Name(e, release, key), strconv.Itoa(n))
}
