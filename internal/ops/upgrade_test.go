package ops_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/upgrade"
)

func upgraded(t *testing.T, from, to, command string) *upgrade.Response {
	t.Helper()
	r, err := upgrade.Run(t.Context(), &session.Session{}, upgrade.Request{Request: lint.Request{Command: command, System: "h100_sxm", Concurrency: 16}, From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUpgradeChanges: a flag that is gone breaks and has its successor, and a default that the files leave open changes; one that they
// give does not.
func TestUpgradeChanges(t *testing.T) {
	t.Parallel()
	const command = "vllm serve Qwen/Qwen3-8B --max-num-seqs 64 --cuda-graph-sizes 64"
	r := upgraded(t, "0.10", "0.28", command)
	if len(r.Breaks) != 1 || r.Breaks[0].Code != "PL002" || r.Breaks[0].Where != "--cuda-graph-sizes" || r.Breaks[0].Better != "--max-cudagraph-capture-size" || len(r.Mended) != 0 {
		t.Errorf("breaks %+v, mended %+v", r.Breaks, r.Mended)
	}
	if len(r.Defaults) < 5 || r.Defaults[0].Flag != "--gpu-memory-utilization" || r.Defaults[0].From != "0.9" || r.Defaults[0].To != "0.92" || len(r.Modelled) == 0 {
		t.Errorf("defaults %+v, modelled %+v", r.Defaults, r.Modelled)
	}
	if len(r.Added) < 100 || len(r.Removed) < 20 || r.From.Version != "0.10.0" || r.Months < 12 || r.Months > 14 {
		t.Errorf("%d added, %d removed, %v months", len(r.Added), len(r.Removed), r.Months)
	}
	cascade := upgrade.Default{Flag: "--disable-cascade-attn", From: "False", To: "True"} // declared so since 0.18
	if !slices.Contains(r.Defaults, cascade) {
		t.Errorf("no %v in %+v", cascade, r.Defaults)
	}
	for _, d := range upgraded(t, "0.10", "0.28", command+" --gpu-memory-utilization 0.8 --disable-cascade-attn").Defaults {
		if d.Flag == "--gpu-memory-utilization" || d.Flag == cascade.Flag {
			t.Errorf("a default of what is given: %+v", d)
		}
	}
	r = upgraded(t, "0.24", "0.28", "vllm serve Qwen/Qwen3-8B --kv-cache-dtype fp8")
	if len(r.Values) != 1 || r.Values[0].Flag != "--kv-cache-dtype" || len(r.Values[0].New) == 0 {
		t.Errorf("values %+v", r.Values)
	}
	moe := upgrade.Default{Flag: "moe_config.backend", From: "CUTLASS", To: "AUTO"} // a key, declared so since 1.3.0rc2
	if r = upgraded(t, "1.2", "1.3.0rc13", "trtllm-serve Qwen/Qwen3-30B-A3B"); !slices.Contains(r.Defaults, moe) || slices.Contains(r.Unknown, "defaults of flags that the prediction does not model") {
		t.Errorf("no %v in %+v; not known: %q", moe, r.Defaults, r.Unknown)
	}
}

// TestUpgradeEffects: the figures are those of lint under each release, and going back is the inverse of going forth.
func TestUpgradeEffects(t *testing.T) {
	t.Parallel()
	const command = "vllm serve Qwen/Qwen3-8B --max-num-seqs 64"
	forth, back := upgraded(t, "0.10", "0.28", command), upgraded(t, "0.28", "0.10", command)
	l, err := lint.Run(t.Context(), &session.Session{}, lint.Request{Command: command, System: "h100_sxm", Concurrency: 16, Version: "0.28.0"})
	if err != nil {
		t.Fatal(err)
	}
	if len(forth.Effects) != 5 || forth.Effects[1].What != "TPOT" || forth.Effects[1].To.Value != l.Prediction.TPOT.Mean || forth.Effects[1].Change >= 0 {
		t.Fatalf("%+v", forth.Effects)
	}
	for i, e := range forth.Effects {
		b := back.Effects[i]
		if math.Abs((1+e.Change)*(1+b.Change)-1) > 1e-12 {
			t.Errorf("%s: %g forth and %g back", e.What, e.Change, b.Change)
		}
		if e.Low == nil {
			continue
		}
		if !(*e.Low < *e.High) || math.Abs((1+*e.Low)*(1+*b.High)-1) > 1e-12 {
			t.Errorf("%s: %g to %g forth, %g to %g back", e.What, *e.Low, *e.High, *b.Low, *b.High)
		}
	}
	if !forth.Drift.Beyond || upgraded(t, "0.27", "0.28", command).Drift.Beyond {
		t.Error("only thirteen months are further apart than what was measured")
	}
}

// TestUpgradeUnknown: files without a model are compared by their flags, and the answer says what is missing.
func TestUpgradeUnknown(t *testing.T) {
	t.Parallel()
	r, err := upgrade.Run(t.Context(), &session.Session{}, upgrade.Request{Request: lint.Request{Command: "vllm serve $MODEL --cuda-graph-sizes 8"}, From: "0.10.0", To: "0.28.0"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Effects) != 0 || len(r.Breaks) == 0 || len(r.Defaults) == 0 || !strings.Contains(strings.Join(r.Unknown, "\n"), "give --model and --system") {
		t.Errorf("%+v", r)
	}
}

// TestUpgradePort: an engine can be a port of the one that files start, where they do not say the device.
func TestUpgradePort(t *testing.T) {
	t.Parallel()
	command := "vllm serve Qwen/Qwen3-8B"
	r, err := upgrade.Run(t.Context(), &session.Session{}, upgrade.Request{Request: lint.Request{Command: command}, Engine: "vllm-ascend", From: "0.11.0", To: "0.18.0"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Engine != "vllm-ascend" || r.Title != "vLLM on Ascend" || len(r.Effects) > 0 || len(r.Added) == 0 {
		t.Errorf("%s (%s), effects %v, %d new flags", r.Engine, r.Title, r.Effects, len(r.Added))
	}
	if r.From.Date != "2025-12-16" {
		t.Errorf("%+v", r.From)
	}
	_, err = upgrade.Run(t.Context(), &session.Session{}, upgrade.Request{Request: lint.Request{Command: command, System: "h100_sxm"}, Engine: "vllm-ascend", From: "0.11.0", To: "0.18.0"})
	if err == nil || !strings.Contains(err.Error(), "engine is vllm-ascend, and the files start vllm") {
		t.Errorf("on an H100: %v", err)
	}
}

// TestUpgradeRefuses: an unknown release names the nearest, an engine must be that of the files.
func TestUpgradeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ engine, from, to, want string }{
		{"", "0.24", "0.99", `vllm has no release "0.99"; nearest: 0.33.0`},
		{"", "0.24.7", "0.28", `vllm has no release "0.24.7"; nearest: 0.24.0`},
		{"", "0.1", "0.28", `nearest: 0.8.0`},
		{"", "0.24", "0.24.0", "the releases are the same, 0.24.0"},
		{"", "new", "0.28", `vllm has no release "new"`},
		{"sglang", "0.24", "0.28", "engine is sglang, and the files start vllm"},
		{"vlm", "0.24", "0.28", "vllm"},
	} {
		_, err := upgrade.Run(t.Context(), &session.Session{}, upgrade.Request{
			Request: lint.Request{Command: "vllm serve Qwen/Qwen3-8B", System: "h100_sxm"}, Engine: c.engine, From: c.from, To: c.to,
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: want %q, got %v", c.from, c.to, c.want, err)
		}
	}
}
