package lint_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// broken is an input that a rule finds something in, and the same mended.
type broken struct {
	request        lint.Request // without its command or files; a device is added
	broken, mended string       // a command, or a file with the name of the request
}

// cases has one for every rule.
func cases() map[string]broken {
	file := func(name string) lint.Request { return lint.Request{Files: []string{name}} }
	long := lint.Request{Input: 9000, Output: 100}
	const manifest = "kind: Pod\nspec: {containers: [{image: 'vllm/vllm-openai:v0.24.0', args: [Qwen/Qwen3-8B, -tp, '2'], resources: {limits: {nvidia.com/gpu: GPUS}}}]}\n"
	gpus := func(n string) string { return manifest[:len(manifest)-len("GPUS}}}]}\n")] + n + "}}}]}\n" }
	note := func(formats string) string {
		return "#!/bin/sh\n# plimsoll: {\"system\":\"h200_sxm\",\"engine\":\"vllm\",\"formats\":" + formats + ",\"input\":100,\"output\":10,\"copies\":1}\nvllm serve Qwen/Qwen3-8B\n"
	}
	// Manifests with an engine: a Deployment with one device, a group over two nodes, and either beside other objects.
	engineOf := func(pod, container, more string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: engine}\nspec: {replicas: 4, template: {spec: {" + pod + "containers: [{name: engine, image: 'vllm/vllm-openai:v0.24.0', " +
			container + "args: [Qwen/Qwen3-8B], resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n" + more
	}
	group := func(meta, container, more string) string {
		return "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: engine" + meta + "}\nspec: {leaderWorkerTemplate: {size: 2, leaderTemplate: {spec: {" +
			"containers: [{name: engine, image: 'vllm/vllm-openai:v0.24.0', " + container + "args: [Qwen/Qwen3-8B, -tp, '16'], resources: {limits: {nvidia.com/gpu: 8" + more + "}}}]}}}}\n"
	}
	beside := func(object string) string { return engineOf("", "", "---\n"+object) }
	router := func(flags string) string {
		return beside("kind: Deployment\nmetadata: {name: router}\nspec: {template: {spec: {serviceAccountName: finder, containers: [{name: router, image: 'router:1', command: [vllm-router, " + flags +
			"]}]}}}\n---\nkind: RoleBinding\nmetadata: {name: finder}\nsubjects: [{kind: ServiceAccount, name: finder}]\n")
	}
	scaled := func(trigger, more string) string {
		return beside("kind: ScaledObject\nmetadata: {name: engine, namespace: models}\nspec: {triggers: [{type: prometheus, metadata: {" + trigger + "}}]}\n" + more)
	}
	client := func(host string) string {
		return beside("kind: Service\nmetadata: {name: engine-http}\n---\nkind: Job\nmetadata: {name: bench}\nspec: {template: {spec: {containers: [{name: bench, image: 'bench:1', args: [--url, 'http://" +
			host + ":8000/v1']}]}}}\n")
	}
	composed := func(address string) string {
		return "services: {engine: {image: 'vllm/vllm-openai:v0.24.0', command: [Qwen/Qwen3-8B, --host, '" + address + "']}}\n"
	}
	const shared = "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}], "
	mounted := func(resources string) string {
		return "kind: Pod\nmetadata: {name: engine}\nspec: {" + shared + "containers: [{name: engine, image: 'vllm/vllm-openai:v0.24.0', args: [Qwen/Qwen3-8B], volumeMounts: [{name: shm}], resources: {" + resources + "}}]}\n"
	}
	limited := func(ms float64) lint.Request {
		return lint.Request{Limits: workload.Limits{TPOT: units.Seconds(ms / 1e3)}}
	}
	return map[string]broken{
		"PL001": {broken: "vllm serve Qwen/Qwen3-8B --max-num-sequs 900", mended: "vllm serve Qwen/Qwen3-8B --max-num-seqs 900"},
		"PL002": {lint.Request{Version: "0.24.0"}, "vllm serve Qwen/Qwen3-8B --cuda-graph-sizes 512", "vllm serve Qwen/Qwen3-8B --max-cudagraph-capture-size 512"},
		"PL003": {broken: "vllm serve Qwen/Qwen3-8B --mem-fraction-static 0.9", mended: "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 0.9"},
		"PL004": {lint.Request{Files: []string{"e.yaml"}, Model: "Qwen/Qwen3-8B"}, "max_num_tokens: 4096\nmax_batch_sise: 64\n", "max_num_tokens: 4096\nmax_batch_size: 64\n"},
		"PL005": {
			lint.Request{Files: []string{"e.yaml"}, Model: "Qwen/Qwen3-8B", Version: "1.2.0rc8"},
			"max_num_tokens: 4096\nenable_trtllm_sampler: true\n",
			"max_num_tokens: 4096\nsampler_type: TRTLLMSampler\n",
		},
		"PL006": {broken: "vllm serve Qwen/Qwen3-8B --max-num-seqs many", mended: "vllm serve Qwen/Qwen3-8B --max-num-seqs 9"},
		"PL007": {
			broken: `vllm serve Qwen/Qwen3-8B --speculative-config {"method":"ngram","num_speculative_tokens":2}`,
			mended: `vllm serve Qwen/Qwen3-8B --speculative-config '{"method":"ngram","num_speculative_tokens":2}'`,
		},
		"PL010": {broken: "vllm serve Qwen/Qwen3-8B --config c.yaml", mended: "echo 'max-num-seqs: 8' > c.yaml\nvllm serve Qwen/Qwen3-8B --config c.yaml"},
		"PL011": {broken: "vllm serve Qwen/Qwen3-8B -tp $TP", mended: "TP=2\nvllm serve Qwen/Qwen3-8B -tp $TP"},
		"PL012": {file("run.sh"), note(`{"kv":"fp8"}`), note(`{}`)},
		"PL013": {broken: "vllm serve Qwen/Qwen3-8B &\nvllm serve Qwen/Qwen3-32B &", mended: "vllm serve Qwen/Qwen3-8B &\nvllm serve Qwen/Qwen3-8B &"},
		"PL014": {broken: "vllm serve Qwen/Qwen3-8B -tp 2 &\nvllm serve Qwen/Qwen3-8B &", mended: "vllm serve Qwen/Qwen3-8B &\nvllm serve Qwen/Qwen3-8B &"},
		"PL015": {
			broken: "python -m dynamo.vllm --model Qwen/Qwen3-8B --disaggregation-mode prefill",
			mended: "python -m dynamo.vllm --model Qwen/Qwen3-8B --disaggregation-mode prefill &\npython -m dynamo.vllm --model Qwen/Qwen3-8B --disaggregation-mode decode",
		},
		"PL016": {broken: "vllm serve /models/Qwen3-8B", mended: "vllm serve Qwen/Qwen3-8B"},
		"PL017": {broken: "vllm serve acme/Nobody-7B", mended: "vllm serve Qwen/Qwen3-8B"},
		"PL018": {broken: "vllm serve $MODEL", mended: "vllm serve ${MODEL:-Qwen/Qwen3-8B}"},
		"PL019": {file("pod.yaml"), gpus("2"), "kind: Pod\nspec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}, containers: [{command: [vllm, serve, Qwen/Qwen3-8B]}]}\n"},
		"PL020": {file("pod.yaml"), gpus("1"), gpus("2")},
		"PL021": {file("pod.yaml"), gpus("4"), gpus("2")},
		"PL022": {broken: "vllm serve Qwen/Qwen3-32B -tp 3", mended: "vllm serve Qwen/Qwen3-32B -tp 4"},
		"PL023": {broken: "vllm serve meta-llama/Llama-3.1-70B", mended: "vllm serve meta-llama/Llama-3.1-70B -tp 4"},
		"PL024": {broken: "vllm serve Qwen/Qwen3-8B --max-model-len 50000", mended: "vllm serve Qwen/Qwen3-8B --max-model-len 40960"},
		"PL025": {long, "vllm serve Qwen/Qwen3-8B --max-model-len 4096", "vllm serve Qwen/Qwen3-8B --max-model-len 9100"},
		"PL026": {broken: "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 0.15 --max-model-len 40960", mended: "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 0.15 --max-model-len 4096"},
		"PL027": {long, "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --mem-fraction-static 0.115", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --mem-fraction-static 0.2"},
		"PL028": {lint.Request{System: "v100_sxm_32gb", Files: []string{"pod.yaml"}}, gpus("2"), strings.Replace(gpus("2"), "v0.24.0", "v0.19.1", 1)},
		"PL029": {lint.Request{System: "t4", Version: "0.31.0"}, "vllm serve Qwen/Qwen3-0.6B --dtype bfloat16", "vllm serve Qwen/Qwen3-0.6B --dtype half"},
		"PL030": {broken: "vllm serve Qwen/Qwen3-8B --max-num-batched-tokens 512 --max-num-seqs 600", mended: "vllm serve Qwen/Qwen3-8B --max-num-batched-tokens 600 --max-num-seqs 600"},
		"PL031": {lint.Request{Files: []string{"e.yaml"}, Model: "Qwen/Qwen3-8B", Input: 9000}, "max_num_tokens: 4096\n", "max_num_tokens: 9000\n"},
		"PL032": {broken: "vllm serve Qwen/Qwen3-8B --max-num-seqs 900", mended: "vllm serve Qwen/Qwen3-8B --max-num-seqs 600"},
		"PL033": {broken: "vllm serve Qwen/Qwen3-8B --max-num-seqs 8", mended: "vllm serve Qwen/Qwen3-8B --max-num-seqs 400"},
		"PL034": {broken: "vllm serve Qwen/Qwen3-8B --enforce-eager", mended: "vllm serve Qwen/Qwen3-8B"},
		"PL035": {broken: "vllm serve Qwen/Qwen3-8B --max-num-seqs 64 --cudagraph-capture-sizes 1 2 4", mended: "vllm serve Qwen/Qwen3-8B --max-num-seqs 64 --cudagraph-capture-sizes 1 2 4 64"},
		"PL036": {
			broken: "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --max-running-requests 64 --cuda-graph-max-bs 256",
			mended: "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --max-running-requests 64 --cuda-graph-max-bs 64",
		},
		"PL037": {
			broken: `vllm serve Qwen/Qwen3-8B --speculative-config '{"method":"draft_model","num_speculative_tokens":3}'`,
			mended: `vllm serve Qwen/Qwen3-8B --speculative-config '{"method":"ngram","num_speculative_tokens":3}'`,
		},
		"PL050": {
			file("pod.yaml"), group("", "", "") + "---\nkind: Service\nmetadata: {name: engine}\n",
			group("", "", "") + "---\nkind: Service\nmetadata: {name: engine-http}\n",
		},
		"PL051": {file("pod.yaml"), router("--service-discovery"), router("--service-discovery, --service-discovery-namespace, models")},
		"PL052": {
			broken: "vllm serve Qwen/Qwen3-8B --port 8001 &\nvllm-router --worker-urls http://a:8001 --port 9000 &\nvllm-router --worker-urls http://a:8001 --port 9001",
			mended: "vllm serve Qwen/Qwen3-8B --port 8001 &\nvllm-router --worker-urls http://a:8001 --port 9000 &\nvllm-router --worker-urls http://a:8001 --port 9001 --prometheus-port 29001",
		},
		"PL053": {
			file("pod.yaml"), engineOf("", "startupProbe: {periodSeconds: 10, failureThreshold: 360}, ", "---\n") + "kind: Pod\nspec: {containers: [{command: [vllm-router, --worker-urls, 'http://engine:8000']}]}\n",
			engineOf("", "startupProbe: {periodSeconds: 10, failureThreshold: 360}, ", "---\n") +
				"kind: Pod\nspec: {containers: [{command: [vllm-router, --worker-urls, 'http://engine:8000', --worker-startup-timeout-secs, '3600']}]}\n",
		},
		"PL054": {file("pod.yaml"), client("engine"), client("engine-http")},
		"PL055": {
			file("pod.yaml"), beside("kind: ConfigMap\ndata: {c.yaml: \"apiVersion: llm-d.ai/v1\\nkind: EndpointPickerConfig\\n\"}\n"),
			beside("kind: ConfigMap\ndata: {c.yaml: \"apiVersion: llm-d.ai/v1alpha1\\nkind: EndpointPickerConfig\\n\"}\n"),
		},
		"PL056": {file("compose.yaml"), composed("${NODE_0_IP}"), composed("${NODE_0_IP:?}")},
		"PL060": {file("pod.yaml"), engineOf("", "", ""), engineOf("nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}, ", "", "")},
		"PL061": {file("pod.yaml"), mounted("requests: {cpu: 8}"), mounted("requests: {cpu: 8}, limits: {memory: 128Gi}")},
		"PL062": {file("pod.yaml"), beside("kind: Pod\nspec: {containers: [{image: 'registry:5000/router'}]}\n"), beside("kind: Pod\nspec: {containers: [{image: 'registry:5000/router:v1'}]}\n")},
		"PL063": {
			file("pod.yaml"), beside("kind: Pod\nspec: {containers: [{command: [bash, -c, 'pip install -q vllm-router==0.1.16 && exec vllm-router']}]}\n"),
			beside("kind: Pod\nspec: {containers: [{command: [bash, -c, 'exec vllm-router']}]}\n"),
		},
		"PL064": {
			file("pod.yaml"), group("", "", ", rdma/ib: 8"),
			group("", "securityContext: {capabilities: {add: [IPC_LOCK]}}, ", ", rdma/ib: 8"),
		},
		"PL065": {file("pod.yaml"), group("", "", ""), group(", annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}", "", "")},
		"PL066": {file("pod.yaml"), strings.Replace(engineOf("", "", ""), "replicas: 4", "replicas: 3", 1), engineOf("", "", "")},
		"PL067": {lint.Request{Files: []string{"pod.yaml"}, Output: 8000}, engineOf("", "", ""), engineOf("terminationGracePeriodSeconds: 3600, ", "", "")},
		"PL068": {file("pod.yaml"), engineOf("", "securityContext: {privileged: true}, ", ""), engineOf("", "securityContext: {privileged: false}, ", "")},
		"PL070": {
			file("pod.yaml"), scaled("query: up", ""),
			scaled("query: up", "---\nkind: PodMonitor\nmetadata: {name: engine}\n"),
		},
		"PL071": {file("pod.yaml"), scaled("query: 'sum(vllm:num_requests_running)'", ""), scaled(`query: 'sum(vllm:num_requests_running{namespace="models"})'`, "")},
		"PL072": {file("pod.yaml"), scaled("query: up", ""), scaled(`query: up, ignoreNullValues: "false"`, "")},
		"PL040": {lint.Request{Concurrency: 9}, "vllm serve Qwen/Qwen3-8B --max-num-seqs 8", "vllm serve Qwen/Qwen3-8B --max-num-seqs 9"},
		"PL041": {limited(10), "vllm serve Qwen/Qwen3-8B --max-num-seqs 256", "vllm serve Qwen/Qwen3-8B --max-num-seqs 4"},
		"PL042": {limited(0), "vllm serve Qwen/Qwen3-8B --max-num-seqs 16", "vllm serve Qwen/Qwen3-8B --max-num-seqs 1"},
	}
}

// answer checks a text as the request's command or file.
func (b *broken) answer(t *testing.T, code, text string) *lint.Response {
	t.Helper()
	r := b.request
	w := (&session.Session{}).Over(func(name string) ([]byte, bool) { return []byte(text), len(r.Files) > 0 && name == r.Files[0] })
	if len(r.Files) == 0 {
		r.Command = text
	}
	if code != "PL019" && r.System == "" {
		r.System = "h200_sxm"
	}
	r.Static = code != "PL041" && code != "PL042" && code != "PL067"
	if code == "PL042" { // a limit just above what is predicted
		free := linted(t, lint.Request{Command: b.broken, System: r.System})
		r.Limits.TPOT = units.Seconds(free.Prediction.Result.TPOT.Mean * 1.001)
	}
	out, err := lint.Run(t.Context(), w, r)
	if err != nil {
		t.Fatalf("%s: %s: %v", code, text, err)
	}
	return out
}

// TestRules: every rule finds what is broken and not what is mended.
func TestRules(t *testing.T) {
	all := cases()
	for _, rule := range lint.Rules() {
		c, ok := all[rule.Code]
		if !ok {
			t.Errorf("%s has no case", rule.Code)
			continue
		}
		has := func(r *lint.Response) bool {
			return slices.ContainsFunc(r.Findings, func(f lint.Finding) bool { return f.Code == rule.Code })
		}
		if r := c.answer(t, rule.Code, c.broken); !has(r) {
			t.Errorf("%s: not found in %s: %+v", rule.Code, c.broken, r.Findings)
		}
		if r := c.answer(t, rule.Code, c.mended); has(r) {
			t.Errorf("%s: found in %s: %+v", rule.Code, c.mended, r.Findings)
		}
		delete(all, rule.Code)
	}
	for code := range all {
		t.Errorf("%s is no rule", code)
	}
}

// TestCacheBinds: where the cache holds few requests, TensorRT-LLM, which reserves a request's output when it starts it, has none to
// preempt, and graphs of larger batches are not missed.
func TestCacheBinds(t *testing.T) {
	long := lint.Request{System: "h200_sxm", Input: 30000, Output: 1000, Static: true}
	for command, want := range map[string][]string{
		"vllm serve Qwen/Qwen3-8B --max-num-seqs 900":                                                {"PL032"},
		"vllm serve Qwen/Qwen3-8B --max-num-seqs 900 --cudagraph-capture-sizes 1 8 16":               {"PL035", "PL032"},
		"vllm serve Qwen/Qwen3-8B --max-num-seqs 900 --cudagraph-capture-sizes 1 8 64":               {"PL032"},
		"trtllm-serve Qwen/Qwen3-8B --max_batch_size 900 --max_num_tokens 32768 --max_seq_len 32768": {},
	} {
		r := long
		r.Command = command
		got := []string{}
		for _, f := range linted(t, r).Findings {
			if f.Code == "PL032" || f.Code == "PL035" {
				got = append(got, f.Code)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

// TestMended: what a rule says it can correct is corrected, and then not found again.
func TestMended(t *testing.T) {
	all := cases()
	for _, rule := range lint.Rules() {
		c := all[rule.Code]
		path := ""
		if len(c.request.Files) > 0 {
			path = c.request.Files[0]
		}
		text, changed := c.broken, false
		for range 5 { // flags first, then values
			mended := c.answer(t, "", text).Mended([]launch.File{{Path: path, Data: []byte(text)}})
			if len(mended) == 0 {
				break
			}
			text, changed = string(mended[0].Data), true
		}
		switch {
		case rule.Fixed != changed:
			t.Errorf("%s: corrected to %q", rule.Code, text)
		case rule.Fixed:
			after := c.answer(t, "", text)
			if slices.ContainsFunc(after.Findings, func(f lint.Finding) bool { return f.Code == rule.Code }) {
				t.Errorf("%s: %s: %+v", rule.Code, text, after.Findings)
			}
		}
	}
}

// TestRuleTable: codes are in order and never used twice, and every text is there.
func TestRuleTable(t *testing.T) {
	last := ""
	for _, r := range lint.Rules() {
		if r.Code <= last || len(r.Code) != 5 || r.Name == "" || r.Title == "" || r.Why == "" || r.Mend == "" ||
			!slices.Contains([]lint.Severity{lint.SevereError, lint.SevereWarning, lint.SevereHint}, r.Severity) {
			t.Errorf("%+v after %s", r, last)
		}
		if r.Code >= "PL050" && r.Source == "" {
			t.Errorf("%s has no source", r.Code)
		}
		last = r.Code
		if got := lint.RuleOf(r.Code); got == nil || *got != r {
			t.Errorf("%s is %+v", r.Code, got)
		}
	}
	if lint.RuleOf("PL999") != nil {
		t.Error("PL999 is a rule")
	}
}

// TestUnreadable: what cannot be read is refused with the reason and its line.
func TestUnreadable(t *testing.T) {
	w := (&session.Session{}).Over(func(string) ([]byte, bool) { return []byte("kind: Pod\nspec: {{ .Values.x }\n"), true })
	_, err := lint.Run(t.Context(), w, lint.Request{Files: []string{"x.yaml"}})
	if err == nil || !strings.HasPrefix(err.Error(), "x.yaml: yaml: line ") {
		t.Errorf("got %v", err)
	}
	if bad := (*session.InputError)(nil); !errors.As(err, &bad) {
		t.Errorf("%v is no mistake of the caller's", err)
	}
}

// TestPorts: processes collide that run together on a host, and no others.
func TestPorts(t *testing.T) {
	const engine = "vllm serve Qwen/Qwen3-8B"
	for script, want := range map[string]bool{
		engine + " &\n" + engine:                                                     true,
		engine + " &\n" + engine + " --port 8001":                                    false,
		engine + "\n" + engine:                                                       false, // one after the other
		engine + " --port $A &\n" + engine:                                           false, // only a run tells
		"if [ -n \"$FIRST\" ]; then " + engine + " & else " + engine + " & fi":       false,
		engine + " &\npkill vllm\n" + engine:                                         false,
		engine + " --port \"${A[0]}\" &\n" + engine:                                  false,
		"ssh a " + engine + " &\n" + engine:                                          false,
		"docker run --gpus all vllm/vllm-openai:v0.24.0 " + engine + " &\n" + engine: false,
		engine + " --port 70000":                                                     true,
	} {
		r := linted(t, lint.Request{Command: script, System: "h200_sxm", Static: true})
		if got := slices.ContainsFunc(r.Findings, func(f lint.Finding) bool { return f.Code == "PL052" }); got != want {
			t.Errorf("%s: %v, want %v: %+v", script, got, want, r.Findings)
		}
	}
}
