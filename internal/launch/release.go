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

// Lacks reports the flags of a launch, their values, and the keys of its config file, that a release of its engine ("" is
// the newest) does not have but another has; of a worker of Dynamo, its own flags that the release of Dynamo does not
// have. Flags that no release has are reported when reading.
func (l *Launch) Lacks(release string) []Problem {
	var out []Problem
	for _, flag := range l.flags {
		plain := strings.ReplaceAll(flag, "_", "-")
		list, at := l.Engine, release
		if own := dynamoList(l.Engine); l.by == DynamoWorker && len(engine.Spans(own, plain)) > 0 {
			list, at = own, cmp.Or(l.Dynamo, engine.Carrier(l.Engine, release).Version)
		}
		if text, unsure := lacks(list, plain, at, "flag"); text != "" {
			place := l.places[flag]
			p := Problem{Kind: LackedFlag, File: l.File, Line: place.Line, Flag: flag, Words: place.Words, Text: text, Unsure: unsure}
			if now := l.profile.Option(keyOf(l.profile, flag), release); now != plain {
				p.Nearest = now
			}
			l.succeeded(&p, list, plain, at)
			out = append(out, p)
		}
	}
	for _, key := range l.keys {
		if text, unsure := lacks(l.Engine+"-keys", key, release, "key"); text != "" {
			at := l.places[key]
			p := Problem{Kind: LackedFlag, File: cmp.Or(at.File, l.config), Line: at.Line, Flag: key, Words: at.Words, Text: text, Unsure: unsure}
			if now := l.profile.Option(configKey(l.profile, key), release); now != key {
				p.Nearest = now
			}
			l.succeeded(&p, l.Engine+"-keys", key, release)
			out = append(out, p)
		}
	}
	for _, value := range l.values {
		file, list := l.File, l.Engine
		if !strings.HasPrefix(value, "-") {
			file, list = l.config, l.Engine+"-keys"
		}
		if text, unsure := lacks(list, value, release, "value"); text != "" {
			out = append(out, Problem{File: file, Flag: value, Text: text, Unsure: unsure})
		}
	}
	return out
}

// succeeded completes a problem about a flag or key that is gone: what the release has instead, which is not always the other name of the
// same setting.
func (l *Launch) succeeded(p *Problem, list, name, release string) {
	spans := engine.Spans(list, name)
	if until := spans[len(spans)-1].Until; until == "" || release != "" && version.Compare(release, until) < 0 {
		return
	}
	p.Gone = true
	if s := engine.Succeeds(list, name, release, p.Words); s.Name != "" {
		p.Nearest, p.Named = strings.ReplaceAll(s.Name, "{layout.tp}", strconv.Itoa(max(1, l.set.TP))), s.Named
	}
}

// dynamoList is the list of flags of Dynamo's workers with an engine.
func dynamoList(engineName string) string { return "dynamo." + engineName }

// workerRoles are the flags that set the role of Dynamo's workers with vLLM before --disaggregation-mode.
func workerRoles() map[string]deployment.Role {
	return map[string]deployment.Role{"--is-prefill-worker": deployment.Prefill, "--is-decode-worker": deployment.Decode}
}

// workerRole is the role that a flag of Dynamo's own sets, "" for both, and whether it is such a flag.
func (l *Launch) workerRole(flag, value string) (string, bool) {
	if flag == "--disaggregation-mode" {
		return roleWord(value), true
	}
	role, ok := workerRoles()[flag]
	return string(role), ok
}

// roleFlags set the role of a worker of Dynamo; decode workers with vLLM needed none at first.
func (v *Values) roleFlags() []string {
	has := func(flag string) bool {
		return engine.Has(dynamoList(v.Engine), flag, engine.Carrier(v.Engine, v.Version).Version)
	}
	if v.Engine != VLLM || has("--disaggregation-mode") {
		return []string{"--disaggregation-mode", string(v.Role)}
	}
	for flag, role := range workerRoles() {
		if role == v.Role && has(flag) {
			return []string{flag}
		}
	}
	return nil
}

// The images of the projects, and of Dynamo with each engine.
const (
	VLLMImage   = "vllm/vllm-openai"
	VLLMROCm    = VLLMImage + "-rocm"
	SGLangImage = "lmsysorg/sglang"
	// Images of the ports to Ascend's devices: a suffix or part of the tag names the chip.
	VLLMAscend  = "quay.io/ascend/vllm-ascend"
	SGLangNPU   = "quay.io/ascend/sglang"
	TRTLLMImage = "nvcr.io/nvidia/tensorrt-llm/release"
)

// DynamoImage is Dynamo's image with an engine.
func DynamoImage(engineName string) string {
	return "nvcr.io/nvidia/ai-dynamo/" + map[string]string{VLLM: "vllm", SGLang: "sglang", TRTLLM: "tensorrtllm"}[engineName] + "-runtime"
}

// imageReleases are the releases of the engine, and of Dynamo, in an image of one of the projects; "" for other images and
// for tags like "latest".
func imageReleases(image string) (release, dynamo string) {
	colon := max(0, strings.LastIndexByte(image, ':')) // a registry may have a port
	name, tag := image[:colon], strings.TrimPrefix(image[colon:], ":")
	of := func(s string) bool { return name == s || strings.HasSuffix(name, "/"+s) }
	for _, e := range []string{VLLM, SGLang, TRTLLM} {
		if !of(DynamoImage(e)) {
			continue
		}
		if r := engine.Published("dynamo", tag); r != nil {
			return r.Carries[e], r.Version
		}
	}
	if i := strings.LastIndex(tag, "-v"); i >= 0 && of(SGLangNPU) { // "cann9.0.0-a3-v0.5.16"
		tag = tag[i+1:]
	}
	release, _, _ = strings.Cut(strings.TrimPrefix(tag, "v"), "-") // "v0.5.9-rocm700-mi30x"
	if !slices.ContainsFunc([]string{VLLMImage, VLLMROCm, VLLMAscend, SGLangImage, SGLangNPU, TRTLLMImage}, of) || version.Check(release) != nil {
		return "", ""
	}
	return release, ""
}

// lacks says why a release does not have a name of a list, and whether that is uncertain: its flags were not read, and
// those of the releases beside it stand for them. It is "" if the release has the name, or none does.
func lacks(list, name, release, what string) (text string, unsure bool) {
	if engine.Has(list, name, release) {
		return "", false
	}
	program, _, _ := strings.Cut(list, ".") // "dynamo.vllm"
	if r := engine.Published(strings.TrimSuffix(program, "-keys"), release); release != "" && (r == nil || r.Unread) {
		unsure = true
	}
	spans := engine.Spans(list, name)
	for _, r := range spans {
		if release != "" && version.Compare(release, r.Since) < 0 {
			return fmt.Sprintf("%s does not have this %s yet; it was first seen in %s", release, what, r.Since), unsure
		}
	}
	return fmt.Sprintf("this %s was removed, at the latest in %s", what, spans[len(spans)-1].Until), unsure
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
		value = Value(p, key, value)
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

// Value is the value of a setting of a pool in the syntax of its engine.
func Value(p *deployment.Served, key, value string) string {
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
	if key == "graph.max_batch" && name == "" {
		name = e.Option("graph.sizes", release)
	}
	return cmp.Or(name, key)
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
