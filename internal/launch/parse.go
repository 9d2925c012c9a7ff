package launch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Launch is a parsed command that starts an engine.
type Launch struct {
	File   string // that contains it
	Engine string
	Role   deployment.Role
	Count  int // number of processes
	// Requested is the number of devices that a manifest requests for one worker on all its
	// nodes; 0 if it does not.
	Requested int
	// Version is the engine version of the container image, and Dynamo that of Dynamo; "" if unknown.
	Version, Dynamo string
	// Other are flags that are not part of a deployment, with their values.
	Other [][]string

	set    native
	given  map[string]bool // keys that the command sets
	extras map[string]string
	config string // the file with TensorRT-LLM's settings
	by     Program
	flags  []string // as written
	keys   []string // of the config file, as paths
	values []string // of both: "--kv-cache-dtype=fp8"

	profile *engine.Profile // of the newest release, with the names of all
}

// Problem is something in a file that the engine does not accept.
type Problem struct {
	File    string
	Flag    string
	Nearest string // the closest known flag
	Text    string
	// Unsure says that the engine may still start.
	Unsure bool
}

// starts finds the engine that a command starts and where its arguments begin.
func starts(words []string) (name string, by Program, rest []string) {
	modules := map[string]string{
		"vllm.entrypoints.openai.api_server": VLLM, "sglang.launch_server": SGLang,
		"dynamo.vllm": VLLM, "dynamo.sglang": SGLang, "dynamo.trtllm": TRTLLM,
	}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch base := path.Base(w); {
		case w == "-m" && modules[next] != "":
			if strings.HasPrefix(next, "dynamo.") {
				return modules[next], DynamoWorker, words[i+2:]
			}
			return modules[next], OwnServer, words[i+2:]
		case base == "vllm" && next == "serve", base == "sglang" && next == "serve":
			return base, OwnServer, words[i+2:]
		case base == "trtllm-serve" && next == "serve":
			return TRTLLM, OwnServer, words[i+2:]
		case base == "trtllm-serve" && next != "disaggregated" && next != "":
			return TRTLLM, OwnServer, words[i+1:]
		}
	}
	return "", "", nil
}

// other spellings that the engines' parsers accept.
func spellings() map[string]map[string]string {
	return map[string]map[string]string{
		VLLM: {
			"-tp": "layout.tp", "-pp": "layout.pp", "-dp": "layout.dp", "-dcp": "layout.dcp", "-dpl": "nodes.dp_local", "-ep": "layout.expert_switch",
			"-q": "checkpoint", "-n": "nodes.count", "-r": "nodes.rank", "--model": "model", "-sc": "mtp.tokens",
		},
		SGLang: {
			"--tp-size": "layout.tp", "--tp": "layout.tp", "--pp-size": "layout.pp", "--pp": "layout.pp", "--dp-size": "layout.dp", "--dp": "layout.dp",
			"--ep-size": "layout.ep", "--ep": "layout.ep", "--moe-dp-size": "layout.moe_dp", "--dcp-size": "layout.dcp",
			"--attn-dp-size": "layout.attention_dp", "--model": "model",
		},
		TRTLLM: {
			"--tp-size": "layout.tp", "--pp-size": "layout.pp", "--ep-size": "layout.ep", "--expert-parallel-size": "layout.ep", "--model": "model",
			"--model-path": "model", "--served-model-name": "served_name", "--kv-cache-free-gpu-memory-fraction": "memory_share",
			"--free-gpu-memory-fraction": "memory_share", "--max-seq-len": "max_context", "--enable-attention-dp": "attention_dp.switch",
		},
	}
}

// keyOf finds the setting of a flag. "_" and "-" are the same to all these parsers.
func keyOf(p *engine.Profile, flag string) string {
	plain := flag
	if strings.HasPrefix(flag, "--") {
		plain = strings.ReplaceAll(flag, "_", "-")
	}
	if key, ok := spellings()[p.Name][plain]; ok {
		return key
	}
	for key := range p.Options {
		for _, name := range p.OptionNames(key) {
			if plain == name || p.Name == TRTLLM && plain == "--"+strings.ReplaceAll(name, "_", "-") {
				return key
			}
		}
	}
	return ""
}

// parse reads the arguments of an engine.
func (l *Launch) parse(by Program, words []string) (problems []Problem) {
	for i := 0; i < len(words); {
		flag := words[i]
		i++
		if !strings.HasPrefix(flag, "-") {
			if l.set.Model == "" && l.Engine != SGLang {
				l.set.Model = flag
			}
			continue
		}
		var values []string
		if name, value, ok := strings.Cut(flag, "="); ok {
			flag, values = name, []string{value}
		}
		for i < len(words) && len(flag) > 1 && (!strings.HasPrefix(words[i], "-") || isNumber(words[i])) {
			values = append(values, words[i])
			i++
		}
		if problem := l.flag(by, flag, values); problem != nil {
			problems = append(problems, *problem)
		}
	}
	return problems
}

// isNumber reports a negative number, which is a value and not a flag.
func isNumber(word string) bool {
	_, ok := number(word)
	return ok
}

// flag reads one flag.
func (l *Launch) flag(by Program, flag string, values []string) *Problem {
	l.by, l.flags = by, append(l.flags, flag)
	if len(values) == 1 {
		l.values = append(l.values, strings.ReplaceAll(flag, "_", "-")+"="+values[0])
	}
	switch {
	case flag == "--extra_llm_api_options" || flag == "--config" && l.Engine == TRTLLM || flag == "--extra-engine-args":
		l.config = strings.Join(values, "")
		return nil
	case by == DynamoWorker && l.workerRole(flag, values) != "":
		l.given["role"], l.set.Role = true, l.workerRole(flag, values)
		return nil
	}
	key, negated := keyOf(l.profile, flag), false
	if rest, ok := strings.CutPrefix(flag, "--no-"); ok && key == "" {
		key, negated = keyOf(l.profile, "--"+rest), true
	}
	if key == "" {
		l.Other = append(l.Other, append([]string{flag}, values...))
		return l.unknown(by, flag)
	}
	if strings.HasPrefix(key, "nodes.") {
		l.Other = append(l.Other, append([]string{flag}, values...))
	}
	if err := l.take(key, flag, values, negated); err != nil {
		return &Problem{File: l.File, Flag: flag, Text: err.Error()}
	}
	return nil
}

// unknown reports a flag that no release of the engine has. Dynamo's workers have more flags
// than the engine's own server and are not checked.
func (l *Launch) unknown(by Program, flag string) *Problem {
	if by == DynamoWorker || !strings.HasPrefix(flag, "--") {
		return nil
	}
	var known []string
	for _, f := range engine.Flags(l.Engine) {
		known = append(known, f.Name)
	}
	plain := strings.ReplaceAll(flag, "_", "-")
	base, _, _ := strings.Cut(plain, ".") // "--kv-transfer-config.kv_role" sets a field of JSON
	if len(known) == 0 || slices.Contains(known, base) || slices.Contains(known, "--"+strings.TrimPrefix(base, "--no-")) {
		return nil
	}
	near, _ := nearest.Match(flag, known)
	return &Problem{File: l.File, Flag: flag, Nearest: near, Text: "unknown flag of " + l.Engine}
}

// take sets a parameter.
func (l *Launch) take(key, flag string, values []string, negated bool) error {
	l.given[key] = true
	all := l.set.params(l.Engine)
	i := slices.IndexFunc(all, func(p param) bool { return p.key == key })
	if i < 0 || slices.Contains(extraKeys(l.profile), key) {
		l.extras[key] = extraText(l.Engine, key, strings.Join(values, " "))
		return nil
	}
	to := all[i].at
	if _, isBool := to.(*bool); isBool && (len(values) == 0 || negated || disables(key, flag)) {
		*to.(*bool) = !negated && !disables(key, flag)
		return nil
	}
	err := setWords(to, plainNumbers(l.Engine, key, values))
	if err != nil {
		delete(l.given, key)
	}
	return err
}

// plainNumbers are values with vLLM's short forms of large numbers written out: "32k" is
// 32,000 and "32K" is 32,768 (vllm/engine/arg_utils.py, human_readable_int).
func plainNumbers(name, key string, values []string) []string {
	if name != VLLM || len(values) != 1 || key != "max_context" && key != "token_budget" {
		return values
	}
	word := values[0]
	if key == "max_context" && (word == "auto" || word == "-1") {
		return []string{"0"} // as long as the model and the cache allow
	}
	units := map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
	for unit, by := range units {
		if x, err := strconv.ParseFloat(strings.TrimSuffix(word, unit), 64); err == nil && strings.HasSuffix(word, unit) {
			return []string{strconv.Itoa(int(x * by))}
		}
	}
	return values
}

// settle derives the role, and reads settings in JSON.
func (l *Launch) settle() error {
	t := &l.set
	l.Role = deployment.Both
	switch {
	case t.Role == string(deployment.Prefill) || t.Role == string(deployment.Decode):
		l.Role = deployment.Role(t.Role)
	case l.Engine == VLLM && t.Transfer != "":
		var x transfer
		if err := json.Unmarshal([]byte(t.Transfer), &x); err != nil {
			return fmt.Errorf("the KV transfer is not JSON: %w", err)
		}
		if r, ok := map[string]deployment.Role{"kv_producer": deployment.Prefill, "kv_consumer": deployment.Decode}[x.Role]; ok {
			l.Role = r
		}
	case l.Engine == TRTLLM && (t.Transfer != "" || t.TransferTokens > 0):
		l.Role = deployment.Decode
		if t.NoOverlap {
			l.Role = deployment.Prefill
		}
	}
	if l.Engine == VLLM && t.Speculative != "" {
		var x speculative
		if err := json.Unmarshal([]byte(t.Speculative), &x); err != nil {
			return fmt.Errorf("the speculation is not JSON: %w", err)
		}
		t.MTP, t.MTPMethod = x.Tokens, string(x.Method)
		for i := range t.Graphs {
			t.Graphs[i] /= 1 + t.MTP
		}
	}
	l.settleDrafts()
	return nil
}

// settleDrafts finds the number of drafts where it has another name than that of MTP modules.
func (l *Launch) settleDrafts() {
	t := &l.set
	switch by := l.drafter(); {
	case by == draft.NGram && l.Engine == SGLang:
		t.MTP = max(0, t.MTPDraft-1)
	case by != "":
		t.MTP = cmp.Or(t.MTP, t.DraftTokens)
	}
}

// drafter is what drafts tokens, in the words of the engines; "" is the model's own MTP modules.
func (l *Launch) drafter() draft.Method {
	switch strings.ToLower(l.set.MTPMethod) {
	case "ngram":
		return draft.NGram
	case "eagle3":
		return draft.EAGLE3
	case "eagle": // SGLang calls MTP modules so too
		if l.Engine == TRTLLM {
			return draft.EAGLE3
		}
	}
	return ""
}

// nodes is the number of nodes of a worker according to its flags.
func (l *Launch) nodes() int {
	if n, ok := number(l.extras["nodes.count"]); ok {
		return max(1, n)
	}
	if local, ok := number(l.extras["nodes.dp_local"]); ok && local > 0 {
		return max(1, l.set.DP/local)
	}
	return 1
}

// follows reports a process on a node other than the worker's first.
func (l *Launch) follows() bool {
	for _, f := range l.Other {
		switch strings.ReplaceAll(f[0], "_", "-") {
		case "--headless":
			return true
		case "--node-rank", "-r":
			return len(f) > 1 && f[1] != "0"
		}
	}
	return false
}

// Given reports whether the command sets an option, by its key.
func (l *Launch) Given(key string) bool { return l.given[key] }

// Pool is the pool that the launch starts, with only the settings it sets.
func (l *Launch) Pool() deployment.Pool {
	t := &l.set
	layout, batch := t.layout(l.Engine)
	out := deployment.Pool{Role: l.Role, Layout: layout, MTP: t.MTP, Drafter: l.drafter()}
	set := func(key string, value any) { out.Settings = append(out.Settings, fmt.Sprintf("%s=%v", key, value)) }
	if l.given["max_context"] {
		set("max_context", t.MaxLength)
	}
	if l.given["max_sequences"] {
		set("max_sequences", batch)
	}
	l.budget(set)
	if l.given["memory_share"] {
		set("memory_share", words(&t.MemoryShare)[0])
	}
	if l.given["kv_format"] {
		set("kv_format", map[bool]string{true: "fp8", false: t.KV}[strings.HasPrefix(t.KV, "fp8")])
	}
	if l.given["prefix_caching"] || l.Engine == SGLang {
		set("prefix_caching", l.Engine == SGLang && !l.given["prefix_caching"] || t.PrefixCaching)
	}
	switch {
	case t.NoGraphs:
		set("graph.max_batch", 0)
	case len(t.Graphs) > 0:
		set("graph.max_batch", slices.Max(t.Graphs))
	}
	for _, s := range l.profile.Settings() {
		if text, ok := l.extras[s.Key]; ok {
			set(s.Key, text)
		}
	}
	return out
}

// budget sets the token budget and chunked prefill. One flag of SGLang sets both.
func (l *Launch) budget(set func(string, any)) {
	t := &l.set
	switch {
	case l.Engine == SGLang && t.TokenBudget < 0:
		if t.PrefillLimit > 0 {
			set("token_budget", t.PrefillLimit)
		}
		set("chunked_prefill", false)
		return
	case l.given["token_budget"]:
		set("token_budget", t.TokenBudget)
	}
	if l.given["chunked_prefill"] || l.Engine == SGLang && l.given["token_budget"] {
		set("chunked_prefill", l.Engine == SGLang || t.ChunkedPrefill)
	}
}
