package files

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// requestsEach is how many requests a benchmark sends for each that runs at a time:
// enough for a steady state between the first and the last wave.
const requestsEach = 10

// bench is a load like the predicted one, by aiperf (its command line of 0.13): as a
// script, and as a job in the cluster.
func (w *writer) bench() ([]launch.File, error) {
	s := newScript(w.heading("Benchmark"))
	s.add("# pip install aiperf==0.13.0")
	s.add(`URL="${1:-http://127.0.0.1:%d}"`, w.Site.Port)
	s.add("for concurrency in ${CONCURRENCY:-%s}; do", strings.Join(w.loads(), " "))
	s.add("  %s", w.aiperf("$URL").Lines("    "))
	s.add("done")

	services := w.services()
	shell := "pip install -q aiperf==0.13.0\nfor concurrency in " + strings.Join(w.loads(), " ") + "; do\n  " +
		w.aiperf(services[0]).InManifest().Line() + "\ndone\n"
	job := w.object("batch/v1", "Job", w.name+"-bench").set("spec", fields("backoffLimit", 0, "template", fields("spec", fields(
		"restartPolicy", "Never", "containers", []*mapping{fields("name", "bench", "image", routerImage,
			"command", []string{"bash", "-euc"}, "args", []string{shell})}))))
	heading := w.heading("Benchmark in the cluster")
	if len(services) > 1 {
		heading += comment("It asks Dynamo's frontend; the service of kubernetes/deploy.yaml is %s.", services[1])
	}
	data, err := encode(heading, job)
	if err != nil {
		return nil, err
	}
	return []launch.File{s.file("bench_run.sh"), {Path: "k8s_bench.yaml", Mode: plainFile, Data: data}}, nil
}

// services are the addresses that clients of the first unit talk to in a cluster: that of Dynamo's
// frontend where Dynamo runs the plan, and that of the plain objects where they are written too, or
// alone.
func (w *writer) services() []string {
	url := func(host string, port int) string { return fmt.Sprintf("http://%s:%d", host, port) }
	var out []string
	if slices.Contains(w.targets, Dynamo) && w.runsDynamo() == nil {
		out = append(out, url(frontendService(w.unitName(0)), frontendPort))
	}
	if len(out) == 0 || slices.Contains(w.targets, Kubernetes) {
		out = append(out, url(w.name, w.Site.Port))
	}
	return out
}

// loads are the concurrencies to measure: powers of two below the predicted one of
// a unit, then it.
func (w *writer) loads() []string {
	most := max(1, w.Concurrency/w.units())
	var out []int
	for n := 1; n < most; n *= 4 {
		out = append(out, n)
	}
	out = append(out, most)
	slices.Sort(out)
	var text []string
	for _, n := range out {
		text = append(text, strconv.Itoa(n))
	}
	return text
}

// aiperf is one measurement, in a loop over $concurrency. Prompts differ, so that none is
// found in a cache, except in their common prefix.
func (w *writer) aiperf(url string) launch.Command {
	concurrency := launch.Expansion("$concurrency")
	out := launch.Literals("aiperf", "profile", "--model", w.Site.ServedName, "--tokenizer", w.Site.ModelPath, "--url")
	out = append(out, launch.Expansion(url)).Add("--endpoint-type", "chat", "--streaming",
		"--synthetic-input-tokens-mean", strconv.Itoa(w.Input-w.Prefix), "--synthetic-input-tokens-stddev", "0",
		"--output-tokens-mean", strconv.Itoa(w.Output), "--output-tokens-stddev", "0",
		"--extra-inputs", "ignore_eos:true", "--concurrency")
	out = append(out, concurrency).Add("--request-count")
	out = append(out, launch.Expansion(fmt.Sprintf("$((concurrency * %d))", requestsEach))).Add("--warmup-request-count")
	out = append(out, concurrency).Add("--random-seed", "1")
	if w.Prefix > 0 {
		out = out.Add("--prompt-prefix-length", strconv.Itoa(w.Prefix), "--prompt-prefix-pool-size", "1")
	}
	return out
}
