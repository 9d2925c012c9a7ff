package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// standInSays begins what the stand-in prints, and standInAnswer is in its answers.
const standInSays, standInAnswer = "stand-in:", "from the stand-in on "

// engine is a stand-in for vLLM or SGLang: it opens the ports that the engine would, meets the other nodes of its worker, takes its devices for
// itself, and answers every request. What is wrong with its command ends it.
type engine struct {
	args          []string
	node, address string
}

// standIn runs as "vllm" or as "python3".
func standIn(name string, args []string) {
	if name == "python3" {
		switch {
		case len(args) > 1 && args[0] == "-m" && args[1] == "sglang.launch_server":
		case len(args) > 1 && args[0] == "-m" && args[1] == "sglang_router.launch_router":
			python := filepath.Join(os.Getenv("STANDIN_ROUTERS"), "bin", "python3")
			fail(syscall.Exec(python, append([]string{python}, args...), os.Environ()))
		default:
			fail(fmt.Errorf("python3 %v is not in this cluster", args))
		}
	}
	e := &engine{args: args, node: os.Getenv("SLURMD_NODENAME")}
	e.address = address(number(strings.TrimPrefix(e.node, "n")))
	sglang := name == "python3"
	fail(e.devices(sglang))
	ranks, rank, meeting := e.nodes(sglang)
	fail(e.meet(ranks, rank, meeting))
	if rank > 0 {
		time.Sleep(24 * time.Hour) // the first node answers
	}
	for _, port := range e.others(sglang) {
		fail(e.take(port))
	}
	e.say("loads for %s s", os.Getenv("STANDIN_LOAD"))
	time.Sleep(time.Duration(number(os.Getenv("STANDIN_LOAD"))) * time.Second)
	fail(e.serve(e.number("--port", map[bool]int{false: 8000, true: 30000}[sglang])))
}

// fail ends the engine with a reason.
func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
}

func (e *engine) say(format string, args ...any) {
	fmt.Println(standInSays, e.node, fmt.Sprintf(format, args...))
}

// flag is the value of a flag.
func (e *engine) flag(name string) string {
	if i := slices.Index(e.args, name); i >= 0 && i+1 < len(e.args) {
		return e.args[i+1]
	}
	return ""
}

func (e *engine) number(name string, or int) int {
	if text := e.flag(name); text != "" {
		return number(text)
	}
	return or
}

// devices takes the devices that the process may see: as many as its layout has on a node, and no other process's.
func (e *engine) devices(sglang bool) error {
	all := e.number("--tensor-parallel-size", 1) * e.number("--pipeline-parallel-size", 1)
	if !sglang || !slices.Contains(e.args, "--enable-dp-attention") {
		all *= e.number("--data-parallel-size", 1)
	}
	here, _, _ := e.nodes(sglang)
	ids := strings.Split(os.Getenv("CUDA_VISIBLE_DEVICES"), ",")
	if len(ids)*here != all {
		return fmt.Errorf("CUDA_VISIBLE_DEVICES=%s on each of %d nodes for a layout of %d devices", strings.Join(ids, ","), here, all)
	}
	for _, id := range ids {
		if number(id) >= devices {
			return fmt.Errorf("device %s of %d", id, devices)
		}
		name := filepath.Join(os.Getenv("STANDIN_FOLDER"), fmt.Sprintf("job%s-%s-device%s", os.Getenv("SLURM_JOB_ID"), e.node, id))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("device %s of %s has another process: %w", id, e.node, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// nodes are how many nodes the worker has, which this is, and where they meet.
func (e *engine) nodes(sglang bool) (ranks, rank int, meeting string) {
	switch {
	case sglang:
		return e.number("--nnodes", 1), e.number("--node-rank", 0), e.flag("--dist-init-addr")
	case e.flag("--data-parallel-address") != "":
		local := e.number("--data-parallel-size-local", 1)
		return e.number("--data-parallel-size", 1) / local, e.number("--data-parallel-start-rank", 0) / local,
			fmt.Sprintf("%s:%d", e.flag("--data-parallel-address"), e.number("--data-parallel-rpc-port", 29550))
	}
	return e.number("--nnodes", 1), e.number("--node-rank", 0), fmt.Sprintf("%s:%d", e.flag("--master-addr"), e.number("--master-port", 29501))
}

// meet waits until all nodes of the worker have come, each with its own rank.
func (e *engine) meet(ranks, rank int, meeting string) error {
	const patience = time.Minute
	if ranks == 1 {
		return nil
	}
	if rank > 0 {
		for range int(patience / time.Second) {
			c, err := net.DialTimeout("tcp", meeting, time.Second)
			if err != nil {
				time.Sleep(time.Second)
				continue
			}
			defer c.Close() //nolint:errcheck // nothing follows
			_, err = fmt.Fprintln(c, rank)
			return err
		}
		return fmt.Errorf("rank %d of %d does not reach %s", rank, ranks, meeting)
	}
	host, _, err := net.SplitHostPort(meeting)
	if err != nil {
		return err
	}
	if host != e.address {
		return fmt.Errorf("rank 0 on %s (%s) is to listen on %s", e.node, e.address, meeting)
	}
	l, err := net.Listen("tcp", meeting)
	if err != nil {
		return err
	}
	came := map[int]bool{0: true}
	until := time.Now().Add(patience)
	for len(came) < ranks {
		if err := l.(*net.TCPListener).SetDeadline(until); err != nil {
			return err
		}
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("ranks %v of %d came: %w", came, ranks, err)
		}
		var other int
		if _, err := fmt.Fscanln(c, &other); err != nil || other >= ranks || came[other] {
			return fmt.Errorf("rank %d came, after %v of %d", other, came, ranks)
		}
		came[other] = true
	}
	e.say("ranks 0 to %d meet at %s", ranks-1, meeting)
	return nil
}

// others are the ports beside that of requests: of KV exchange, of bootstrap, and those where SGLang's ranks talk over TCP.
func (e *engine) others(sglang bool) []int {
	var out []int
	if port := os.Getenv("VLLM_NIXL_SIDE_CHANNEL_PORT"); port != "" && !sglang {
		for i := range e.number("--data-parallel-size-local", e.number("--data-parallel-size", 1)) {
			out = append(out, number(port)+i)
		}
	}
	if e.flag("--disaggregation-mode") == "prefill" {
		out = append(out, e.number("--disaggregation-bootstrap-port", 8998))
	}
	if slices.Contains(e.args, "--enable-dp-attention") {
		first := e.number("--port", 30000) + 233 // server_args.py, ZMQ_TCP_PORT_DELTA
		if _, port, err := net.SplitHostPort(e.flag("--dist-init-addr")); err == nil {
			first = number(port)
		}
		for i := range 6 {
			out = append(out, first+1+i)
		}
	}
	return out
}

// take opens a port of the node until the process ends.
func (e *engine) take(port int) error {
	_, err := net.Listen("tcp", fmt.Sprintf("%s:%d", e.address, port))
	return err
}

// serve answers requests as much as the routers look at.
func (e *engine) serve(port int) error {
	model := e.flag("--served-model-name")
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			e.say("%v", err)
		}
	}
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": model, "object": "model"}}})
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"model_path": model, "served_model_name": model, "tokenizer_path": model, "is_generation": true, "max_model_len": 4096})
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			e.say("%v", err)
		}
		text := standInAnswer + e.node
		reply(w, map[string]any{
			"id": "x", "object": "chat.completion", "created": 1, "model": model,
			"choices": []any{map[string]any{
				"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "text": text, "finish_reason": "stop",
			}},
			"usage":              map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
			"kv_transfer_params": map[string]any{"remote_engine_id": "e", "remote_block_ids": []int{1}, "remote_host": e.address, "remote_port": port},
		})
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	ended := make(chan error)
	for _, host := range []string{e.address, "127.0.0.1"} { // one machine is all nodes: no two engines of a job have the same port
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, port))
		if err != nil {
			return err
		}
		go func() { ended <- server.Serve(l) }()
	}
	e.say("serves on %d", port)
	return <-ended
}
