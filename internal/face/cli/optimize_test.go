package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// runIn runs a command line in a directory.
func runIn(dir, line string) (code int, stdout, stderr string) {
	var out, talk bytes.Buffer
	code = cli.Main(&cli.Env{
		Args: strings.Fields(line), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk,
		Getenv: func(string) string { return "" }, WorkDir: dir, Now: time.Now,
	})
	return code, out.String(), talk.String()
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestJobsDoNotMatter: a search over three dimensions of an MoE model gives the
// same bytes with one worker and with eight.
func TestJobsDoNotMatter(t *testing.T) {
	const search = "throughput-optimizer Qwen/Qwen3-30B-A3B --tpot-limit 50 --tp-sizes --ep-sizes --moe-dp-sizes --csv out.csv" + load
	for _, format := range []string{"", " --json", " --dump-original-results --quiet", " --explain --no-terminal-plots"} {
		var answers, tables [2]string
		for i, jobs := range []int{1, 8} {
			dir := t.TempDir()
			code, stdout, stderr := runIn(dir, fmt.Sprintf("%s%s --jobs %d", search, format, jobs))
			if code != 0 || stderr != "" {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			answers[i], tables[i] = stdout, string(read(t, dir, "out.csv"))
		}
		if d := cmp.Diff(answers[0], answers[1]); d != "" {
			t.Errorf("%s (-one worker +eight):\n%s", format, d)
		}
		if d := cmp.Diff(tables[0], tables[1]); d != "" {
			t.Errorf("CSV (-one worker +eight):\n%s", d)
		}
		if n := strings.Count(tables[0], "\n"); n != 41 {
			t.Errorf("%d lines of CSV, want a header and 40 candidates", n)
		}
	}
}

// TestNearestLimitsAreFeasible: the limits that are named when nothing keeps
// those given are kept.
func TestNearestLimitsAreFeasible(t *testing.T) {
	for _, c := range []struct{ flags, limits string }{
		{"Qwen/Qwen3-32B", "--tpot-limit 5"},
		{"Qwen/Qwen3-32B", "--ttft-limit 5"},
		{"Qwen/Qwen3-32B", "--ttft-limit 5 --tpot-limit 5"},
		{"Qwen/Qwen3-32B --batch-range 7 9", "--ttft-limit 5 --tpot-limit 5"},
		{"Qwen/Qwen3-30B-A3B --tp-sizes --ep-sizes", "--ttft-limit 5 --tpot-limit 5"},
		{"Qwen/Qwen3-32B --disagg", "--tpot-limit 5"},
		{"Qwen/Qwen3-32B --disagg", "--ttft-limit 5"},
		{"Qwen/Qwen3-32B --max-batched-tokens 1000 --batch-range 4", "--ttft-limit 5 --tpot-limit 5"},
	} {
		var before, after struct {
			Devices []struct {
				Passes []struct {
					Rows    []any
					Nearest struct {
						TTFT float64 `json:"ttft_ms"`
						TPOT float64 `json:"tpot_ms"`
					} `json:"nearest_limits"`
				}
			}
		}
		line := "throughput-optimizer --json " + c.flags + load + " "
		decode(t, run(t, strings.Fields(line+c.limits)), &before)
		p := before.Devices[0].Passes[0]
		if len(p.Rows) > 0 {
			t.Fatalf("%s %s is feasible", c.flags, c.limits)
		}
		limits := ""
		if strings.Contains(c.limits, "ttft") {
			limits += fmt.Sprintf("--ttft-limit %v ", p.Nearest.TTFT)
		}
		if strings.Contains(c.limits, "tpot") {
			limits += fmt.Sprintf("--tpot-limit %v", p.Nearest.TPOT)
		}
		decode(t, run(t, strings.Fields(line+limits)), &after)
		if len(after.Devices[0].Passes[0].Rows) == 0 {
			t.Errorf("%s: %s is not feasible", c.flags, limits)
		}
	}
}

// TestFiles: what is written beside the answer is whole, and nothing else is
// left behind.
func TestFiles(t *testing.T) {
	const search = "throughput-optimizer Qwen/Qwen3-32B --tp-sizes 4 8 --tpot-limit 50 --no-terminal-plots" + load
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.csv"), []byte(strings.Repeat("old\n", 9999)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, want, _ := runIn(dir, search)
	code, stdout, stderr := runIn(dir, search+" --csv old.csv --plot a.svg --chrome-trace sub.d/t.json")
	if code != 2 || stdout != "" || stderr != "plimsoll: error: --chrome-trace sub.d/t.json: the folder sub.d does not exist\n" {
		t.Errorf("exit %d: %q", code, stderr)
	}
	for _, plot := range []string{"a.svg", "a.png", "B.PNG"} {
		code, stdout, stderr := runIn(dir, search+" --csv old.csv --chrome-trace t.json --plot "+plot)
		if code != 0 || stderr != "" || stdout != want {
			t.Fatalf("exit %d: %s\nanswer (-without files +with):\n%s", code, stderr, cmp.Diff(want, stdout))
		}
	}
	if want, got := []string{"B.PNG", "a.png", "a.svg", "old.csv", "t_tp4dp2mtp0.json", "t_tp8dp1mtp0.json"}, list(t, dir); !slices.Equal(want, got) {
		t.Fatalf("want %v, got %v", want, got)
	}
	rows, err := csv.NewReader(bytes.NewReader(read(t, dir, "old.csv"))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Errorf("CSV of %d rows: %v", len(rows), err)
	}
	picture, err := png.Decode(bytes.NewReader(read(t, dir, "a.png")))
	if err != nil || picture.Bounds().Dx() < 300 || !bytes.Equal(read(t, dir, "a.png"), read(t, dir, "B.PNG")) {
		t.Errorf("PNG: %v", err)
	}
	if err := wellFormed(read(t, dir, "a.svg")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"t_tp4dp2mtp0.json", "t_tp8dp1mtp0.json"} {
		var trace struct{ TraceEvents []struct{ Name string } }
		decode(t, string(read(t, dir, name)), &trace)
		if len(trace.TraceEvents) < 64 { // layers
			t.Errorf("%s has %d events", name, len(trace.TraceEvents))
		}
	}
}

// wellFormed checks an SVG.
func wellFormed(data []byte) error {
	if !bytes.Contains(data, []byte("<svg")) {
		return errors.New("no SVG")
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestTraceNames: every row has its own file, however the rows differ.
func TestTraceNames(t *testing.T) {
	for flags, want := range map[string]string{
		"Qwen/Qwen3-32B --tp-sizes 2 4 --pp-sizes 1 2" + load:                                       "t_tp2dp2mtp0 t_tp2dp4mtp0 t_tp4dp1mtp0 t_tp4dp2mtp0",
		"Qwen/Qwen3-8B --tp-sizes 8 --dcp-sizes 1 --num-mtp-tokens 0 1" + load:                      "t_tp8dp1mtp0 t_tp8dp1mtp1",
		"deepseek-ai/DeepSeek-V3.1 --tp-sizes 8 --dcp-sizes 1 2 --device MI355X" + load:             "t_tp8dp1ep8moedp1dcp2mtp0 t_tp8dp1ep8moedp1mtp0",
		"Qwen/Qwen3-30B-A3B --tp-sizes 8 --ep-sizes 4 8" + load:                                     "t_tp8dp1ep4moedp1mtp0 t_tp8dp1ep8moedp1mtp0",
		"Qwen/Qwen3-8B --tp-sizes 8 --speculative-method dspark" + load:                             "t_tp8dp1mtp0dspark8",
		"Qwen/Qwen3-8B --tp-sizes 8 --speculative-method dflash --num-speculative-tokens 15" + load: "t_tp8dp1mtp0dflash16",
		"Qwen/Qwen3-8B --tp-sizes 8 --disagg --ttft-limit 9000 --tpot-limit 50" + load:              "t_decode_tp8dp1mtp0 t_prefill_tp8dp1mtp0",
		"Qwen/Qwen3-8B --tp-sizes 8 --device TEST_DEVICE h200_sxm" + load:                           "t_TEST_DEVICE_tp8dp1mtp0 t_h200_sxm_tp8dp1mtp0",
	} {
		dir := t.TempDir()
		if code, _, stderr := runIn(dir, "throughput-optimizer --quiet --no-terminal-plots --chrome-trace t.json "+flags); code != 0 || stderr != "" {
			t.Errorf("%s: exit %d: %s", flags, code, stderr)
		}
		got := strings.ReplaceAll(strings.Join(list(t, dir), " "), ".json", "")
		if got != want {
			t.Errorf("%s: want %s, got %s", flags, want, got)
		}
	}
}
