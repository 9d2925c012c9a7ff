// Load asks a running "plimsoll serve" at a constant rate, whether or not it keeps up, or as so many clients, each of which waits for its answer and asks
// again a second later, and prints what came of it: answers per second, their latencies, and the server's memory and processor time. Clients end when the time is over; what
// they then wait for is counted apart, and its time so far among the latencies, so that a slow server does not look fast.
//
//	go -C tools run ./load -url http://127.0.0.1:8080 -rate 200 -seconds 10 -ask search -again 0.8 -pid PID
//
// With -behind N it also keeps N plans asked, one after the other each, which are not counted: -ask brief -behind 62 measures how long brief requests
// wait while two searches run and sixty wait.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// options are the flags.
type options struct {
	url, ask string
	rate     float64
	seconds  float64
	again    float64
	seed     uint64
	pid      int
	clients  int
	behind   int
}

// question is a request to ask; GET if it has no body.
type question struct{ path, body string }

// answer is what came of one request.
type answer struct {
	status int
	took   time.Duration
	bytes  int64
}

// What came of requests without an answer.
const (
	failed = 0  // no connection, or none in a minute
	cut    = -1 // the time was over
)

func main() {
	var o options
	flag.StringVar(&o.url, "url", "http://127.0.0.1:8080", "the server")
	flag.StringVar(&o.ask, "ask", "search", "search (formulas), simulated (a search by simulation), plan, drag (the page's question while a slider moves), or brief (lists, validations, steps, simulations)")
	flag.Float64Var(&o.rate, "rate", 200, "requests per second")
	flag.Float64Var(&o.seconds, "seconds", 10, "how long")
	flag.Float64Var(&o.again, "again", 0.8, "share of requests that repeat one of the last hundred")
	flag.IntVar(&o.clients, "clients", 0, "instead of a rate: clients at once, each with a second between an answer and its next request, until -seconds are over")
	flag.IntVar(&o.behind, "behind", 0, "plans to keep asked beside them")
	flag.Uint64Var(&o.seed, "seed", 1, "of the requests")
	flag.IntVar(&o.pid, "pid", 0, "of the server, for its memory and processor time")
	flag.Parse()
	if err := run(&o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run asks and prints.
func run(o *options, out io.Writer) error {
	count := int(o.rate * o.seconds)
	if o.clients > 0 { // as many as they could ask of a server that answers at once
		count = o.clients * (1 + int(o.seconds))
	}
	all, err := requests(o, count)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	if o.behind > 0 {
		defer keep(client, o)()
	}
	start, worked := time.Now(), processor(o.pid)
	answers := atRate
	if o.clients > 0 {
		answers = byClients
	}
	report(out, o, answers(client, o, all), time.Since(start))
	if o.pid > 0 {
		fmt.Fprintf(out, "processor time of the server: %v\n", processor(o.pid)-worked)
	}
	return nil
}

// processor is the processor time that a process has taken; it says what a busy machine would do alone.
func processor(pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ") // its name may have spaces
	fields := strings.Fields(rest)
	const user, system, tick = 11, 12, 10 * time.Millisecond // proc(5), after the name; Linux counts in hundredths
	if len(fields) <= system {
		return 0
	}
	var out time.Duration
	for _, f := range fields[user : system+1] {
		n, _ := strconv.Atoi(f) // 0 if it is no number
		out += time.Duration(n) * tick
	}
	return out
}

// atRate asks at a constant rate and waits for all answers.
func atRate(client *http.Client, o *options, all []question) []answer {
	answers := make([]answer, len(all))
	var wait sync.WaitGroup
	start := time.Now()
	for i, q := range all {
		due := start.Add(time.Duration(float64(i) / o.rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		wait.Go(func() { answers[i] = ask(context.Background(), client, o, q, due) })
	}
	wait.Wait()
	return answers
}

// byClients asks as clients do, until the time is over. They begin one after the other in the first second.
func byClients(client *http.Client, o *options, all []question) []answer {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(o.seconds*float64(time.Second)))
	defer cancel()
	of := make([][]answer, o.clients)
	var wait sync.WaitGroup
	for c := range o.clients {
		wait.Go(func() {
			pause := time.Duration(c) * time.Second / time.Duration(o.clients)
			for i := c; i < len(all); i += o.clients {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					return
				}
				of[c] = append(of[c], ask(ctx, client, o, all[i], time.Now()))
				pause = time.Second
			}
		})
	}
	wait.Wait()
	return slices.Concat(of...)
}

// requests are what people drag sliders to: many that differ a little, and some again.
func requests(o *options, count int) ([]question, error) {
	random := rand.New(rand.NewPCG(o.seed, 1))
	var all []question
	for i := range count {
		if n := len(all); n > 0 && random.Float64() < o.again {
			all = append(all, all[n-1-random.IntN(min(n, 100))])
			continue
		}
		input, output, tpot := 500+10*random.IntN(400), 100+10*random.IntN(150), 10+random.IntN(60)
		switch o.ask {
		case "search", "simulated":
			device := map[string]string{"search": "TEST_DEVICE", "simulated": "h200_sxm"}[o.ask]
			all = append(all, question{"/api/optimize", fmt.Sprintf(`{"model":"Qwen/Qwen3-32B","devices":[%q],"num_devices":8,"input_length":%d,"output_length":%d,"limits":{"tpot_ms":%d}}`,
				device, input, output, tpot)})
		case "plan", "drag":
			path := map[string]string{"plan": "/api/plan", "drag": "/api/report?format=html"}[o.ask]
			all = append(all, question{path, fmt.Sprintf(`{"model":"Qwen/Qwen3-32B","systems":["h200_sxm"],"gpus":8,"workloads":[{"isl":%d,"osl":%d}],"limits":{"ttft_ms":1000,"tpot_ms":%d},"no_changes":true}`,
				input, output, tpot)})
		case "brief":
			all = append(all, brief(i, input, output))
		default:
			return nil, fmt.Errorf("-ask must be search, simulated, plan, drag or brief, got %q", o.ask)
		}
	}
	return all, nil
}

// brief is a request that takes a server some milliseconds, a kind after the other.
func brief(i, input, output int) question {
	const deployment = `"deployment":{"model":"Qwen/Qwen3-32B","system":"h200_sxm","engine":{"name":"vllm"},"pools":[{"layout":{"tp":4,"devices":4}}]}`
	all := []question{
		{"/api/validate", fmt.Sprintf(`{"plan":{"model":"Qwen/Qwen3-32B","systems":["h200_sxm"],"workloads":[{"isl":%d,"osl":%d}]}}`, input, output)},
		{"/api/simulate", fmt.Sprintf(`{%s,"input_length":%d,"output_length":%d,"concurrency":16}`, deployment, input, output)},
		{"/api/models?q=qwen3&limit=5", ""},
		{"/api/step", fmt.Sprintf(`{%s,"num_queries":32,"context_length":%d,"decode":true}`, deployment, input)},
		{"/api/simulate", fmt.Sprintf(`{%s,"input_length":%d,"output_length":%d,"rate":2}`, deployment, input, output)},
		{"/api/devices?limit=5", ""},
		{"/api/lint", fmt.Sprintf(`{"command":"vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4 --max-model-len %d","device":"h200_sxm","static":true}`, input+output)},
		{"/api/support", `{"model":"Qwen/Qwen3-32B","systems":["h200_sxm"]}`},
		{"/api/openapi.json", ""},
		{"/api/optimize", fmt.Sprintf(`{"model":"Qwen/Qwen3-32B","devices":["TEST_DEVICE"],"num_devices":8,"input_length":%d,"output_length":%d}`, input, output)},
	}
	return all[i%len(all)]
}

// keep keeps plans asked that take seconds each, until end is called.
func keep(client *http.Client, o *options) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for c := range o.behind {
		wait.Go(func() {
			for i := c; ctx.Err() == nil; i += o.behind {
				const plan = `{"model":"Qwen/Qwen3-32B","systems":["h200_sxm","b200_sxm","mi300x"],"gpus":64,"workloads":[{"isl":%d,"osl":512}],"limits":{"tpot_ms":30}}`
				ask(ctx, client, o, question{"/api/plan", fmt.Sprintf(plan, 1000+i)}, time.Now())
			}
		})
	}
	time.Sleep(time.Second) // until they run
	return func() {
		cancel()
		wait.Wait()
	}
}

// ask sends one request. Its time counts from when it was due.
func ask(ctx context.Context, client *http.Client, o *options, q question, due time.Time) answer {
	method := http.MethodPost
	if q.body == "" {
		method = http.MethodGet
	}
	asked, err := http.NewRequestWithContext(ctx, method, o.url+q.path, strings.NewReader(q.body))
	if err != nil {
		return answer{status: failed}
	}
	asked.Header.Set("Content-Type", "application/json")
	r, err := client.Do(asked)
	n := int64(0)
	if err == nil {
		n, err = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return answer{status: cut, took: time.Since(due)}
	case err != nil:
		return answer{status: failed, took: time.Since(due)}
	}
	return answer{r.StatusCode, time.Since(due), n}
}

// report prints the figures.
func report(out io.Writer, o *options, answers []answer, took time.Duration) {
	var times []time.Duration // of answers, and of those that did not come
	status := map[int]int{}
	bytes := int64(0)
	for _, a := range answers {
		status[a.status]++
		if a.status == http.StatusOK || a.status <= failed {
			times, bytes = append(times, a.took), bytes+a.bytes
		}
	}
	answered, left, lost := status[http.StatusOK], status[cut], status[failed]
	delete(status, cut)
	delete(status, failed)
	slices.Sort(times)
	at := func(share float64) time.Duration {
		if len(times) == 0 {
			return 0
		}
		return times[int(share*float64(len(times)-1))].Round(100 * time.Microsecond)
	}
	how := fmt.Sprintf("at %g/s", o.rate)
	if o.clients > 0 {
		how = fmt.Sprintf("of %d clients", o.clients)
	}
	fmt.Fprintf(out, "%s %s, %g repeated: %.1f answers/s, p50 %v, p95 %v, p99 %v, longest %v, %d kB each; by status %v, %d failed or past a minute, %d still waiting\n", o.ask, how, o.again,
		float64(answered)/took.Seconds(), at(0.5), at(0.95), at(0.99), at(1), bytes/int64(max(1, answered))/1000, status, lost, left)
	if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.pid)); err == nil {
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "VmHWM") || strings.HasPrefix(line, "VmRSS") {
				fmt.Fprint(out, line)
			}
		}
	}
}
