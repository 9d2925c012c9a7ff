package cli_test

import (
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// in runs a command in a directory and reads the JSON it prints.
func in(t *testing.T, dir string, into any, args ...string) {
	t.Helper()
	var out, talk strings.Builder
	code := cli.Main(&cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" }, WorkDir: dir, Now: time.Now,
	})
	if code != 0 {
		t.Fatalf("plimsoll %s: exit %d: %s%s", strings.Join(args, " "), code, out.String(), talk.String())
	}
	if err := stdjson.Unmarshal([]byte(out.String()), into); err != nil {
		t.Fatal(err)
	}
}

// simulated is what simulate prints, as far as it is compared.
type simulated struct {
	Output figures.Estimate `json:"output_tokens_per_s"`
	TTFT   struct {
		Mean float64
		Low  float64
	} `json:"ttft_ms"`
	TPOT struct {
		Mean float64
		High float64
	} `json:"tpot_ms"`
}

// TestLintOwnFiles: linting the files of a row gives the row's deployment and figures,
// and simulate gives the same for the deployment that lint prints.
func TestLintOwnFiles(t *testing.T) {
	for _, c := range []struct{ engine, model, devices string }{
		{"vllm", "Qwen/Qwen3-32B", "8"}, {"sglang", "Qwen/Qwen3-8B", "4"}, {"trtllm", "Qwen/Qwen3-32B", "8"}, {"sglang", "deepseek-ai/DeepSeek-V3", "16"},
	} {
		dir := t.TempDir()
		var rows struct {
			Experiments []struct {
				Request struct{ Name string }
				Rows    []struct {
					figures.Record

					Deployment  deployment.Deployment
					Concurrency int
				}
			}
		}
		in(t, dir, &rows, "cli", "default", "--model-path", c.model, "--system", "h200_sxm", "--total-gpus", c.devices, "--backend", c.engine,
			"--isl", "2000", "--osl", "8", "--ttft", "5000", "--tpot", "40", "--save-dir", "out", "--deployment-target", "plain", "--json", "-q", "--top-n", "1")
		for _, x := range rows.Experiments {
			row := x.Rows[0]
			scripts, err := filepath.Glob(filepath.Join(dir, "out", "*", x.Request.Name, "top1", "*", "plain", "node_*.sh"))
			if err != nil || len(scripts) == 0 {
				t.Fatalf("%s %s: no scripts: %v", c.engine, x.Request.Name, err)
			}
			var found struct {
				Deployment deployment.Deployment
				Prediction simulated
			}
			at := strconv.Itoa(row.Concurrency)
			in(t, dir, &found, append([]string{"lint", "--json", "--concurrency", at}, scripts...)...)
			p := &found.Prediction
			if p.TTFT.Mean != row.Judged.TTFT.Value || p.TPOT.Mean != row.Judged.TPOT.Value || p.Output.Value != row.Tokens.Value {
				t.Errorf("%s %s %s: the row has %g, %g, %g; its files %g, %g, %g", c.engine, c.model, x.Request.Name,
					row.Judged.TTFT.Value, row.Judged.TPOT.Value, row.Tokens.Value, p.TTFT.Mean, p.TPOT.Mean, p.Output.Value)
			}
			for i := range row.Deployment.Pools {
				a, b := &row.Deployment.Pools[i], &found.Deployment.Pools[i]
				if a.Role != b.Role || a.Replicas != b.Replicas || a.Layout.Devices != b.Layout.Devices || a.Layout.TP != max(1, b.Layout.TP) || a.Layout.DP != b.Layout.DP {
					t.Errorf("%s %s %s: pool %+v was read as %+v", c.engine, c.model, x.Request.Name, a, b)
				}
			}
			data, err := stdjson.Marshal(&found.Deployment)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "d.json"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			var again simulated
			in(t, dir, &again, "simulate", "--deployment", "d.json", "--concurrency", at, "--input-length", "2000", "--output-length", "8", "--json")
			if again != *p {
				t.Errorf("%s %s %s: simulate prints %+v, lint %+v", c.engine, c.model, x.Request.Name, again, *p)
			}
		}
	}
}
