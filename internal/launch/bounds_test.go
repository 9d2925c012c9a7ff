package launch_test

import (
	"errors"
	"fmt"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// read reads a file, and reports what is over its bounds.
func read(name, text string) (over error) {
	_, err := launch.Read(launch.File{Path: name, Data: []byte(text)})
	var large *bound.TooLargeError
	var most *bound.OverError
	if errors.As(err, &large) || errors.As(err, &most) {
		return err
	}
	return nil
}

// nested is a construct of the shell's grammar that can be inside itself: its beginning, what is inside all, its end.
type nested struct{ begin, inside, end string }

// grammar is every construct that can be inside itself, and every chain.
func grammar() map[string]nested {
	return map[string]nested{
		"subshell":              {"(", "a", ")"},
		"block":                 {"{ ", "a;", " };"},
		"substitution":          {"$(", "a", ")"},
		"quoted substitution":   {`"$(`, "a", `)"`},
		"process substitution":  {"a <(", "a", ")"},
		"process output":        {"a >(", "a", ")"},
		"parameter":             {"${a:-", "a", "}"},
		"quoted parameter":      {`"${a:-`, "a", `}"`},
		"pattern":               {"${a#", "a", "}"},
		"replacement":           {"${a//b/", "a", "}"},
		"replaced":              {"${a//", "a", "/b}"},
		"index":                 {"${a[", "0", "]}"},
		"slice":                 {"${a:", "0", ":1}"},
		"arithmetic":            {"$((", "1", "))"},
		"old arithmetic":        {"$[", "1", "]"},
		"parentheses":           {"(", "1", ")"},
		"arithmetic command":    {"((", "1", "))"},
		"if":                    {"if a; then ", "a;", " fi;"},
		"condition":             {"if ", "a;", " then a; fi;"},
		"else":                  {"if a; then a; else ", "a;", " fi;"},
		"elif":                  {"", "if a; then a;", " elif a; then a;"},
		"while":                 {"while a; do ", "a;", " done;"},
		"while condition":       {"while ", "a;", " do a; done;"},
		"until":                 {"until a; do ", "a;", " done;"},
		"for":                   {"for a in b; do ", "a;", " done;"},
		"for with braces":       {"for a in b; { ", "a;", " };"},
		"counting for":          {"for ((;;)); do ", "a;", " done;"},
		"select":                {"select a in b; do ", "a;", " done;"},
		"case":                  {"case a in a) ", "a;", " esac;"},
		"case word":             {"case ", "a", " in a) ;; esac"},
		"function":              {"f() { ", "a;", " };"},
		"function word":         {"function f { ", "a;", " };"},
		"function of function":  {"f() ", "{ a; }", ""},
		"test parentheses":      {"( ", "a", " )"},
		"test negation":         {"! ", "a", ""},
		"test of substitution":  {"[[ -n $(", "a", ") ]]"},
		"array":                 {"a=($(", "a", "))"},
		"element":               {"a[$(", "a", ")]=1"},
		"assignment":            {"a=$(", "a", ") b"},
		"declaration":           {"declare a=$(", "a", ")"},
		"let":                   {"let a=$(", "a", ")"},
		"coprocess":             {"coproc { ", "a;", " };"},
		"time":                  {"time ", "a", ""},
		"here-document":         {"cat <<E\n$(", "a", ")\nE\n"},
		"here-string":           {"cat <<<$(", "a", ")"},
		"redirection":           {"a >$(", "a", ")"},
		"backquotes":            {"`", "a", "`"},
		"extended pattern":      {"@(", "a", ")"},
		"brace expansion":       {"{a,", "b", "}"},
		"minus":                 {"- ", "1", ""},
		"not":                   {"! ", "1", ""},
		"complement":            {"~", "1", ""},
		"ternary":               {"1?", "1", ":1"},
		"ternary otherwise":     {"1?1:", "1", ""},
		"power":                 {"2**", "1", ""},
		"arithmetic assignment": {"a=", "1", ""},
		"comma":                 {"1,", "1", ""},
		"sum":                   {"1+", "1", ""},
		"and":                   {"a&&", "a", ""},
		"or":                    {"a||", "a", ""},
		"pipe":                  {"a|", "a", ""},
		"pipe with errors":      {"a|&", "a", ""},
		"test and":              {"a && ", "a", ""},
		"test or":               {"a || ", "a", ""},
		"commands":              {"a;", "a", ""},
		"background":            {"a&", "a", ""},
		"lines":                 {"a\n", "a", ""},
		"negations":             {"! a | ", "a", ""},
		"words":                 {"a ", "a", ""},
		"parts of a word":       {"$a", "a", ""},
		"comments":              {"#a\n", "a", ""},
		"continued lines":       {"\\\n", "a", ""},
	}
}

// around is what a construct stands in that is no command.
func around(name string) (before, after string) {
	switch name {
	case "parameter", "quoted parameter", "pattern", "replacement", "replaced", "index", "slice", "arithmetic", "old arithmetic", "here-document", "backquotes",
		"extended pattern", "brace expansion":
		return "echo ", ""
	case "parentheses", "minus", "not", "complement", "ternary", "ternary otherwise", "power", "arithmetic assignment", "comma", "sum":
		return "echo $((", "))"
	case "test parentheses", "test negation", "test and", "test or":
		return "[[ ", " ]]"
	case "elif":
		return "", " fi"
	}
	return "", ""
}

// script is a construct inside itself, some deep. It may be wrong: the parser is as deep in it before it finds out.
func (c nested) script(name string, deep int, closed bool) string {
	before, after := around(name)
	text := before + strings.Repeat(c.begin, deep) + c.inside
	if closed {
		text += strings.Repeat(c.end, deep) + after
	}
	return text + "\n"
}

// TestNesting: every construct of the grammar may be twenty deep in itself, and returns with as many as there may be; with one
// more it is refused, and so with as many as a file has room for, whether they end or not.
func TestNesting(t *testing.T) {
	for name, c := range grammar() {
		t.Run(name, func(t *testing.T) {
			if err := read("run.sh", c.script(name, 20, true)); err != nil {
				t.Errorf("20 deep: %v", err)
			}
			refused := func(deep int) bool { return read("run.sh", c.script(name, deep, true)) != nil }
			const many = 4 * bound.Nesting // more cannot be, where there is a bound
			if most := sort.Search(many, refused) - 1; most+1 < many && (most < 20 || refused(most) || !refused(most+1) || !refused(many)) {
				t.Errorf("%d are read, %d refused", most, most+1)
			}
			if c.end != "" {
				room := (int(bound.Launch.Bytes()) - 100) / max(1, len(c.begin))
				_ = read("run.sh", c.script(name, room, false))
			}
		})
	}
}

// TestNestingOfAll: constructs in each other are as deep as they are together.
func TestNestingOfAll(t *testing.T) {
	var begin, end string
	for _, c := range []nested{{"(", "", ")"}, {"{ ", "", ";}"}, {"if a; then ", "", "; fi"}, {"while a; do ", "", "; done"}, {"case a in a) ", "", ";; esac"}, {"echo $(", "", ")"}, {"f() { ", "", "; }"}} {
		begin, end = begin+c.begin, c.end+end
	}
	for _, deep := range []int{3, 20_000} {
		text := strings.Repeat(begin, deep) + "a" + strings.Repeat(end, deep)
		if err := read("run.sh", text[:min(len(text), int(bound.Launch.Bytes()))]); (err != nil) != (deep > 3) {
			t.Errorf("%d of each: %v", deep, err)
		}
	}
}

// TestGrowth: what a few lines make of themselves is refused with the bound and the line, and takes little memory until then.
func TestGrowth(t *testing.T) {
	const start = "x=aaaaaaaaaaaaaaaa\n"
	const serve = "\nvllm serve Qwen/Qwen3-32B\n"
	long := func(n int) string { return "x=" + strings.Repeat("a", n) + "\n" }
	text, all, words := "bytes that one text expands to", "bytes of texts to expand or compare", "words that one word becomes"
	for name, c := range map[string]struct{ script, want string }{
		"variable":          {start + strings.Repeat("x=$x$x\n", 40), "line 18: more than 1,048,576 " + text},
		"quoted":            {start + strings.Repeat("x=\"$x$x\"\n", 40), "line 18: more than 1,048,576 " + text},
		"appended":          {start + strings.Repeat("x+=$x\n", 40), text},
		"printed":           {start + strings.Repeat("x=$(echo $x$x)\n", 40), text},
		"here-document":     {start + strings.Repeat("x=$(cat <<E\n$x$x\nE\n)\n", 40), text},
		"exported":          {start + strings.Repeat("export x=$x$x\n", 40), text},
		"default":           {start + strings.Repeat("x=${y:-$x$x}\n", 40), text},
		"set and used":      {long(50_000) + "echo ${y:=$x}" + strings.Repeat("$y", 50_000), text},
		"array":             {"x=(a a a a)\n" + strings.Repeat("x=(${x[@]} ${x[@]})\n", 40), "more than 512 " + words},
		"quoted array":      {"x=(a a a a)\n" + strings.Repeat("x=(\"${x[@]}\" \"${x[@]}\")\n", 40), words},
		"joined array":      {"x=(a a a a)\n" + strings.Repeat("x=\"${x[*]} ${x[*]}\"\n", 40), text},
		"arguments":         {"set -- aaaa aaaa\n" + strings.Repeat("set -- $@ $@\n", 40), words},
		"function":          {"f() { x=$1$1; }\nx=aaaaaaaaaaaaaaaa\n" + strings.Repeat("f $x\n", 40), text},
		"in a loop":         {start + "for i in {1..100}; do x=$x$x; done", text},
		"indirect":          {start + "y=x\n" + strings.Repeat("x=${!y}${!y}\n", 40), text},
		"replaced":          {long(60_000) + "y=${x//a/$x}", "line 2: more than 1,048,576 " + text},
		"replaced by set":   {long(60_000) + "z=${y:=$x}${x//a/$y}", text},
		"replaced by seq":   {long(60_000) + "z=${x//a/$(seq 1 500)}", text},
		"patterns":          {long(60_000) + "p=" + strings.Repeat("*a", 3_000) + "\ny=${x##$p}", all},
		"many patterns":     {long(20_000) + strings.Repeat("y=${x##*a*a*a*a*a}\n", 200), all},
		"case":              {"case " + strings.Repeat("a", 60_000) + " in " + strings.Repeat("*a?", 30_000) + ") ;; esac", all},
		"many cases":        {"for i in {1..500}; do case a in " + strings.Repeat("b|", 1000) + "c) ;; esac; done", all},
		"upper case":        {long(500_000) + "y=${x^^}${x^^}", text},
		"quotes":            {long(500_000) + "y=${x@Q}", text},
		"one word":          {long(1_000) + "echo " + strings.Repeat("$x", 2_000), text},
		"words":             {long(1_000) + strings.Repeat("echo "+strings.Repeat("$x ", 900)+"\n", 40), all},
		"sequence":          {"echo {1..1000000000}", "line 1: more than 512 " + words},
		"wide sequence":     {"echo {" + strings.Repeat("0", 100_000) + "1..500}", all},
		"product":           {"echo " + strings.Repeat("{a,b}", 40), words},
		"many braces":       {"echo " + strings.Repeat("{a,b}", 100_000), "more than 64 braces in a word"},
		"deep braces":       {"echo " + strings.Repeat("{a,", 100_000) + strings.Repeat("}", 100_000), "more than 64 braces in a word"},
		"seq":               {"for i in $(seq 1 1000000000); do a; done", "more than 512 numbers of seq"},
		"all integers":      {"for i in $(seq -9223372036854775808 9223372036854775807); do a; done", "more than 512 numbers of seq"},
		"counting":          {"for ((i = 0; i < 1000000; i++)); do :; done", "more than 512 turns of a loop"},
		"not counting":      {"for ((i = 0; i < 1;)); do a; done", "more than 512 turns of a loop"},
		"loops":             {"for i in {1..500}; do for j in {1..500}; do vllm serve m; done; done", "more than 2,000 commands to follow"},
		"shells":            {"for i in {1..500}; do bash -c 'for j in {1..500}; do bash -c \"for k in {1..500}; do a; done\"; done'; done", "more than 2,000 commands to follow"},
		"recursion":         {"f() { f; }\nf", "more than 16 scripts or functions inside each other"},
		"here-documents":    {hereDocuments(100), "more than 16 scripts or functions inside each other"},
		"arguments of one":  {"vllm serve m " + strings.Repeat("--a ", 5_000), "more than 4,096 arguments of a command"},
		"problems":          {"for i in {1..500}; do vllm serve m --a$i 1 --b$i 1 --c$i 1; done", "more than 1,000 problems"},
		"script too large":  {strings.Repeat("#\n", 1<<20), "too large with 2.1 MiB"},
		"chain of commands": {"a" + strings.Repeat("&&a", 200_000), "more than 1,000 parts of the syntax inside each other"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read("run.sh", c.script+serve)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "run.sh: ") {
				t.Errorf("want run.sh: … %s, got %v", c.want, err)
			}
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 200 {
				t.Errorf("it took %d MiB", mib)
			}
		})
	}
}

// hereDocuments is a script in a script in a script.
func hereDocuments(deep int) string {
	var begin, end strings.Builder
	for i := range deep {
		fmt.Fprintf(&begin, "bash <<E%d\n", i)
		fmt.Fprintf(&end, "E%d\n", deep-1-i)
	}
	return begin.String() + "vllm serve m\n" + end.String()
}

// TestGrowthOfManifests: the same for YAML, and for scripts in it.
func TestGrowthOfManifests(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a: &a [x, x, x, x, x, x, x, x, x, x]\n")
	for c := 'b'; c < 'm'; c++ {
		fmt.Fprintf(&laughs, "%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), c-1)
	}
	for name, c := range map[string]struct{ manifest, want string }{
		"aliases":             {laughs.String(), "more than 500,000 values, with those that aliases stand for"},
		"settings of aliases": {"tensor_parallel_size: 2\n" + laughs.String(), "more than 500,000 values"},
		"cycle":               {"tensor_parallel_size: 2\nkv_cache_config: &a\n  x: *a\n", "line 3: more than 100 values inside each other"},
		"depth":               {"a: " + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), "more than 100 values inside each other"},
		"scripts":             {"items:\n" + strings.Repeat("- {command: \"for i in {1..500}; do for j in {1..500}; do a; done; done\"}\n", 100), "more than 2,000 commands to follow"},
		"script":              {"command: [bash, -c, \"x=aaaaaaaaaaaaaaaa" + strings.Repeat("; x=$x$x", 40) + "\"]\n", "bytes that one text expands to"},
		"parentheses":         {"command: \"" + strings.Repeat("(", 500_000) + "\"\n", "more than 1,000 parts of the syntax inside each other"},
		"variables":           {"env: [{name: V, value: \"" + strings.Repeat("x", 100_000) + "\"}]\nimage: vllm/vllm-openai\ncommand: [vllm, serve, \"" + strings.Repeat("$(V)", 1_000) + "\"]\n", "bytes that one text expands to"},
		"copied variables":    {copied(), "bytes of texts to expand or compare"},
		"too large":           {strings.Repeat("#\n", 1<<20), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read("run.yaml", c.manifest)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %s, got %v", c.want, err)
			}
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 300 {
				t.Errorf("it took %d MiB", mib)
			}
		})
	}
}

// copied is a manifest whose many variables belong to many containers that have more.
func copied() string {
	var b strings.Builder
	b.WriteString("env: {")
	for i := range 20_000 {
		fmt.Fprintf(&b, "A%d: 1, ", i)
	}
	b.WriteString("}\nitems:\n")
	b.WriteString(strings.Repeat("- {env: {B: 1}}\n", 20_000))
	return b.String()
}

// TestManyKeys: a mapping that is merged into another is read in time that grows with their keys, not with the product.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: &a\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	b.WriteString("b:\n  <<: *a\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "  l%d: 1\n", i)
	}
	if err := read("run.yaml", b.String()); err != nil {
		t.Error(err)
	}
}

// FuzzScript: no text makes the reader panic or run away.
func FuzzScript(f *testing.F) {
	for name, c := range grammar() {
		f.Add(c.script(name, 2, true) + "vllm serve m")
	}
	for _, text := range []string{
		"x=(a b); x+=(c); echo ${x[@]:1:2} ${#x[@]} ${!x[@]} ${x[-1]}; vllm serve m -tp ${#x[@]}", "declare -A m; m[a]=1; echo ${m[a]} ${m[1+1]} ${m[@]^^}",
		"for i in {a..e} {01..10..3}; do vllm serve m --port $i; done", "case $x in a|b*) vllm serve m;; *) ;; esac", "x=${y:=a}; ${x/#a/b} ${x/%a/b} ${x//[a-z]/$x} ${x@Q} ${x@E} ${x@A} ${x@a} ${x^} ${x,,}",
		"set -- a b; f() { vllm serve $1 ${@:2}; }; f $*", "cat > c.yaml <<EOF\nmodel: m\nEOF\nvllm serve --config c.yaml", "ssh n bash <<'E'\nvllm serve m\nE", "bash -c 'bash -c \"vllm serve m\"'",
		"echo $((x=1, x<<3, x?1:2)) $[1+1] $((16#ff)) $((1/0))", "while read a; do vllm serve m; done < f", "[[ $a =~ b && ! -z $c ]] && vllm serve m", "docker run -e A=1 vllm/vllm-openai --model m", "x=<name of model>",
	} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = launch.ReadCommand(text)
		_, _ = launch.Read(launch.File{Path: "run.sh", Data: []byte(text)})
	})
}

// FuzzManifest: nor does YAML.
func FuzzManifest(f *testing.F) {
	for _, text := range []string{
		"tensor_parallel_size: 2\nkv_cache_config: &a {x: 1}\ny: *a\n", "kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai\n    env: [{name: A, value: b}]\n    args: [--model, $(A), $$x]\n",
		"services: {s: {image: vllm/vllm-openai, command: --model m -tp 2, deploy: {resources: {reservations: {devices: [{count: 2, device_ids: [a]}]}}}}}\n",
		"kind: LeaderWorkerSet\nspec: {leaderWorkerTemplate: {size: 2, leaderTemplate: {spec: {containers: [{command: [sh, -c, 'vllm serve m']}]}}, workerTemplate: {}}}\n",
		"resources: {image_id: docker:vllm/vllm-openai:v0.10.0}\nrun: |\n  vllm serve m\n", "kind: LLMInferenceService\nspec: {model: {uri: hf://m}, parallelism: {tensor: 2}, template: {containers: [{}]}}\n",
		"kind: ConfigMap\ndata: {a.yaml: 'tensor_parallel_size: 2'}\n---\ncommand: [trtllm-serve, serve, m, --extra_llm_api_options, a.yaml]\n", "decode: {containers: [{modelCommand: vllmServe}]}\n", "a: &a {b: 1}\nc: {<<: [*a, *a]}\n",
		"kind: Pod\nspec: {containers: [{image: vllm/vllm-openai, args: [*a]}]}", "a: &a [*a]", "data: {x: $(Y)}\nkind: ConfigMap",
		"trtllm-serve m --extra_llm_api_options /x/c.yaml\n---\nkv_cache_config: {dtype: {}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = launch.Read(launch.File{Path: "run.yaml", Data: []byte(text)})
	})
}
