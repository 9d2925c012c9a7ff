package plimsoll_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// again writes a value, reads it back strictly, and wants it unchanged.
func again[T any](t *rapid.T, want T) {
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := plimsoll.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	second, err := json.Marshal(got)
	if err != nil || !bytes.Equal(text, second) {
		t.Fatalf("%s became %s (%v)", text, second, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-written +read):\n%s", text, d)
	}
}

// TestJSON: requests can be written down and read back.
func TestJSON(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z0-9_./-]{1,8}`)
	size := rapid.IntRange(0, 64)
	rapid.Check(t, func(t *rapid.T) {
		d := plimsoll.Deployment{
			Model: word.Draw(t, "model"), System: word.Draw(t, "system"),
			Engine:  plimsoll.Engine{Name: word.Draw(t, "name"), Version: word.Draw(t, "version"), Settings: []string{word.Draw(t, "setting")}},
			Formats: plimsoll.Formats{Checkpoint: word.Draw(t, "checkpoint"), KV: word.Draw(t, "kv"), MXFP4Group: size.Draw(t, "group")},
			Routing: word.Draw(t, "routing"), Host: plimsoll.HostCache{GiB: float64(size.Draw(t, "host"))},
		}
		for range rapid.IntRange(0, 2).Draw(t, "pools") {
			d.Pools = append(d.Pools, plimsoll.Pool{
				Role: plimsoll.Role(word.Draw(t, "role")), Replicas: size.Draw(t, "replicas"), MTP: size.Draw(t, "mtp"),
				Layout: plimsoll.Layout{TP: size.Draw(t, "tp"), DP: size.Draw(t, "dp"), PP: size.Draw(t, "pp"), EP: size.Draw(t, "ep")},
			})
		}
		limits := plimsoll.Limits{TPOT: plimsoll.Seconds(float64(size.Draw(t, "tpot")) / 1e3), TTFT: plimsoll.Seconds(size.Draw(t, "ttft"))}
		again(t, d)
		again(t, limits)
		again(t, plimsoll.PredictRequest{Deployment: d, Limits: limits, Seed: rapid.Uint64().Draw(t, "seed"), Traffic: plimsoll.Traffic{
			Rate: rapid.Float64Range(0, 100).Draw(t, "rate"), Process: plimsoll.Gamma, Input: size.Draw(t, "input"),
			InputLengths: &plimsoll.Distribution{Bins: []plimsoll.Bin{{Min: 1, Max: size.Draw(t, "max"), Weight: 1}}},
		}})
		again(t, plimsoll.PlanRequest{
			Model: d.Model, Systems: []string{d.System}, Devices: size.Draw(t, "gpus"), Limits: limits,
			Workloads: []plimsoll.Workload{{Name: word.Draw(t, "name"), Share: 0.5, Input: size.Draw(t, "isl")}},
		})
	})
}

// TestOneWireForm: a deployment that this package writes is one that the command line, the HTTP API and MCP read, and what
// they answer is this package's answer, byte by byte.
func TestOneWireForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r     plimsoll.PredictRequest
		flags string
	}{
		{
			plimsoll.PredictRequest{
				Deployment: plimsoll.Deployment{Model: "Qwen/Qwen3-32B", Pools: []plimsoll.Pool{{Layout: plimsoll.Layout{TP: 4}}}},
				Traffic:    plimsoll.Traffic{Concurrency: 16, Input: 512, Output: 64, LengthLow: 0.8}, Seed: 7,
			},
			"--concurrency 16 --input-length 512 --output-length 64 --length-ratio-low 0.8 --seed 7",
		},
		{
			plimsoll.PredictRequest{
				Deployment: plimsoll.Deployment{
					Model: "deepseek-ai/DeepSeek-V3", System: "b200_sxm", Routing: "least-loaded",
					Engine:  plimsoll.Engine{Name: "sglang", Settings: []string{"token_budget=4096"}},
					Formats: plimsoll.Formats{KV: "fp8"},
					Pools: []plimsoll.Pool{
						{Role: plimsoll.Prefill, Layout: plimsoll.Layout{TP: 8, EP: 8}, Settings: []string{"token_budget=16384"}, MTP: 1, AcceptanceRates: []float64{0.7}},
						{Role: plimsoll.Decode, Replicas: 2, Layout: plimsoll.Layout{DP: 8, EP: 8}, MTP: 1, AcceptanceRates: []float64{0.7}},
					},
				},
				Traffic: plimsoll.Traffic{Rate: 3, Process: plimsoll.Gamma, Variation: 2, Requests: 40, Input: 256, Output: 32},
				Limits:  plimsoll.Limits{TTFT: 1, TPOT: 20 * plimsoll.Millisecond},
			},
			"--rate 3 --arrival gamma --arrival-variation 2 --num-prompts 40 --input-length 256 --output-length 32 --ttft-limit 1000 --tpot-limit 20",
		},
	} {
		p, err := new(plimsoll.Planner).Predict(t.Context(), c.r)
		if err != nil {
			t.Fatal(err)
		}
		deployed, asked, want := marshal(t, c.r.Deployment), marshal(t, c.r), marshal(t, p)
		for face, got := range map[string][]byte{"simulate --deployment": simulate(t, deployed, c.flags), "HTTP": post(t, asked), "MCP": called(t, asked)} {
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("%s (-package +face):\n%s", face, d)
			}
			var back plimsoll.Prediction // and what they answer with is read again
			if err := plimsoll.Unmarshal(got, &back); err != nil {
				t.Errorf("%s: %v", face, err)
			}
		}
	}
}

func marshal(t *testing.T, x any) []byte {
	t.Helper()
	data, err := plimsoll.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// plain is a document without its command, which only faces have, and without layout.
func plain(t *testing.T, data []byte) []byte {
	t.Helper()
	var p plimsoll.Prediction
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	p.Command = ""
	return marshal(t, p)
}

// simulate runs the command with a file of a deployment.
func simulate(t *testing.T, deployment []byte, flags string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Main(&cli.Env{
		Args:  append([]string{"simulate", "--deployment", "-", "--json"}, strings.Fields(flags)...),
		Stdin: bytes.NewReader(deployment), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, WorkDir: t.TempDir(), Now: time.Now,
	})
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	return plain(t, stdout.Bytes())
}

// post asks the HTTP API.
func post(t *testing.T, request []byte) []byte {
	t.Helper()
	h, err := serve.New(serve.Options{Page: http.NotFoundHandler(), Desk: operation.NewDesk(&operation.Kit{World: &session.Session{}}, operation.Capacity{}), Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/api/simulate", bytes.NewReader(request))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return plain(t, w.Body.Bytes())
}

// called is what the MCP tool answers: package mcp passes on arguments and documents as they are.
func called(t *testing.T, request []byte) []byte {
	t.Helper()
	o := operation.Lookup(operation.Table(), "simulate")
	r, err := o.Decode(request)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := operation.NewDesk(&operation.Kit{World: &session.Session{}}, operation.Capacity{}).Run(t.Context(), o, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain(t, marshal(t, doc))
}

// TestUnmarshal: what is misspelt at any depth is refused with its path.
func TestUnmarshal(t *testing.T) {
	t.Parallel()
	var d plimsoll.Deployment
	err := plimsoll.Unmarshal([]byte(`{"model":"m","pools":[{"layout":{"tp_size":4}}]}`), &d)
	if want := "unknown field pools[0].layout.tp_size with value 4; allowed: devices, tp, dp, pp, ep, moe_tp, moe_dp, dcp"; err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}
