package cli_test

import (
	encoding "encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// everyModel is how many questions TestEveryModel asks; "make every-model" asks for every model on every number of devices.
var everyModel = flag.Int("every-model", 200, "questions of TestEveryModel; 0 = every model on every number of devices")

// searches are commands that try the layouts of a model M on N devices D, and commands that resolve one of them. Requests are short and
// limits tight, so that a question costs little: models differ in their layouts, not in how requests are simulated.
const searches = `throughput-optimizer M --device D --num-devices N --input-length 1000 --output-length 64 --tpot-limit 50 --no-terminal-plots
plan M --system D --gpus N --isl 300 --osl 8 --ttft 300 --tpot 30 --no-changes
cli default --model M --system D --total-gpus N --isl 300 --osl 8 --ttft 300 --tpot 30 --backend auto --no-terminal-plots
throughput-optimizer M --device D --num-devices N --input-length 300 --output-length 8 --disagg --ttft-limit 300 --tpot-limit 30 --no-terminal-plots
plan M --system D --rate 1 --isl 300 --osl 8 --ttft 500 --tpot 50 --no-changes
cli recommend --model M --system D --target-concurrency N --backend auto --isl 300 --osl 8 --ttft 500 --tpot 50
throughput-optimizer M --device D --num-devices N --input-length 300 --output-length 8 --enable-optimize-prefill-decode-ratio --prefill-devices-per-instance N --decode-devices-per-instance N --ttft-limit 500 --tpot-limit 50 --no-terminal-plots
explain M --device D --num-devices N --input-length 300 --output-length 8 --tpot-limit 50
measure M --system D --gpus N --isl 300 --osl 8 --tpot 50
lint --device D --tpot-limit 50 --input-length 300 --output-length 8 -- vllm serve M --tensor-parallel-size N --max-num-seqs 8
cli estimate --model M --system D --backend vllm --tp N --bs 4 --isl 300 --osl 8
cli support --model M --system D --backend all
simulate M --system D --tp-size N --concurrency 4 --input-length 300 --output-length 8 --num-prompts 20 --no-terminal-plots
step M --device D --num-devices N --tp-size N --num-queries 4 --query-length 300
text_generate M --device D --num-devices N --num-queries 4 --query-length 300`

// nonsense is what no answer and no error says.
var nonsense = regexp.MustCompile(`NaN|\bInf\b|%!|<nil>|0x[0-9a-f]{6}`)

// TestEveryModel: no model of the catalog ends a command with a bug, on any number of devices of any generation. Commands and devices take
// turns, so that few questions bring together every two of a model, a number, a command and a device; -v shows how each ended.
func TestEveryModel(t *testing.T) {
	q := &questions{
		models: listed(t, "models", "id", "id"), devices: listed(t, "devices", "name", "generation"),
		numbers: strings.Fields("1 2 4 8 16"), commands: strings.Split(searches, "\n"),
	}
	asked := rand.New(rand.NewPCG(2, 0)).Perm(len(q.models) * len(q.numbers))
	if *everyModel > 0 {
		asked = asked[:*everyModel]
	}
	const parts = 4 // in parallel: a command does not always have work for every core
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			for k := part; k < len(asked); k += parts {
				q.ask(t, q.line(asked[k]))
			}
		})
	}
}

// questions are the sets that questions are made of.
type questions struct{ models, devices, numbers, commands []string }

// line is the question about the i-th pair of a model and a number, with a command and a device whose turn it is.
func (q *questions) line(i int) []string {
	m, n := i/len(q.numbers), i%len(q.numbers)
	words := strings.Fields(q.commands[(m+4*n)%len(q.commands)])
	for j, w := range words {
		switch w {
		case "M":
			words[j] = q.models[m]
		case "D":
			words[j] = q.devices[(m/len(q.commands)+3*i)%len(q.devices)]
		case "N":
			words[j] = q.numbers[n]
		}
	}
	return words
}

// ask runs a question: it has an answer, or an error that says why there is none.
func (q *questions) ask(t *testing.T, words []string) {
	text, code, talk := tryIn(t.TempDir(), &session.Memo{Size: 64}, words)
	line := "plimsoll " + strings.Join(words, " ")
	switch {
	case code == 0 && text == "", code > cli.ExitUsage, code != 0 && !strings.Contains(talk, "plimsoll: error: "):
		t.Errorf("%s: exit %d: %s", line, code, talk)
	case nonsense.MatchString(text + talk):
		t.Errorf("%s says %q", line, nonsense.FindString(text+talk))
	default:
		t.Logf("exit %d: %s", code, line)
	}
}

// listed are the entries of a catalog, one of each kind.
func listed(t *testing.T, catalog, name, kind string) []string {
	t.Helper()
	var all []map[string]any
	if err := encoding.Unmarshal([]byte(answered(t, nil, []string{catalog, "--json"})), &all); err != nil {
		t.Fatal(err)
	}
	var out []string
	seen := map[string]bool{}
	for _, x := range all {
		if k := fmt.Sprint(x[kind]); !seen[k] {
			seen[k] = true
			out = append(out, fmt.Sprint(x[name]))
		}
	}
	return out
}
