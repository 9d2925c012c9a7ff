package report

import (
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
)

// Recommend prints the devices that a load needs.
func Recommend(w io.Writer, r *recommend.Response, v OptimizeView) {
	stars, rule := finalHead(w)
	needed(w, r)
	fmt.Fprintln(w, rule)
	if r.At >= 0 {
		fewest(w, &r.Results[r.At])
		fmt.Fprintln(w, rule)
	}
	fmt.Fprintln(w, "  Deployment Details:")
	fmt.Fprintln(w, "    tokens/s/gpu and req/s are the capacity, load the share of it that the target uses; TTFT and TPOT are at the target")
	fmt.Fprintln(w, "    (p) is prefill, (d) is decode, bs the batch limit per data-parallel rank; total gpus = replicas * gpus/replica")
	finalBlocks(w, stars, r.Results, func(x *experiment.Result) { needBlock(w, r, x, v) })
}

// needed prints the request and the GPUs that each experiment needs.
func needed(w io.Writer, r *recommend.Response) {
	first := &r.Results[0]
	asked(w, &first.Experiment, first.Experts, "Target Load: "+r.Request.Load())
	if r.At < 0 {
		fmt.Fprintln(w, "    Best Experiment Chosen: none. NO NUMBER OF GPUS CARRIES THE TARGET WITHIN THE LIMITS.")
		violated(w, r.Results)
		return
	}
	for i := range r.Results {
		x := &r.Results[i]
		if len(x.Rows) == 0 {
			fmt.Fprintf(w, "    %s GPUs needed: cannot carry the target within the limits\n", x.Experiment.Name)
			continue
		}
		n := &x.Rows[0]
		fmt.Fprintf(w, "    %s GPUs needed: %d (replicas: %d)\n", x.Experiment.Name, n.Used, n.Copies)
	}
	fmt.Fprintf(w, "    Best Experiment Chosen: %s\n", r.Results[r.At].Experiment.Name)
}

// fewest prints the deployment that needs the fewest devices.
func fewest(w io.Writer, x *experiment.Result) {
	n := &x.Rows[0]
	e := &n.Run.Expected
	fmt.Fprintln(w, "  Overall Best Configuration:")
	fmt.Fprintf(w, "    - GPUs: %d, %s of %d\n", n.Used, units.Counted(n.Copies, "replica"), n.Used/n.Copies)
	if n.Least < n.Copies {
		fmt.Fprintf(w, "    - By the capacity of one replica, %d would be enough; simulated at the target they miss the limits\n", n.Least)
	}
	fmt.Fprintf(w, "    - Capacity: %.2f tokens/s, %.2f tokens/s/gpu, %.2f req/s, %d requests in flight\n", n.Capacity.Throughput, n.Capacity.Throughput/float64(n.Used), n.Capacity.RequestRate, n.Capacity.Concurrency)
	fmt.Fprintf(w, "    - At the target: %.0f %% of capacity, %.2f req/s, %d requests in flight, %s: %.2fms (%s), %s: %s, %s: %.2fms\n",
		100*n.Load, n.RequestRate, n.Concurrency, named("TTFT", &x.Experiment), n.TTFT.Ms(), plusMinus(e.TTFT), named("TPOT", &x.Experiment), tpotOf(n, ""),
		named("Request Latency", &x.Experiment), n.Latency.Ms())
	fmt.Fprintf(w, "    - Within the limits: %s\n", chance(n.Judged.Sure()))
	energyLine(w, n.Energy)
	fmt.Fprintf(w, "    - Intervals (80 %%): %s\n", e.Basis)
}

// needBlock prints the table of an experiment.
func needBlock(w io.Writer, r *recommend.Response, x *experiment.Result, v OptimizeView) {
	name, m := x.Experiment.Name, x.Experiment.Mode
	switch {
	case x.Failure != "":
		fmt.Fprintf(w, "\n%s: failed: %s\n", name, x.Failure)
		return
	case len(x.Rows) == 0:
		fmt.Fprintf(w, "\nNo configuration for %s carries %s within the limits.\n", name, r.Request.Load())
		return
	}
	fmt.Fprintf(w, "\n%s Top Configurations: (Ranked by total_gpus_needed)\n", name)
	t := table.New(append([]string{
		"Rank", "backend", "total_gpus", "replicas", "load", "tokens/s/gpu", "tokens/s/user", "req/s", named("TTFT", &x.Experiment), named("TPOT", &x.Experiment), "in limits", "concurrency",
	}, workersHeader(m)...)...)
	for i := range x.Rows {
		n := &x.Rows[i]
		t.Row(i+1, x.Experiment.Engine.Name, n.Used, n.Copies, fmt.Sprintf("%.0f %%", 100*n.Load),
			f2(n.PerDevice(&x.Experiment)), dash(n.User()), f2(n.RequestRate), f2(n.TTFT.Ms()), dash(n.TPOT.Ms()), chance(n.Judged.Sure()),
			fmt.Sprintf("%d (=%dx%d)", n.Concurrency, n.Concurrency/n.Copies, n.Copies), workersOf(m, n, x.Experts))
	}
	framed(w, t, 2, v)
}
