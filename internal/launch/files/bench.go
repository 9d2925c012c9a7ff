package files

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// requestsEach is how many requests a benchmark sends for each that runs at a time:
// enough for a steady state between the first and the last wave.
const requestsEach = 10

// bench is a benchmark.
type bench struct{ objects }

// files is a load like the predicted one, by aiperf (its command line of 0.13): as a
// script, and as a job in the cluster where a target has an address there.
func (w bench) files() ([]launch.File, error) {
	s := newScript(w.heading("Benchmark"))
	s.add("# pip install aiperf==0.13.0")
	s.add(`URL="${1:-http://127.0.0.1:%d}"`, w.Site.Port)
	s.add("for concurrency in ${CONCURRENCY:-%s}; do", loads(w.Concurrency/w.units())) // the router of one unit has this port
	s.add("  %s", w.aiperf("$URL").Lines("    "))
	s.add("done")
	files := []launch.File{s.file("bench_run.sh")}

	asked := w.entranceTargets()
	if len(asked) == 0 {
		return files, nil
	}
	shell := "pip install -q --user aiperf==0.13.0\nfor concurrency in " + loads(w.Concurrency) + "; do\n  " +
		w.aiperf(w.entranceURL(asked[0])).InManifest().Line() + "\ndone\n"
	const home = "/tmp" // which any user may write
	env := []*mapping{
		tokenField(), // the tokenizer may be as closed as the model
		fields("name", "HOME", "value", home), fields("name", "PATH", "value", home+"/.local/bin:/usr/local/bin:/usr/bin:/bin"),
	}
	container := fields("name", "bench", "image", routerImage, "workingDir", home, "command", []string{"bash", "-euc"}, "args", []string{shell},
		"env", env, "resources", benchResources(), "securityContext", restricted())
	job := w.object("batch/v1", "Job", w.name+"-bench").set("spec", fields("backoffLimit", 0, "template", fields("spec", fields(
		"restartPolicy", "Never", "automountServiceAccountToken", false, "securityContext", restrictedPod(), "containers", []*mapping{container}))))
	var text strings.Builder
	text.WriteString(w.heading("Benchmark in the cluster") + comment("It asks the Service of target %s.", asked[0]))
	for _, t := range asked[1:] {
		text.WriteString(comment("That of target %s is %s.", t, w.entranceURL(t)))
	}
	data, err := encode(text.String(), job)
	if err != nil {
		return nil, err
	}
	return append(files, launch.File{Path: "k8s_bench.yaml", Mode: plainFile, Data: data}), nil
}

// benchResources are for a client in Python with the tokenizer.
func benchResources() *mapping {
	return fields("requests", fields("cpu", 2, "memory", "4Gi"), "limits", fields("memory", "16Gi"))
}

// loads are the concurrencies to measure: powers of four below the largest, then it.
func loads(most int) string {
	most = max(1, most)
	var out []string
	for n := 1; n < most; n *= 4 {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(append(out, strconv.Itoa(most)), " ")
}

// aiperf is one measurement, in a loop over $concurrency. Prompts differ, so that none is
// found in a cache, except in their common prefix.
func (w bench) aiperf(url string) launch.Command {
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
