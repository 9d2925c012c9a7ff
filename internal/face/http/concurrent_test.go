package http_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
)

// TestConcurrentClients: clients of one server have the same answers to the same requests, while others leave early. Run it
// under the race detector.
func TestConcurrentClients(t *testing.T) {
	t.Parallel()
	const tiny = `{"model":"Qwen/Qwen3-0.6B","systems":["h200_sxm"],"gpus":1,"engines":["vllm"],"modes":["agg"],"no_changes":true,` +
		`"workloads":[{"isl":1000,"osl":32}],"limits":{"ttft_ms":40,"tpot_ms":3}}`
	url := "http://" + live(t, handler(t, operation.Capacity{Searches: 4}), serve.Limits{})
	get := func(ctx context.Context, path, body string) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer func() { _ = w.Body.Close() }()
		data, err := io.ReadAll(w.Body)
		return http.StatusText(w.StatusCode) + "\n" + string(data), err
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	var wait sync.WaitGroup
	var mu sync.Mutex
	first := map[string]string{}
	for range 3 {
		for _, path := range []string{"/api/plan", "/api/report?format=md", "/api/validate"} {
			body := tiny
			if path == "/api/validate" {
				body = `{"plan":` + tiny + `}`
			}
			wait.Go(func() { _, _ = get(gone, path, body) }) // a client that leaves
			wait.Go(func() {
				got, err := get(t.Context(), path, body)
				if err != nil || !strings.HasPrefix(got, "OK\n") {
					t.Errorf("%s: %v %.200s", path, err, got)
				}
				mu.Lock()
				defer mu.Unlock()
				if before, ok := first[path]; ok && before != got {
					t.Errorf("%s: two answers to one request", path)
				}
				first[path] = got
			})
		}
	}
	wait.Wait()
}
