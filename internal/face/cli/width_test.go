package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// tabled are commands that print tables.
func tabled() []string {
	const requests = " --isl 512 --osl 8 --ttft 1000 --tpot 20"
	return []string{
		"plan Qwen/Qwen3-8B --system h200_sxm --gpus 2 --engine vllm --explain" + requests,
		"plan Qwen/Qwen3-8B --system h200_sxm --rate 3 --engine vllm --no-changes" + requests,
		"plan deepseek-ai/DeepSeek-V3.1 --system h200_sxm --gpus 16 --engine vllm --serving-mode agg --no-changes --isl 512 --osl 8 --tpot 0.1",
		"throughput-optimizer Qwen/Qwen3-32B --device TEST_DEVICE ATLAS_800_A2_280T_64G --num-devices 8 --input-length 3500 --output-length 1500 --tpot-limit 50",
		"throughput-optimizer Qwen/Qwen3-32B --enable-optimize-prefill-decode-ratio --prefill-devices-per-instance 4 --decode-devices-per-instance 4 --num-devices 16 --input-length 3500 --output-length 1500",
		"explain Qwen/Qwen3-32B --num-devices 8 --input-length 3500 --output-length 1500 --tpot-limit 50",
		"step Qwen/Qwen3-30B-A3B --device h200_sxm --decode --num-queries 8 --context-length 1000",
		"simulate Qwen/Qwen3-8B --device h200_sxm --concurrency 4 --num-prompts 20 --input-length 100 --output-length 20",
		"cli default --model-path Qwen/Qwen3-8B --system h200_sxm --total-gpus 2 --isl 512 --osl 8 --ttft 1000 --tpot 20",
		"cli support --model-path Qwen/Qwen3-32B --system h200_sxm",
		"devices", "devices h200_sxm", "models", "models Qwen/Qwen3-30B-A3B", "engines", "engines vllm",
		"lint --device h200_sxm -- vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs 64",
		"cli estimate --model-path Qwen/Qwen3-8B --system ATLAS_800_A3_752T_128G_DIE --backend vllm --batch-size 4 --isl 512 --osl 8",
		"cli recommend --model-path Qwen/Qwen3-8B --system h200_sxm --backend vllm --serving-mode agg --target-request-rate 3" + requests,
		"accuracy rows.csv", "accuracy rows.csv --regret", "calibrate rows.csv --iterations 1 --out fit.yaml",
		"diff one/plan.json two/plan.json", "files --list", "files one/plan.json --deployment-target plain --out files --force", "sweep grid.yaml --dry-run", "sweep small.yaml",
		"cli generate --model-path Qwen/Qwen3-8B --total-gpus 2 --system h200_sxm --backend vllm --force", "check result.json", "check result.json --concurrency 64", "cli exp --yaml_path exp.yaml", "doctor", "version",
		"measure Qwen/Qwen3-8B --system h200_sxm --gpus 2 --engine vllm --serving-mode agg" + requests,
		"upgrade 0.10 0.28 --system h100_sxm --concurrency 4 -- vllm serve Qwen/Qwen3-8B --cuda-graph-sizes 64",
	}
}

// folder has the files that commands of tabled read: two plans, measured rows and a grid.
func folder(t *testing.T, known *session.Memo) string {
	t.Helper()
	dir := t.TempDir()
	run := func(command string) string {
		var out, talk bytes.Buffer
		if code := cli.Main(&cli.Env{
			Args: strings.Fields(command), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, WorkDir: dir, Now: time.Now, Memo: known,
			Getenv: func(string) string { return "" },
		}); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d\n%s", command, code, talk.String())
		}
		return out.String()
	}
	for _, engine := range []string{"vllm --out one", "sglang --out two"} {
		run("plan Qwen/Qwen3-8B --system h200_sxm --gpus 2 --isl 512 --osl 8 --serving-mode agg --no-changes --engine " + engine)
	}
	rows, err := os.ReadFile("../../evidence/measured/testdata/h200-fitted.csv")
	if err != nil {
		t.Fatal(err)
	}
	const small = "{ask: plan, models: [Qwen/Qwen3-8B], systems: [h200_sxm], engines: [vllm], workloads: [{name: short, isl: 512, osl: 8}], gpus: [1, 2], with: {modes: [agg]}}"
	const exp = "exps: [one]\none: {serving_mode: agg, model_path: Qwen/Qwen3-8B, system_name: h200_sxm, backend_name: vllm, total_gpus: 1, isl: 512, osl: 8, ttft: 1000, tpot: 20}\n"
	for name, data := range map[string][]byte{
		"rows.csv": rows, "grid.yaml": []byte(run("sweep --example")), "small.yaml": []byte(small), "exp.yaml": []byte(exp),
		"result.json": []byte(run("simulate Qwen/Qwen3-8B --device h200_sxm --engine vllm --concurrency 8 --num-prompts 20 --input-length 100 --output-length 20 --json")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTabled: every command prints tables that [TestWidths] looks at, or none.
func TestTabled(t *testing.T) {
	none := []string{"call", "completion", "help", "mcp", "pages", "serve", "sweep merge"}
	for _, command := range cli.Leaves() {
		known := slices.ContainsFunc(tabled(), func(line string) bool { return strings.HasPrefix(line+" ", command+" ") })
		if known == slices.Contains(none, command) {
			t.Errorf("%s is in both lists or in none", command)
		}
	}
}

// TestWidths: at every width of a terminal no line is longer, but for commands, which stay whole, and single words; a table that
// drops columns says which.
func TestWidths(t *testing.T) {
	t.Parallel()
	known := memo()
	dir := folder(t, known)
	for _, command := range tabled() {
		for _, width := range []int{60, 80, 100, 160} {
			var out, talk bytes.Buffer
			code := cli.Main(&cli.Env{
				Args: strings.Fields(command), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, WorkDir: dir, Now: time.Now, Memo: known,
				Getenv: func(name string) string { return map[string]string{"COLUMNS": fmt.Sprint(width)}[name] },
			})
			if code != cli.ExitOK && code != cli.ExitFailure {
				t.Fatalf("%s: exit code %d\n%s", command, code, talk.String())
			}
			for line := range strings.SplitSeq(out.String(), "\n") {
				text := strings.TrimSpace(line)
				whole := strings.HasPrefix(text, "plimsoll ") || strings.HasPrefix(text, "bash ") || len(strings.Fields(text)) < 2
				if n := utf8.RuneCountInString(line); n > width && !whole {
					t.Errorf("%s: a line of %d in %d columns:\n%s", command, n, width, line)
				}
			}
			hides := strings.Contains(out.String(), "columns hidden: ")
			if strings.Contains(command, "--gpus 2") && hides != (width < 160) && width != 100 {
				t.Errorf("%s at %d: columns are hidden: %t", command, width, hides)
			}
		}
	}
}
