package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// remembers is a session that tests share, so that they simulate a deployment once.
var remembers = &session.Session{Memo: &session.Memo{Size: 10_000}}

// linted is the answer to a command.
func linted(t *testing.T, r lint.Request) *lint.Response {
	t.Helper()
	out, err := lint.Run(t.Context(), remembers, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLintCapacity: the highest safe concurrency is the smaller of both limits, of all
// ranks together.
func TestLintCapacity(t *testing.T) {
	for _, c := range []struct {
		command    string
		ranks      int
		limit      int
		cacheBinds bool
	}{
		{"vllm serve Qwen/Qwen3-8B --max-num-seqs 10", 1, 10, false},
		{"vllm serve Qwen/Qwen3-8B --max-num-seqs 10 -dp 4", 4, 40, false},
		{"vllm serve Qwen/Qwen3-8B --max-num-seqs 1000", 1, 1000, true},
		{"python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 --dp 8 --enable-dp-attention --max-running-requests 80", 8, 80, false},
	} {
		r := linted(t, lint.Request{Command: c.command, System: "h200_sxm", Input: 2000, Output: 1000})
		got := r.Capacity
		if got == nil || got.Ranks != c.ranks || got.Limit != c.limit || got.Safe != min(got.Limit, got.Held) || (got.Held < got.Limit) != c.cacheBinds {
			t.Errorf("%s: %+v, findings %v", c.command, got, r.Findings)
			continue
		}
		if s := r.Prediction; s.Request.Concurrency != got.Safe || s.Result.Refused > 0 {
			t.Errorf("%s: simulated at %d, %d refused", c.command, s.Request.Concurrency, s.Result.Refused)
		}
	}
}

// TestLintBetter: what was made worse is found again, and every gain is real: the
// changed deployment has the throughput, within the limits.
func TestLintBetter(t *testing.T) {
	limits := workload.Limits{TPOT: units.Seconds(0.06)}
	for _, c := range []struct{ command, want string }{
		{"vllm serve Qwen/Qwen3-8B --max-num-seqs 16", "--max-num-seqs "},
		{"vllm serve Qwen/Qwen3-8B --enforce-eager --max-num-seqs 32", "without --enforce-eager"},
		{"vllm serve Qwen/Qwen3-32B --max-model-len 4096 --gpu-memory-utilization 0.55", "--gpu-memory-utilization 0.92"},
		{"vllm serve Qwen/Qwen3-32B --max-model-len 4096 --gpu-memory-utilization 0.55", "--kv-cache-dtype fp8"},
		{"python -m sglang.launch_server --model-path Qwen/Qwen3-8B --chunked-prefill-size 512", "--chunked-prefill-size "},
	} {
		r := linted(t, lint.Request{Command: c.command, System: "h200_sxm", Limits: limits})
		if !slices.ContainsFunc(r.Better, func(b lint.Improvement) bool { return strings.HasPrefix(b.Change, c.want) }) {
			t.Errorf("%s: no %q in %+v", c.command, c.want, r.Better)
		}
		for i, b := range r.Better {
			if i > 0 && b.Tokens.Value > r.Better[i-1].Tokens.Value || b.Judged.TPOT.Value > limits.TPOT.Ms() || b.Gain < 0.03 {
				t.Errorf("%s: %+v", c.command, b)
			}
			q := simulate.Request{Deployment: r.Deployment}
			q.Concurrency = b.Concurrency
			q.Deployment.Pools = slices.Clone(q.Deployment.Pools)
			q.Deployment.Pools[0].Settings = slices.Concat(q.Deployment.Pools[0].Settings, b.Settings)
			s, err := simulate.Run(t.Context(), new(session.Session), q)
			if err != nil {
				t.Fatal(err)
			}
			if s.Result.OutputRate != b.Tokens.Value || s.Result.TTFT.Mean.Ms() != b.Judged.TTFT.Value {
				t.Errorf("%s with %s: want %g tokens/s, got %g", c.command, b.Change, b.Tokens.Value, s.Result.OutputRate)
			}
		}
	}
}

// TestLintConcurrency: the concurrency named for limits meets them, and more does not.
func TestLintConcurrency(t *testing.T) {
	r := lint.Request{Command: "vllm serve Qwen/Qwen3-8B", System: "h200_sxm", Limits: workload.Limits{TPOT: units.Seconds(0.02)}}
	got := linted(t, r)
	i := slices.IndexFunc(got.Findings, func(f lint.Finding) bool { return f.Where == "TPOT limit" })
	if i < 0 || got.Errors != 1 {
		t.Fatalf("%+v", got.Findings)
	}
	n := 0
	if _, err := fmt.Sscanf(got.Findings[i].Better, "at most %d in flight", &n); err != nil || n < 1 || n >= got.Capacity.Safe {
		t.Fatalf("%q of %d: %v", got.Findings[i].Better, got.Capacity.Safe, err)
	}
	for _, c := range []struct{ concurrency, errors int }{{n, 0}, {n + 1, 1}} {
		r.Concurrency = c.concurrency
		if x := linted(t, r); x.Errors != c.errors {
			t.Errorf("%d in flight: want %d errors, got %d", c.concurrency, c.errors, x.Errors)
		}
	}
}
