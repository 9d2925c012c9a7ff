package ops_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/soak"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/searchrun"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// TestCleanFiles: lint finds no error and nothing to warn of in the files of whatever a search finds, and reads the settings that were predicted:
// for models of every kind, systems of every generation, engines of the newest and of old releases, both modes, one system and two, with and
// without common prefixes and formats that other checkpoints hold.
func TestCleanFiles(t *testing.T) {
	t.Parallel()
	w := &session.Session{Memo: &session.Memo{Size: 1 << 12}}
	written := 0
	soak.Few(t, 16, func(t *rapid.T) {
		e := asked(t)
		out, err := experiment.Find(t.Context(), w, &experiment.How{Top: 2}, searchrun.Load{}, e, false)
		if err != nil { // it does not fit, or the engine does not run it there
			return
		}
		rows := out.Rows
		if out.Near != nil {
			rows = append(rows, *out.Near)
		}
		for i := range rows {
			p, err := deploy.Plan(w, &session.Sources{}, &out.Experiment, &rows[i], launch.Site{})
			if err != nil { // no checkpoint in these formats is known
				continue
			}
			made, _, err := files.Write(p)
			if err != nil {
				t.Fatalf("%+v: %v", e, err)
			}
			for _, set := range files.Together(made) {
				written++
				for _, text := range unclean(t, w, p, set.Files) {
					t.Errorf("%s of %s on %s under %s %s, row %d: %s", set.Target, e.Model, e.System, e.Engine.Name, e.Engine.Version, i, text)
				}
			}
		}
	})
	if written < 30 {
		t.Errorf("only %d sets of files were written", written)
	}
}

// asked draws an experiment.
func asked(t *rapid.T) experiment.Experiment {
	one := func(name string, all ...string) string { return rapid.SampledFrom(all).Draw(t, name) }
	system := one("system", "h100_sxm", "h200_sxm", "b200_sxm", "gb200", "a100_sxm", "l40s", "l4", "rtx_4090", "mi300x", "mi355x", "t4", "v100_sxm_32gb",
		"ATLAS_800_A3_752T_128G_DIE", "ATLAS_800_A2_376T_64G")
	d, err := device.Lookup(system)
	if err != nil {
		t.Fatal(err)
	}
	name := one("engine", launch.Engines(d.Vendor)...)
	e := experiment.Experiment{
		Name: "x", System: system, Devices: rapid.SampledFrom([]int{1, 2, 4, 8, 16, 24}).Draw(t, "devices"),
		Model: one("model", "Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "Qwen/Qwen3-32B-FP8", "QWEN3_32B", "LLAMA3.1_8B", "meta-llama/Llama-3.3-70B-Instruct", "Qwen/Qwen3-30B-A3B",
			"deepseek-ai/DeepSeek-V2-Lite-Chat", "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3-Next-80B-A3B-Instruct", "ibm-granite/granite-4.0-h-tiny", "openai/gpt-oss-20b",
			"google/gemma-3-12b-it", "moonshotai/Kimi-Linear-48B-A3B-Instruct", "LiquidAI/LFM2-8B-A1B", "tiiuae/falcon-mamba-7b", "mistralai/Mixtral-8x7B-v0.1"),
		Engine: deployment.Engine{Name: name, Version: one("release", releasesOf(name)...)},
		Mode:   experiment.ServingMode(one("mode", "agg", "disagg")),
		Input:  rapid.SampledFrom([]int{100, 1000, 4000, 20000}).Draw(t, "input"), Output: rapid.SampledFrom([]int{1, 50, 500, 2000}).Draw(t, "output"),
		Limits: workload.Limits{TTFT: 5, TPOT: 0.2},
	}
	if other := one("decode system", "", "", "h200_sxm", "a100_sxm", "h20"); e.Mode == experiment.Disaggregated && d.Vendor == device.NVIDIA {
		e.DecodeSystem = other
	}
	if rapid.IntRange(0, 3).Draw(t, "prefix") == 0 {
		e.Prefix = e.Input / 2
	}
	if drafts := rapid.IntRange(0, 4).Draw(t, "drafts"); drafts > 2 && (e.Model == "deepseek-ai/DeepSeek-V3" || e.Model == "Qwen/Qwen3-Next-80B-A3B-Instruct") {
		e.MTP = drafts - 2
	}
	switch one("formats", "", "", "", "fp8", "kv", "system") {
	case "fp8":
		e.Workers.Formats.Checkpoint, e.Decode.Formats.Checkpoint = "fp8", "fp8"
	case "kv":
		e.Workers.Formats.KV, e.Decode.Formats.KV = "fp8", "fp8"
	case "system":
		e.Decode.Formats.Checkpoint = "fp8"
	}
	return e
}

// releasesOf are the newest release of an engine and some old ones; "" is that of the profile.
func releasesOf(name string) []string {
	out := []string{"", "", ""}
	all := engine.Releases(name)
	for i := len(all) - 1; i >= 0; i -= max(1, len(all)/5) {
		out = append(out, all[i].Version)
	}
	return out
}

// unclean are the errors and warnings that lint has of files, and what it reads otherwise than it was predicted.
func unclean(t *rapid.T, w *session.Session, p *launch.Plan, all []launch.File) []string {
	var q lint.Request
	content := map[string][]byte{}
	for _, f := range all {
		q.Files = append(q.Files, f.Path)
		content[f.Path] = f.Data
	}
	q.Static = true
	memory := w.Over(func(name string) ([]byte, bool) { data, ok := content[name]; return data, ok })
	r, err := lint.Run(t.Context(), memory, q)
	switch {
	case errors.Is(err, launch.ErrNoLaunch): // MindIE's configuration
		return nil
	case err != nil:
		return []string{err.Error()}
	}
	var out []string
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity != lint.SevereHint {
			out = append(out, fmt.Sprintf("%s %s %s: %s: %s", f.Severity, f.Code, f.File, f.Where, f.What))
		}
	}
	values, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	if r.Version != values[0].Version {
		return out // the release in an image of Dynamo
	}
	_, read, err := w.Resolved(&r.Deployment, &session.Sources{})
	if err != nil {
		return append(out, err.Error())
	}
	for i := range read.Pools {
		if want, got := runs(&p.Resolved.Pools[i]), runs(&read.Pools[i]); len(read.Pools) == len(p.Resolved.Pools) && want != got {
			out = append(out, fmt.Sprintf("%s workers are predicted as %+v, and read as %+v", read.Pools[i].Role, want, got))
		}
	}
	return out
}

// settings are what the prediction of a pool rests on.
type settings struct {
	Sequences, Budget, Block, Graphs int
	Share                            float64
	Caching, Chunked                 bool
	Device                           string
	KV, Weights, Experts             dtype.Format
}

// runs are the settings of a pool.
func runs(p *deployment.Served) settings {
	e, q := p.Engine, &p.Spec.Quant
	graphs := e.Graph.MaxBatch
	if e.Graph.EagerPrefill { // larger ones are never replayed
		graphs = min(graphs, e.MaxSequences)
	}
	return settings{e.MaxSequences, e.TokenBudget, e.BlockTokens, graphs, e.MemoryShare, e.PrefixCaching, e.ChunkedPrefill, p.Device.Name, q.KV, q.Dense.Weight, q.Experts.Weight}
}
