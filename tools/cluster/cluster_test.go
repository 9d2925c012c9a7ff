package main

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, text string) []object {
	t.Helper()
	objects, err := decodeObjects(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func TestFinderReadsFlagsOfRouters(t *testing.T) {
	for _, c := range []struct {
		what, container, namespace string
		selectors                  []string
	}{
		{
			"a script, all namespaces", `{command: [bash, -c], args: ["pip install -q r && exec vllm-router --service-discovery --prefill-selector serves=p --decode-selector serves=d"]}`,
			"",
			[]string{"serves=p", "serves=d"},
		},
		{"words, two labels", `{command: [sglang-router, --service-discovery, --selector, app=a, unit=0, --port, "8000"]}`, "", []string{"app=a,unit=0"}},
		{"a namespace", `{command: [vllm-router], args: [--service-discovery, --service-discovery-namespace=ml, --selector=app=a]}`, "ml", []string{"app=a"}},
		{"its own namespace", `{command: [vllm-router], args: [--service-discovery, --service-discovery-namespace, $(POD_NAMESPACE), --selector, app=a],
			env: [{name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]}`, "here", []string{"app=a"}},
	} {
		pod := read(t, "metadata: {namespace: here}\nspec: {containers: ["+c.container+"]}")[0]
		f := finderOf(pod)
		if f == nil || f.namespace != c.namespace || !slices.Equal(f.selectors, c.selectors) {
			t.Errorf("%s: %+v", c.what, f)
		}
	}
	if f := finderOf(read(t, "spec: {containers: [{command: [vllm, serve, M, --port, '8000']}]}")[0]); f != nil {
		t.Errorf("an engine finds %+v", f)
	}
}

func TestDevicesOfWorkloads(t *testing.T) {
	objects := read(t, `
kind: Deployment
spec: {replicas: 3, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}}
---
kind: LeaderWorkerSet
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}
    workerTemplate: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}
---
kind: LeaderWorkerSet
spec: {leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: "4"}}}]}}}}
---
kind: Deployment
spec: {template: {spec: {containers: [{}]}}}
`)
	if n := devices(objects, "nvidia.com/gpu"); n != 3*2+2*3*8+2*4 {
		t.Errorf("%d devices", n)
	}
	free := 0
	for _, n := range nodesFor("h200_sxm", 20) {
		if n.labels["product"] == "h200_sxm" {
			free += n.devices
		}
	}
	if free != 20 {
		t.Errorf("nodes for 20 devices have %d", free)
	}
}

func TestSystemsOfPlansHaveNodes(t *testing.T) {
	for _, p := range plans {
		if kinds[p.system].devices == 0 {
			t.Errorf("%s: no nodes of %s", p.name, p.system)
		}
	}
}

func TestOwnModules(t *testing.T) {
	dir := t.TempDir()
	mod := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(mod, []byte(`module k8s.io/kubernetes
go 1.26
replace (
	k8s.io/api => ./staging/src/k8s.io/api
	go.etcd.io/etcd => ../FORBIDDEN
	example.org/x => example.org/y v1.0.0
)
`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownModules(dir, "v0.36.3"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"k8s.io/api => k8s.io/api v0.36.3", "example.org/x => example.org/y v1.0.0"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if err := ownModules(dir, "v3.6.8"); err != nil { // nothing is left to replace
		t.Error(err)
	}
}

func TestReportCountsResultsWithProblems(t *testing.T) {
	good := &result{target: "kubernetes", plan: "a", objects: 3, accepted: true, started: 4 * time.Second, tried: []string{"scaled"}}
	bad := &result{target: "kubernetes", plan: "b", objects: 3, accepted: true}
	bad.problem("event %s", "FailedCreate")
	bad.problem("event %s", "FailedCreate")
	var out strings.Builder
	wrong, err := report(&out, []*result{good, bad})
	if err != nil || wrong != 1 {
		t.Errorf("%d wrong, %v", wrong, err)
	}
	if n := strings.Count(out.String(), "FailedCreate"); n != 1 || !strings.Contains(out.String(), "4 s") {
		t.Errorf("report is\n%s", out.String())
	}
}

func TestEnginesShareALoad(t *testing.T) {
	engine := func(command string) *engine {
		return engineOf(read(t, "spec: {containers: [{ports: [{name: http, containerPort: 8000}], command: "+command+"}]}")[0])
	}
	e := engine("[vllm, serve, org/M, --served-model-name, m, --data-parallel-size, '2']")
	if e == nil || e.port != "8000" {
		t.Fatalf("vLLM: %+v", e)
	}
	got := e.metrics(100, 0.5)
	for _, want := range []string{
		`vllm:num_requests_running{model_name="m",engine="1"} 40`, `vllm:num_requests_waiting{model_name="m",engine="0"} 10`,
		`vllm:kv_cache_usage_perc{model_name="m",engine="0"} 0.5`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if e := engine("[bash, -c, 'exec python3 -m sglang.launch_server --served-model-name=m']"); e == nil || e.gauges != nil {
		t.Errorf("SGLang has metrics without its flag: %+v", e)
	}
	if e := engine("[python3, -m, sglang.launch_server, --enable-metrics]"); e == nil || e.gauges == nil {
		t.Errorf("SGLang has none with it: %+v", e)
	}
	if e := engine("[vllm-router, --service-discovery, --selector, a=b]"); e != nil {
		t.Errorf("a router is an engine: %+v", e)
	}
}

func TestPhasesTryEachTriggerAlone(t *testing.T) {
	var got []string
	for _, p := range phases(1, 8, 6, []string{"in-flight", "kv-cache"}) {
		got = append(got, fmt.Sprintf("%d %d %t %t: %d", p.inFlight, p.cache, p.silent, p.paused, p.then))
	}
	want := []string{
		"0 0 false false: 1", "5 0 false false: 5", "8 0 false false: 8", "0 0 false false: 1", "0 8 false false: 8", "0 0 false false: 1",
		"0 0 true false: 6", "0 0 false false: 1", "0 0 false true: 6",
	}
	if !slices.Equal(got, want) {
		t.Errorf("phases are %q", got)
	}
	if n := len(phases(1, 2, 2, []string{"in-flight"})); n != 6 {
		t.Errorf("%d phases of two workers by one trigger", n)
	}
}

func TestCertificatesOfAnAuthority(t *testing.T) {
	a, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := a.issue("server", "server", "group")
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(a.dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatal("ca.crt is no certificate")
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{DNSName: "127.0.0.1", Roots: pool}); err != nil {
		t.Error(err)
	}
}

func TestRouterCommand(t *testing.T) {
	pod := read(t, `
metadata: {namespace: here}
spec:
  containers:
    - command: [bash, -c]
      args: ['pip install -q vllm-router==0.1.16 && exec vllm-router --service-discovery --service-discovery-namespace "${NS}" --port=8000']
      env: [{name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]
`)[0]
	module, flags := routerCommand(list(pod, "spec", "containers")[0], pod)
	if module != "vllm_router.launch_router" || !slices.Equal(flags, []string{"--service-discovery", "--service-discovery-namespace", "here", "--port", "8000"}) {
		t.Errorf("%s %q", module, flags)
	}
}

func TestWithoutDomains(t *testing.T) {
	objects, left := withoutDomains(read(t, `
kind: ComputeDomain
---
kind: Deployment
spec: {template: {spec: {resourceClaims: [{name: domain}], containers: [{resources: {claims: [{name: domain}], limits: {nvidia.com/gpu: 4}}}]}}}
`))
	if left != 1 || len(objects) != 1 {
		t.Fatalf("%d left out of %d", left, len(objects))
	}
	pod := at(objects[0], "spec", "template")
	if at(pod, "spec", "resourceClaims") != nil || at(list(pod, "spec", "containers")[0], "resources", "claims") != nil {
		t.Errorf("claims stay: %v", pod)
	}
	if devices(objects, "nvidia.com/gpu") != 4 {
		t.Error("devices do not stay")
	}
}
