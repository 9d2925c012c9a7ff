package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// routerModules are the Python modules that the commands of routers start.
var routerModules = map[string]string{"vllm-router": "vllm_router.launch_router", "sglang-router": "sglang_router.launch_router"}

// routerCommand is the module and the flags of the router that a container starts, also from a shell's script.
func routerCommand(container, pod object) (module string, flags []string) {
	words := shellWords(container)
	for i, word := range words {
		module = routerModules[path.Base(word)]
		if i > 0 && words[i-1] == "-m" && strings.HasSuffix(word, "_router.launch_router") {
			module = word
		}
		if module == "" || i+1 >= len(words) || !strings.HasPrefix(words[i+1], "-") {
			continue
		}
		for _, flag := range words[i+1:] {
			if flag == "&&" || flag == "&" || flag == ";" {
				break
			}
			key, value, joined := strings.Cut(flag, "=")
			if joined && strings.HasPrefix(key, "--") {
				flags = append(flags, key, expand(value, pod))
			} else {
				flags = append(flags, expand(flag, pod))
			}
		}
		return module, flags
	}
	return "", nil
}

// routers runs the real router of each router's pod, from Python packages in a folder, with the flags and the rights of the pod, in front of
// stand-ins for its engines. A request must come through, and reach an engine of each role.
func (l *lab) routers(ctx context.Context, r *result, ns string) error {
	if l.packages == "" {
		return nil
	}
	pods, err := l.list(ctx, "v1", "Pod", ns, "")
	if err != nil {
		return err
	}
	done := map[string]bool{} // one pod of each router is enough
	for _, pod := range pods {
		f := finderOf(pod)
		account := text(pod, "spec", "serviceAccountName")
		if f == nil || done[account] {
			continue
		}
		done[account] = true
		missing, err := l.realRouter(ctx, pod, f, pods)
		if err != nil {
			return err
		}
		if missing != "" {
			r.problem("the real router of %s: %s", account, missing)
			return nil
		}
	}
	if len(done) > 0 {
		r.tried = append(r.tried, "real routers")
	}
	return nil
}

func (l *lab) realRouter(ctx context.Context, pod object, f *finder, pods []object) (missing string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var module string
	var flags []string
	for _, c := range list(pod, "spec", "containers") {
		if module, flags = routerCommand(c, pod); module != "" {
			break
		}
	}
	if module == "" {
		return "its command is not known", nil
	}
	enginePort := "80" // the default of both
	if i := slices.Index(flags, "--service-discovery-port"); i >= 0 && i+1 < len(flags) {
		enginePort = flags[i+1]
	}
	hits := make([]*engines, len(f.selectors))
	for i, selector := range f.selectors {
		found, err := l.list(ctx, "v1", "Pod", f.namespace, selector)
		if err != nil {
			return "", err
		}
		hits[i] = &engines{}
		for _, engine := range found {
			if err := hits[i].serve(ctx, net.JoinHostPort(text(engine, "status", "podIP"), enginePort)); err != nil {
				return "", err
			}
		}
	}
	ports, err := freePorts(2)
	if err != nil {
		return "", err
	}
	for flag, value := range map[string]string{"--host": "127.0.0.1", "--port": ports[0], "--prometheus-port": ports[1]} {
		if i := slices.Index(flags, flag); i >= 0 && i+1 < len(flags) {
			flags[i+1] = value
		} else {
			flags = append(flags, flag, value)
		}
	}
	config, err := l.accountConfig(ctx, namespace(pod), text(pod, "spec", "serviceAccountName"))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "python3", append([]string{"-m", module}, flags...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+l.packages, "KUBECONFIG="+config)
	log, err := os.Create(filepath.Join(l.dir, name(pod)+".log"))
	if err != nil {
		return "", err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return "", err
	}
	defer func() {
		cancel()
		if e := cmd.Wait(); e != nil && e.Error() != "signal: killed" && missing == "" {
			missing = fmt.Sprintf("%v; see %s", e, log.Name())
		}
	}()
	return until(ctx, patience, func() (string, error) {
		if why := ask(ctx, "http://127.0.0.1:"+ports[0]+"/v1/chat/completions"); why != "" {
			return why, nil
		}
		for i := range hits {
			if hits[i].asked() == 0 {
				return "no engine with " + f.selectors[i] + " was asked", nil
			}
		}
		return probed(ctx, "http://127.0.0.1:"+ports[0], pod)
	})
}

// probed asks the paths of a pod's probes and says which is refused.
func probed(ctx context.Context, url string, pod object) (string, error) {
	for _, c := range list(pod, "spec", "containers") {
		for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
			path := text(c, probe, "httpGet", "path")
			if path == "" {
				continue
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
			if err != nil {
				return "", err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return probe + ": " + err.Error(), nil
			}
			if err := resp.Body.Close(); err != nil {
				return "", err
			}
			if resp.StatusCode >= http.StatusBadRequest {
				return fmt.Sprintf("%s: it answers %d for %s", probe, resp.StatusCode, path), nil
			}
		}
	}
	return "", nil
}

// ask sends a request and says what is wrong with the answer.
func ask(ctx context.Context, url string) string {
	body := []byte(`{"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 1}`)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "it does not answer"
	}
	answer, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err.Error()
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Sprintf("it answers %d: %s", resp.StatusCode, tail(answer))
	}
	return ""
}

// accountConfig writes a kubeconfig with a token of a service account.
func (l *lab) accountConfig(ctx context.Context, ns, account string) (string, error) {
	answer, _, err := l.do(ctx, http.MethodPost, "/api/v1/namespaces/"+ns+"/serviceaccounts/"+account+"/token", "application/json",
		object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": object{}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(l.dir, ns+"-"+account+".kubeconfig")
	return file, os.WriteFile(file, []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: u, user: {token: %q}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`, l.url, filepath.Join(l.dir, "ca.crt"), text(answer, "status", "token"))), 0o600)
}

// engines stand in for the engines of a role and count what they are asked to compute.
type engines struct {
	mu sync.Mutex
	n  int
}

func (e *engines) asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n
}

// ServeHTTP says what routers ask of vLLM and SGLang at their start, and answers each request with one token. A prefill worker of vLLM also says
// where the cache lies.
func (e *engines) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := object{
		"status": "ok", "model_path": "m", "served_model_name": "m", "tokenizer_path": "m", "is_generation": true, "dp_size": 1, "version": "0",
		"object": "list", "data": []object{{"id": "m", "object": "model"}},
	}
	if r.Method == http.MethodPost {
		e.mu.Lock()
		e.n++
		e.mu.Unlock()
		answer = object{
			"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
			"choices":            []object{{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": "hello"}}},
			"kv_transfer_params": object{"remote_engine_id": "e", "remote_block_ids": []int{1}, "remote_host": "127.0.0.1", "remote_port": 1},
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// serve listens on a pod's address until ctx ends.
func (e *engines) serve(ctx context.Context, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: e, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "stand-in engine:", err)
		}
	})
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "stand-in engine:", err)
		}
	}()
	return nil
}

// podAddresses makes the addresses of pods answer on this machine, or no longer; it needs the rights of root.
func podAddresses(how string) error {
	out, err := exec.Command("ip", "route", how, "local", podNetwork, "dev", "lo").CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip route: %w: %s", err, tail(out))
	}
	return nil
}
