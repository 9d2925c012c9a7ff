package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// meters stand in for the metrics of the engines of a namespace. They share a load.
type meters struct {
	mu       sync.Mutex
	inFlight float64 // requests of all workers
	cache    float64 // shares of the KV cache in use, summed over workers
	silent   bool    // engines answer without metrics
	open     map[string]*http.Server
}

// carry sets the load.
func (m *meters) carry(inFlight, cache float64, silent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight, m.cache, m.silent = inFlight, cache, silent
}

// follow serves the metrics of the engine in each ready pod of a namespace, where pods come and go, until ctx ends.
func (m *meters) follow(ctx context.Context, k *kubelet, ns string, report func(error)) {
	for ctx.Err() == nil {
		pods, err := k.list(ctx, "v1", "Pod", ns, "")
		if err == nil {
			err = m.round(pods)
		}
		if err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
	if err := m.round(nil); err != nil {
		report(err)
	}
}

func (m *meters) round(pods []object) error {
	wanted := map[string]*engine{}
	for _, pod := range pods {
		if e := engineOf(pod); e != nil && ready(pod) && at(pod, "metadata", "deletionTimestamp") == nil {
			wanted[net.JoinHostPort(text(pod, "status", "podIP"), e.port)] = e
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open == nil {
		m.open = map[string]*http.Server{}
	}
	var errs []error
	for address, server := range m.open {
		if wanted[address] == nil {
			errs = append(errs, server.Close())
			delete(m.open, address)
		}
	}
	for address, e := range wanted {
		if m.open[address] != nil {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.answer(w, r, e) })}
		m.open[address] = server
		go func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				panic(err)
			}
		}()
	}
	return errors.Join(errs...)
}

// answer is the part of an engine in the load.
func (m *meters) answer(w http.ResponseWriter, r *http.Request, e *engine) {
	m.mu.Lock()
	inFlight, cache, silent, n := m.inFlight, m.cache, m.silent, float64(len(m.open))
	m.mu.Unlock()
	if r.URL.Path != "/metrics" || silent || e.gauges == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	if _, err := w.Write([]byte(e.metrics(inFlight/n, cache/n))); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// engine is what a pod's command says about the metrics of its engine.
type engine struct {
	port, model string
	gauges      []string // running and waiting requests, use of the cache; none where metrics are off
	rank        string   // label of a data-parallel rank; there is a series for each
	ranks       int
}

// Metrics of vLLM 0.10 and later (vllm/v1/metrics/loggers.py has the names), and of SGLang, which has them with --enable-metrics alone
// (sglang/srt/metrics/collector.py).
var (
	vllmGauges   = []string{"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"}
	sglangGauges = []string{"sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage"}
)

// engineOf reads the command of a pod's engine; nil where it has no server.
func engineOf(pod object) *engine {
	for _, c := range list(pod, "spec", "containers") {
		i := slices.IndexFunc(list(c, "ports"), func(p object) bool { return text(p, "name") == "http" })
		words := shellWords(c)
		if i < 0 || finderOf(pod) != nil {
			continue
		}
		e := &engine{port: strconv.Itoa(number(list(c, "ports")[i], "containerPort")), ranks: 1}
		flag := func(names ...string) string {
			for i, word := range words {
				key, value, joined := strings.Cut(word, "=")
				switch {
				case !slices.Contains(names, key):
				case joined:
					return value
				case i+1 < len(words):
					return words[i+1]
				}
			}
			return ""
		}
		ranks := ""
		switch {
		case slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == "vllm" }):
			e.gauges, e.rank, ranks = vllmGauges, "engine", flag("--data-parallel-size", "-dp")
		case slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "sglang") }):
			e.rank, ranks = "dp_rank", flag("--dp-size", "--data-parallel-size", "--dp")
			if slices.Contains(words, "--enable-metrics") {
				e.gauges = sglangGauges
			}
		default:
			continue
		}
		if n, err := strconv.Atoi(ranks); err == nil {
			e.ranks = n
		}
		e.model = flag("--served-model-name")
		return e
	}
	return nil
}

// metrics is an answer to Prometheus. A fifth of the requests waits. Each rank has its share of them, and a cache of its own.
func (e *engine) metrics(inFlight, cache float64) string {
	var b strings.Builder
	for i, value := range []float64{0.8 * inFlight / float64(e.ranks), 0.2 * inFlight / float64(e.ranks), cache} {
		fmt.Fprintf(&b, "# TYPE %s gauge\n", e.gauges[i])
		for rank := range e.ranks {
			fmt.Fprintf(&b, "%s{model_name=%q,%s=%q} %g\n", e.gauges[i], e.model, e.rank, strconv.Itoa(rank), value)
		}
	}
	return b.String()
}
