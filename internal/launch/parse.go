package launch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
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
	// System is the device that a manifest selects, "" if it does not.
	System string
	// Line is where the command begins, 0 if that is unknown.
	Line int
	// Other are flags that are not part of a deployment, with their values.
	Other [][]string

	set    native
	given  map[string]bool // keys that the command sets
	places map[string]Place
	extras map[string]string
	config string   // the file with settings
	flags  []string // as written
	keys   []string // of the config file, as paths
	values []string // of both: "--kv-cache-dtype=fp8"

	by      Program
	longer  bool                      // the model has more positions than its config says
	fields  map[string]map[string]any // of flags that take JSON
	profile *engine.Profile           // of the newest release, with the names of all
}

// Kind is what sort of problem a Problem is.
type Kind int

// The kinds of problems that reading finds.
const (
	UnknownFlag Kind = iota
	UnknownKey
	ForeignFlag // of another engine
	LackedFlag  // that a release does not have
	BadValue
	MissingConfig
	OpenVariable // without a value in the files
	LostQuotes   // around JSON
	WrongComment
	SeveralDeployments
)

// Place is a line of a file: 0 if it is unknown.
type Place struct {
	File string
	Line int
	// Flag is what is written there, and Words its values.
	Flag  string
	Words []string
}

// Problem is something in a file that the engine does not accept.
type Problem struct {
	Kind    Kind
	File    string
	Line    int
	Flag    string
	Nearest string // the closest known flag
	Text    string
	// Unsure says that the engine may still start.
	Unsure bool
	// Gone says that the release does not have the flag or key any more, and Named that its successor, the Nearest, takes more than it. Words
	// are its values.
	Gone, Named bool
	Words       []string
}

// is reports the same problem at the same place.
func (p Problem) is(o Problem) bool {
	return p.Kind == o.Kind && p.File == o.File && p.Line == o.Line && p.Flag == o.Flag && p.Text == o.Text && p.Nearest == o.Nearest
}

// starts finds the engine that a command starts and where its arguments begin.
func starts(c call) (name string, by Program, rest call) {
	modules := map[string]string{
		"vllm.entrypoints.openai.api_server": VLLM, "vllm.entrypoints.api_server": VLLM, "sglang.launch_server": SGLang,
		"dynamo.vllm": VLLM, "dynamo.sglang": SGLang, "dynamo.trtllm": TRTLLM,
	}
	for i, w := range c.words {
		next := ""
		if i+1 < len(c.words) {
			next = c.words[i+1]
		}
		switch base := path.Base(w); {
		case w == "-m" && modules[next] != "":
			if strings.HasPrefix(next, "dynamo.") {
				return modules[next], DynamoWorker, c.from(i + 2)
			}
			return modules[next], OwnServer, c.from(i + 2)
		case (base == "vllm" || base == "sglang" || base == "vllm.entrypoints.cli.main") && next == "serve":
			return strings.SplitN(base, ".", 2)[0], OwnServer, c.from(i + 2)
		case base == "trtllm-serve" && next == "serve":
			return TRTLLM, OwnServer, c.from(i + 2)
		case base == "trtllm-serve" && next != "disaggregated" && next != "":
			return TRTLLM, OwnServer, c.from(i + 1)
		}
	}
	return "", "", call{}
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
func (l *Launch) parse(by Program, c call) (problems []Problem) {
	words := c.words
	for i := 0; i < len(words); {
		flag, line := words[i], c.lines[i]
		i++
		if !strings.HasPrefix(flag, "-") {
			if l.set.Model == "" && l.Engine != SGLang && !isOutput(flag) {
				l.set.Model = flag
				l.places["model"] = Place{File: l.File, Line: line, Flag: flag}
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
		if base, field, dotted := strings.Cut(flag, "."); dotted && l.Engine == VLLM && len(values) == 1 {
			flag, values = base, []string{l.nested(base, field, values[0])}
		}
		if problem := l.flag(by, Place{l.File, line, flag, values}); problem != nil {
			problems = append(problems, *problem)
		}
	}
	return problems
}

// nested is the JSON of a flag with one more field: vLLM takes "--speculative-config.method mtp" for {"method":"mtp"}.
func (l *Launch) nested(flag, field, value string) string {
	if l.fields == nil {
		l.fields = map[string]map[string]any{}
	}
	if l.fields[flag] == nil {
		l.fields[flag] = map[string]any{}
	}
	var typed any = value
	if isJSON(value) {
		typed = json.RawMessage(value)
	}
	l.fields[flag][strings.ReplaceAll(field, "-", "_")] = typed
	return compact(l.fields[flag])
}

// isOutput reports what another program prints: words that the file does not tell.
func isOutput(word string) bool { return strings.HasPrefix(word, "$(") }

// isNumber reports a negative number, which is a value and not a flag.
func isNumber(word string) bool {
	_, ok := number(word)
	return ok
}

// flag reads one flag.
func (l *Launch) flag(by Program, at Place) *Problem {
	at.Flag = l.abbreviated(at.Flag)
	flag, values := at.Flag, at.Words
	l.flags = append(l.flags, flag)
	if len(values) == 1 {
		l.values = append(l.values, strings.ReplaceAll(flag, "_", "-")+"="+values[0])
	}
	if _, seen := l.places[flag]; !seen {
		l.places[flag] = at
	}
	if l.worker(by, at) {
		return nil
	}
	key, negated := keyOf(l.profile, flag), false
	if rest, ok := strings.CutPrefix(flag, "--no-"); ok && key == "" {
		key, negated = keyOf(l.profile, "--"+rest), true
	}
	if key == "" {
		if l.names(by, at) {
			l.set.Model, values = values[0], nil
			at.Words, l.places["model"], l.places[flag] = nil, Place{File: at.File, Line: at.Line, Flag: l.set.Model}, Place{at.File, at.Line, flag, nil}
		}
		l.Other = append(l.Other, append([]string{flag}, values...))
		l.compilation(flag, values)
		l.longer = l.longer || lengthens(flag, strings.Join(values, " "))
		return l.unknown(by, at)
	}
	if strings.HasPrefix(key, "nodes.") {
		l.Other = append(l.Other, append([]string{flag}, values...))
	}
	l.places[key] = at
	return l.problem(at, l.take(key, flag, values, negated))
}

// worker reads a flag that names a file of settings, or the role of a worker of Dynamo, and reports whether it is one.
func (l *Launch) worker(by Program, at Place) bool {
	value := strings.Join(at.Words, "")
	switch flag := strings.ReplaceAll(at.Flag, "_", "-"); {
	case flag == "--extra-llm-api-options" || flag == "--config" || flag == "--extra-engine-args":
		l.config = value
		l.places["config"] = at
		return true
	case by != DynamoWorker || l.Engine == SGLang:
		return false
	default:
		role, ok := l.workerRole(flag, value)
		if ok {
			l.given["role"], l.set.Role = true, role
		}
		return ok
	}
}

// problem is an error of a value.
func (l *Launch) problem(at Place, err error) *Problem {
	p := &Problem{Kind: BadValue, File: l.File, Line: at.Line, Flag: at.Flag}
	var open *openError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &open):
		p.Kind, p.Unsure = OpenVariable, true
	}
	p.Text = err.Error()
	return p
}

// openError reports a value that the files do not tell.
type openError struct{ text string }

func (e *openError) Error() string {
	return fmt.Sprintf("the files set no value for %s: the default is used", e.text)
}

// lengthens reports a flag that gives a model more positions than its config says.
func lengthens(flag, value string) bool {
	switch strings.ReplaceAll(flag, "_", "-") {
	case "--rope-scaling":
		return true
	case "--hf-overrides", "--json-model-override-args":
		return strings.Contains(value, "rope_") || strings.Contains(value, "max_position")
	}
	return false
}

// Longer reports whether the command gives the model more positions than its config says, or lets users ask for more.
func (l *Launch) Longer() bool { return l.longer }

// roleWord is a role; workers that do both are called so by Dynamo, or by one of its names.
func roleWord(word string) string {
	if word == "agg" || word == "prefill_and_decode" {
		return ""
	}
	return word
}

// compilation reads the sizes of captured graphs in vLLM's --compilation-config.
func (l *Launch) compilation(flag string, values []string) {
	if l.Engine != VLLM || flag != "--compilation-config" && flag != "-O" && flag != "-cc" {
		return
	}
	var x struct {
		Sizes []int  `json:"cudagraph_capture_sizes"`
		Most  int    `json:"max_cudagraph_capture_size"`
		Mode  string `json:"cudagraph_mode"`
	}
	if json.Unmarshal([]byte(strings.Join(values, " ")), &x) != nil {
		return
	}
	if x.Mode == "FULL_DECODE_ONLY" { // vllm/config/compilation.py, CUDAGraphMode: steps with prompts replay none
		l.given["graph.eager_prefill"], l.extras["graph.eager_prefill"] = true, "true"
	}
	switch {
	case len(x.Sizes) > 0 && !l.given["graph.sizes"]:
		l.given["graph.sizes"], l.set.Graphs = true, x.Sizes
	case x.Most > 0:
		if _, ok := l.extras["graph.max_batch"]; !ok {
			l.given["graph.max_batch"], l.extras["graph.max_batch"] = true, strconv.Itoa(x.Most)
		}
	}
}

// unknown reports a flag that no release of the engine has. Dynamo's workers have more flags
// than the engine's own server, so only other engines' flags are reported.
func (l *Launch) unknown(by Program, at Place) *Problem {
	if !strings.HasPrefix(at.Flag, "--") || isOpen(at.Flag) {
		return nil
	}
	plain := strings.ReplaceAll(at.Flag, "_", "-")
	base, _, _ := strings.Cut(plain, ".") // "--kv-transfer-config.kv_role" sets a field of JSON
	if l.has(base) {
		return nil
	}
	out := &Problem{Kind: UnknownFlag, File: l.File, Line: at.Line, Flag: at.Flag, Text: "unknown flag of " + l.Engine}
	if other := l.foreign(base); other != nil {
		out.Kind, out.Text = ForeignFlag, "a flag of "+other.Name+", not of "+l.Engine
		key := keyOf(other, base)
		if key == "" && by == DynamoWorker {
			return nil // perhaps one of Dynamo's
		}
		out.Nearest = l.profile.Option(key, "")
		return out
	}
	if by == DynamoWorker {
		return nil
	}
	var known []string
	for _, f := range engine.Flags(l.Engine) {
		known = append(known, f.Name)
	}
	if len(known) == 0 {
		return nil
	}
	out.Nearest, _ = nearest.Match(at.Flag, known)
	return out
}

// has reports whether a release of the engine has a flag, or its opposite.
func (l *Launch) has(flag string) bool {
	opposite := "--" + strings.TrimPrefix(flag, "--no-")
	return slices.ContainsFunc(engine.Flags(l.Engine), func(f engine.Named) bool { return f.Name == flag || f.Name == opposite })
}

// abbreviated is the flag that Python's parser takes a shortened one for: the only one that begins so.
func (l *Launch) abbreviated(flag string) string {
	if l.Engine == TRTLLM || !strings.HasPrefix(flag, "--") || keyOf(l.profile, flag) != "" || l.has(strings.ReplaceAll(flag, "_", "-")) {
		return flag
	}
	out := ""
	for _, f := range engine.Flags(l.Engine) {
		if strings.HasPrefix(f.Name, flag) {
			if out != "" {
				return flag
			}
			out = f.Name
		}
	}
	return cmp.Or(out, flag)
}

// foreign is the engine that has a flag which this one does not have.
func (l *Launch) foreign(flag string) *engine.Profile {
	for _, name := range []string{VLLM, SGLang, TRTLLM} {
		if name == l.Engine {
			continue
		}
		p, err := engine.LookupVersion(name, "")
		if err != nil {
			continue
		}
		other := Launch{Engine: name, profile: p}
		if other.has(flag) && keyOf(l.profile, flag) == "" {
			return p
		}
	}
	return nil
}

// names reports that the word after a flag is the model: after a switch that is no setting.
func (l *Launch) names(by Program, at Place) bool {
	known := l.set.Model != "" || l.Engine == SGLang || by != OwnServer
	return !known && len(at.Words) == 1 && !isOutput(at.Words[0]) && l.has(strings.ReplaceAll(at.Flag, "_", "-")) && !Takes(at.Flag, at.Words)
}

// Takes reports whether a flag that is no setting takes the words after it: a switch takes none, and the word after it may be the model.
func Takes(flag string, words []string) bool {
	for _, prefix := range []string{"--enable-", "--disable-", "--no-", "--use-", "--is-", "--keep-", "--enforce-", "--record-", "--crash-", "--multi-step-"} {
		if strings.HasPrefix(strings.ReplaceAll(flag, "_", "-"), prefix) {
			return len(words) == 1 && (strings.EqualFold(words[0], "true") || strings.EqualFold(words[0], "false"))
		}
	}
	return true
}

// take sets a parameter.
func (l *Launch) take(key, flag string, values []string, negated bool) error {
	l.given[key] = true
	if i := slices.IndexFunc(values, isOutput); i > 0 {
		values = values[:i] // more flags that another program prints
	}
	all := l.set.params(l.Engine)
	i := slices.IndexFunc(all, func(p param) bool { return p.key == key })
	_, isBool := toBool(all, i)
	if len(values) > 0 && isOpen(values[0]) {
		switch {
		case isBool:
			values = nil
		case key == "model":
			l.set.Model = values[0]
			return nil // lint says that the model is not known
		case counts(key):
			delete(l.given, key)
			return &openError{values[0]}
		}
	}
	if i < 0 || slices.Contains(extraKeys(l.profile), key) {
		l.extras[key] = extraText(l.Engine, key, strings.Join(values, " "))
		return nil
	}
	to := all[i].at
	values = l.surplus(to, key, values)
	if isBool && (len(values) == 0 || negated || disables(key, flag)) {
		*to.(*bool) = !negated && !disables(key, flag)
		return nil
	}
	err := setWords(to, plainNumbers(l.Engine, key, values))
	if err != nil {
		delete(l.given, key)
	}
	return err
}

// counts reports a setting that a deployment depends on, unlike names and addresses.
func counts(key string) bool {
	return !strings.HasPrefix(key, "nodes.") && key != "served_name" || key == "nodes.count" || key == "nodes.dp_local"
}

// toBool is the field of a parameter that is a switch.
func toBool(all []param, i int) (*bool, bool) {
	if i < 0 {
		return nil, false
	}
	to, ok := all[i].at.(*bool)
	return to, ok
}

// surplus is what a flag takes of the words after it: one, or none for a switch. The rest is the model, where it
// follows the flags.
func (l *Launch) surplus(to any, key string, values []string) []string {
	takes := 1
	if _, isBool := to.(*bool); isBool && len(values) > 0 {
		if _, err := strconv.ParseBool(strings.ToLower(values[0])); err != nil {
			takes = 0
		}
	}
	if _, isList := to.(*[]int); isList || len(values) <= takes || key == "mtp.tokens" || key == "transfer" { // JSON may have blanks
		return values
	}
	if l.set.Model == "" && l.Engine != SGLang {
		l.set.Model = values[takes]
	}
	return values[:takes]
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
